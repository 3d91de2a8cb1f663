/** Say which vectors the client in another language does not meet, by the steps of docs/another-client.md. */
import { readFileSync } from "node:fs";
import * as client from "./another_client.mjs";

const missed = [];
const same = (name, found, wanted) => JSON.stringify(found) === JSON.stringify(wanted) || missed.push(name);
const attempt = (work) => {
  try {
    return work();
  } catch {
    return null;
  }
};
const encode = (text) => new TextEncoder().encode(text);
const bytesOf = (digits) => Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));

for (const file of ["simple", "full"]) {
  const vectors = JSON.parse(readFileSync(`${file}.json`, "utf8"));
  const { studies, bad, draws, within = [], positions = [], without = [], outside = [], deliveries = [], profiles = [] } = vectors;
  for (const [low, high, value, , nearest] of positions) {
    const found = client.nearest({ low, high }, value);
    const equal = found && nearest ? found[0] * BigInt(nearest[1]) === found[1] * BigInt(nearest[0]) : found === nearest;
    same(`1 positions ${low} ${high} ${value}`, equal, true);
  }
  studies.forEach(({ text, canonical, digest }, i) => {
    same(`2 studies[${i}] canonical`, client.canonical(JSON.parse(text)), canonical);
    same(`2 studies[${i}] digest`, client.digestOf(canonical), digest);
  });
  for (const [high, low, epsilon, wanted] of within) {
    same(`3 within ${high} ${low} ${epsilon}`, client.within(BigInt(high), BigInt(low), epsilon), wanted);
  }
  const read = studies.map(({ canonical, digest }) => attempt(() => client.read(encode(canonical), digest)));
  read.forEach((study, i) => study || missed.push(`4 ${file} studies[${i}] is not read`));
  for (const { replace, hex, field = "" } of bad) {
    const text = replace && (replace[0] === "*" ? replace[1] : vectors.base.replace(replace[0], () => replace[1]));
    const bytes = replace ? encode(text) : bytesOf(hex);
    if (attempt(() => client.read(bytes, client.digestOf(bytes)))) missed.push(`4 ${file} bad ${field}`);
  }
  for (const { study, question, table, group, value, values = [value], bits, symbol } of [...draws, ...without, ...outside]) {
    if (!read[study]) continue;
    const [asked, given] = [read[study].tables[table ?? question], bits.map(BigInt)];
    const places = asked.metrics.map((metric, i) => client.nearest(metric, values[i]));
    same(`5 draw ${study} ${group} ${values}`, [client.draw(asked, group, places, () => given.shift()), given.length], [symbol, 0]);
  }
  for (const { study, profile, bits, symbol } of profiles) {
    const given = bits.map(BigInt);
    const found = attempt(() => client.symbolFor(read[study], profile, () => given.shift()));
    same(`5 profile ${JSON.stringify(profile)}`, [found, given.length], [symbol, 0]);
  }
  for (const { study, profile } of vectors.refusals ?? []) {
    if (attempt(() => client.symbolFor(read[study], profile)) !== null) missed.push(`4 refusals ${study}`);
  }
  for (const { answer, bytes } of vectors.answers ?? []) same("6 answer", client.canonical(answer), bytes);
  for (const [status, body, became] of deliveries) same(`7 delivery ${status}`, client.became(status, body), became);
}
console.log(JSON.stringify(missed));
