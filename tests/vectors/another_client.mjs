/**
 * A device's client in another language: Node's standard library alone, step by step as docs/another-client.md says.
 *
 *   node another_client.mjs https://collector.example DIGEST FOLDER < profile.json
 */
import { createHash, randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, readdirSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

const [ROW, UNIT, HUGE, ONE] = [1n << 53n, 1n << 30n, 10n ** 400n, 10n ** 120n];
const FIELDS = {
  study: "admission aim attributes closes contact format hourly language metrics model operator opens order planned purpose retention stratum tables title translations",
  table: "abstain attribute design epsilon questions table",
  question: "abstaining expect levels metric spread target weight",
};
const PLAIN = /^-?(0|[1-9]\d*)(\.\d{1,30})?$/; // how documents write decimals; -0 is not among them
const isPlain = (text) => typeof text === "string" && PLAIN.test(text) && !/^-[0.]*$/.test(text);
const isMoment = (text) => /^\d{4}(-\d\d){2}T(\d\d:){2}\d\dZ$/.test(text) && new Date(text).toISOString().startsWith(text.slice(0, -1));
const refuse = (why) => { throw new Error(why); };
const known = (kind, object) => Object.keys(object).forEach((name) => FIELDS[kind].split(" ").includes(name) || refuse(`${name}: not known`));

// 1. Numbers, exactly: a value as [numerator, denominator], or null for what is none.
export function exact(given) {
  const match = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,18}))?$/i.exec(["string", "number"].includes(typeof given) ? `${given}`.trim() : "-");
  if (!match || match[0].length > 400 || !(match[2] + match[3])) return null;
  const [digits, power] = [(match[2] + match[3]).replace(/^0+/, ""), Number(match[4] ?? 0) - match[3].length];
  if (!digits) return [0n, 1n];
  if (Math.abs(digits.length - 1 + power) > 400) return null;
  const [n, d] = [BigInt(digits) * 10n ** BigInt(Math.max(power, 0)), 10n ** BigInt(Math.max(-power, 0))];
  return n <= HUGE * d && d <= HUGE * n ? [match[1] === "-" ? -n : n, d] : null;
}
export function nearest({ low, high }, value) {
  const [[a, b], [c, d], given] = [exact(low), exact(high), exact(value)];
  if (!given) return null;
  const place = [UNIT * (2n * given[0] * b * d - (a * d + c * b) * given[1]), given[1] * (c * b - a * d)]; // v * 2^30
  return place[0] < -UNIT * place[1] ? [-UNIT, 1n] : place[0] > UNIT * place[1] ? [UNIT, 1n] : place;
}

// 2. Canonical bytes, and the digest that is the study's name.
export const canonical = (v) => Array.isArray(v) ? `[${v.map(canonical)}]`
  : v && typeof v === "object" ? `{${Object.keys(v).sort().map((name) => `${JSON.stringify(name)}:${canonical(v[name])}`)}}` : JSON.stringify(v);
export const digestOf = (text) => createHash("sha256").update(text).digest("hex");

// 3. The exact loss: is high / low at most e^epsilon?  e^epsilon is rounded down, so that it is not true by mistake.
export function within(high, low, epsilon) {
  const [n, d] = exact(epsilon);
  if (low > 0n && n >= 37n * d) return true; // 2^53 is below e^37
  let [term, power, k] = [ONE, ONE, 1n];
  for (const x = (ONE * n) / d / 1024n; term > 0n; k += 1n) power += term = (term * x) / (ONE * k);
  for (let doublings = 0; doublings < 10; doublings += 1) power = (power * power) / ONE;
  return low > 0n && high * ONE <= low * power;
}

// 4. Read the study, and refuse what one must.  Only canonical bytes are read: nothing in them can be taken in two ways.
export function read(bytes, digest) {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  const document = JSON.parse(text);
  if (canonical(document) !== text || digestOf(text) !== digest) refuse("not the bytes of this study");
  known("study", document);
  if (document.format !== 1 || !["open", undefined].includes(document.admission)) refuse("for other clients than this");
  if (![document.opens, document.closes].every((moment) => moment === undefined || isMoment(moment))) refuse("moments");
  const asked = document.tables.flatMap(({ attribute, questions }) => questions.map(({ metric }) => canonical([attribute, metric])));
  if (!asked.length || asked.length > 64 || new Set(asked).size !== asked.length) refuse("questions");
  let offset = 0;
  const tables = document.tables.map((table) => {
    known("table", table);
    table.questions.forEach((question) => known("question", question));
    const find = (list, name) => list.filter((one) => one.name === name)[0] ?? refuse(`${name}: not listed`);
    const { cross, ...only } = find(document.attributes, table.attribute);
    const [factors, rows] = [cross ?? [only], table.table.map((row) => row.map((cell) => (Number.isSafeInteger(cell) ? BigInt(cell) : refuse("cell"))))];
    for (const { groups } of factors) {
      if (!groups.every((name) => name && typeof name === "string") || new Set(groups).size !== groups.length) refuse("groups");
    }
    const metrics = table.questions.map(({ metric, levels }) => ({ ...find(document.metrics, metric), levels: levels.map(BigInt) }));
    for (const { low, high, levels: l } of metrics) {
      if (l[0] !== -UNIT || l.at(-1) !== UNIT || l.some((level, i) => i && level <= l[i - 1])) refuse("levels");
      const [[a, b], [c, d]] = [low, high].map((end) => (isPlain(end) ? exact(end) : refuse("range")));
      if (a * d >= c * b) refuse("range");
    }
    const size = [...factors.map(({ groups }) => groups), ...metrics.map(({ levels }) => levels)].reduce((n, { length }) => n * length, 1);
    const sound = (row) => row.length === rows[0].length && row.every((cell) => cell >= 0n) && row.reduce((a, b) => a + b) === ROW;
    if (typeof table.abstain !== "boolean" || rows.length !== size + table.abstain || rows[0].length < 2 || !rows.every(sound)) refuse("table");
    if (!isPlain(table.epsilon)) refuse("epsilon");
    const [most, least] = [(a, b) => (a > b ? a : b), (a, b) => (a < b ? a : b)];
    const column = (j, pick) => rows.map((row) => row[j]).reduce(pick);
    if (!rows[0].every((_, j) => within(column(j, most), column(j, least), table.epsilon))) refuse("it spends more than it says");
    return { factors, metrics, rows, abstain: table.abstain, epsilon: Number(table.epsilon), offset: (offset += rows[0].length) - rows[0].length };
  });
  return { digest, tables, opens: document.opens ?? "", closes: document.closes ?? "9" };
}

// 5. Draw.  Everybody takes the same draws in the same order, whatever they have or lack.
export const secure = (count) => BigInt(`0x${randomBytes(8).toString("hex")}`) >> BigInt(64 - count);
export function draw({ rows, metrics, abstain }, cell, places, bits = secure) {
  const [lacks, drawn] = [cell === null || places.includes(null), metrics.map(() => bits(53))];
  const row = metrics.reduce((before, { levels }, i) => {
    const [n, d] = lacks ? [-UNIT, 1n] : places[i];
    const above = levels.findIndex((level, k) => level * d > n || k === levels.length - 1);
    const [low, high] = [levels[above - 1], levels[above]];
    return before * levels.length + above - Number(drawn[i] >= (ROW * (n - low * d)) / ((high - low) * d));
  }, cell ?? 0);
  const without = abstain ? rows.length - 1 : Number((drawn[0] * BigInt(rows.length)) / ROW);
  let [sum, last] = [0n, bits(53)];
  return rows[lacks ? without : row].findIndex((weight) => (sum += weight) > last);
}
export function symbolFor({ tables }, profile, bits = secure) {
  const { group, values, ...more } = profile;
  if (Object.keys(more).length || (values ?? {}).constructor !== Object) refuse("a profile has two parts, group and values");
  const names = [...new Set(tables.flatMap(({ factors }) => factors.map(({ name }) => name)))];
  const groups = group && typeof group === "object" ? group : names.length === 1 ? { [names[0]]: group } : {};
  const inputs = tables.map(({ factors, metrics }) => {
    const found = factors.map((factor) => factor.groups.indexOf(groups[factor.name]));
    const cell = factors.reduce((before, factor, i) => before * factor.groups.length + found[i], 0);
    return [found.includes(-1) ? null : cell, metrics.map((metric) => nearest(metric, values?.[metric.name]))];
  });
  let picked = tables.length; // a coin of as many bits as that number has, thrown again where it is too large
  while (picked >= tables.length) picked = Number(bits(tables.length.toString(2).length));
  return tables[picked].offset + draw(tables[picked], ...inputs[picked], bits);
}

// 6. Remember before anything leaves: one answer for each study, at most epsilon 4 for one and 8 for all.
export function answer(study, profile, folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${study.digest}.json`);
  const kept = () => JSON.parse(readFileSync(file, "utf8")).answer;
  if (existsSync(file)) return kept();
  const now = new Date().toISOString();
  if (now < study.opens || now >= study.closes) refuse("the study is not open");
  const spent = readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => JSON.parse(readFileSync(join(folder, name))).epsilon);
  const epsilon = Math.max(...study.tables.map((table) => table.epsilon));
  if (epsilon > 4 || spent.reduce((a, b) => a + b, epsilon) > 8) refuse("it costs too much");
  const drawn = canonical({ study: study.digest, id: randomBytes(16).toString("hex"), symbol: symbolFor(study, profile) });
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  const descriptor = openSync(draft, "wx", 0o600);
  writeSync(descriptor, JSON.stringify({ answer: drawn, epsilon }));
  fsyncSync(descriptor);
  closeSync(descriptor);
  try { linkSync(draft, file); } catch (error) { if (error.code !== "EEXIST") throw error; } // another was first
  unlinkSync(draft);
  const directory = openSync(folder, "r");
  fsyncSync(directory);
  return kept();
}

// 7. Send the same bytes until the collector has them: "delivered", "refused" or "again".
export function became(status, body) {
  try {
    if ([200, 201, 202].includes(status) && ["accepted", "duplicate"].includes(JSON.parse(body).status)) return "delivered";
  } catch { /* a page of a hotel's network */ }
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status) ? "refused" : "again";
}
async function ask(address, options) {
  const reply = await fetch(address, { redirect: "manual", ...options });
  const parts = [];
  let size = 0;
  for await (const part of reply.body ?? []) {
    if ((size += part.length) > 8 * 2 ** 20) refuse("too long");
    parts.push(part);
  }
  return [reply.status, Buffer.concat(parts), reply.headers];
}
export async function send(collector, digest, body) {
  const asked = { method: "POST", body, headers: { "content-type": "application/json" } };
  const reply = await ask(`${collector}/studies/${digest}/answers`, asked).catch(() => null);
  return reply ? became(reply[0], reply[1].toString()) : "again";
}

if (process.argv.length === 5) {
  const [collector, digest, folder] = process.argv.slice(2);
  const [, bytes, headers] = await ask(`${collector}/studies/${digest}`);
  const study = read(bytes, digest);
  if (!existsSync(join(folder, `${digest}.json`))) { // nothing is drawn that the collector would refuse
    if ((headers.get("fairgauge-admission") ?? "open") !== "open") refuse("it wants a ticket");
    if (JSON.parse((await ask(`${collector}/studies/${digest}/status`))[1]).status !== "open") refuse("it takes no answers");
  }
  const drawn = answer(study, JSON.parse(readFileSync(0, "utf8")), folder);
  console.log(await send(collector, digest, drawn)); // if it says "again", run it again: the answer stays the same
}
