/**
 * fairgauge-inclusion.js: is my answer in?  A proof that a sealed study counted an answer, checked in a browser.
 *
 *   import { askIncluded } from "./fairgauge-inclusion.js";
 *   const { answers, root, others } = await askIncluded(study, answer, "https://collector.example");
 *
 * It is the twin of fairgauge.client.inclusion_proof in Python.  The collector is asked for a bucket of some hundred answers by
 * the first bits of the answer's id, so it does not learn which of them is meant.  How many bits those are is not for the
 * collector to decide: it could say a number of answers so large that a bucket is one answer.
 *
 * Apache-2.0.  No dependencies but fairgauge-client.js beside it.
 */
import { CannotSend, FairgaugeError, answerBytes } from "./fairgauge-client.js";

const BUCKET = 256n;
const ID_BITS = 128n;
const MOST_BUCKETS = 64;

/** The answer is not in, or the proof does not lead to its root. */
export class SealBroken extends FairgaugeError {}

/** There is nothing to prove from: the study is not sealed yet, or its answers were removed. */
export class NotSealed extends CannotSend {}

/** Return how many first bits of an id name its bucket, given how many answers were sealed. */
export const depthOf = (answers) => (BigInt(answers) / BUCKET || 1n).toString(2).length - 1;

/** Return the number of the bucket that an id is in. */
export const bucketOf = (id, depth) => Number(BigInt(`0x${id}`) >> (ID_BITS - BigInt(depth)));

/**
 * Check that an answer is among those that were sealed.
 *
 * @param answer { study, id, symbol }, as the ledger remembers it.
 * @param proof What the collector sent: { study, answers, root, bucket, leaves, path }.
 */
export async function checkIncluded(answer, { study, answers, root, bucket, leaves, path }) {
  if (!Number.isSafeInteger(answers) || answers < 1 || ![leaves, path, [root]].every(areHashes)) {
    throw new SealBroken("the collector sent no proof");
  }
  const depth = depthOf(answers);
  if (study !== answer.study || path.length !== depth || bucket !== bucketOf(answer.id, depth)) {
    throw new SealBroken("the proof is about another answer than the one that this browser remembers");
  }
  if (!leaves.includes(hexadecimal(await hash(0, answerBytes(answer))))) {
    throw new SealBroken("the answer is not among those that were sealed");
  }
  let node = await hash(1, ...[...leaves].sort().map(bytes));
  let place = bucket;
  for (const sibling of path.map(bytes)) {
    node = place % 2 ? await hash(2, sibling, node) : await hash(2, node, sibling);
    place = Math.floor(place / 2);
  }
  if (hexadecimal(node) !== root) throw new SealBroken("the proof does not lead to its root");
}

/** Return the buckets to ask a collector for that says how many answers there are, when so many are known of. */
export function bucketsToAsk(id, answers, known) {
  const depth = depthOf(answers);
  const told = Math.min(depth, depthOf(known));
  const count = 2 ** (depth - told);
  if (count > MOST_BUCKETS) throw new SealBroken("the collector says too large a number of answers");
  return Array.from({ length: count }, (_, at) => bucketOf(id, told) * count + at);
}

/**
 * Ask a collector for a proof, check it, and return { answers, root, others }: among how many others one was asked for.
 *
 * @param study The study, whose release says how many answers there are at least: that is not the collector's to say.
 * @param answer { study, id, symbol }, as the ledger remembers it.
 * @param url The collector's address.
 * @param straight Whether to ask though the answer itself went through a relay: the person must be told so.
 */
export async function askIncluded(study, answer, url, { straight = false } = {}) {
  if (study.gateway && !straight) {
    const text = "the study has answers sent through a relay, and this would show your address beside some hundred";
    throw new CannotSend(text, ["relay", {}]);
  }
  const known = study.release.batch;
  const address = new URL(`studies/${answer.study}/inclusion`, url.endsWith("/") ? url : `${url}/`);
  const { answers } = await read(address);
  if (!Number.isSafeInteger(answers) || answers < 0) throw new SealBroken("the collector sent no proof");
  const own = bucketOf(answer.id, depthOf(answers));
  let proof;
  let asked = 0;
  for (const bucket of bucketsToAsk(answer.id, answers, known)) {
    address.searchParams.set("bucket", bucket);
    const found = await read(address);
    asked += found?.leaves?.length ?? 0;
    if (bucket === own) proof = found;
  }
  await checkIncluded(answer, proof); // after all were asked for: where we stop must not tell which one it is
  return { answers: proof.answers, root: proof.root, others: asked - 1 };
}

async function read(address) {
  const discreet = { credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" };
  const away = new CannotSend(`${address.origin} does not answer`, ["no-answer", { place: address.origin }]);
  const response = await fetch(address, { ...discreet, headers: { Accept: "application/json" } }).catch(() => {
    throw away;
  });
  if (response.status === 404 || response.status === 410) throw new NotSealed("there is no seal to prove from");
  if (!response.ok) throw away;
  return response.json().catch(() => {
    throw new SealBroken("the collector sent no proof");
  });
}

const areHashes = (texts) => Array.isArray(texts) && texts.every((text) => /^[0-9a-f]{64}$/.test(text));
const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => Number.parseInt(pair, 16));
const hexadecimal = (data) => [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");

async function hash(kind, ...parts) {
  const joined = new Uint8Array(1 + parts.reduce((sum, { length }) => sum + length, 0));
  joined[0] = kind;
  let at = 1;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", joined));
}
