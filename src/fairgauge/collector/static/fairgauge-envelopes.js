/**
 * fairgauge-envelopes.js: send through a relay, so that the collector does not see the address of this browser.
 *
 * Oblivious HTTP (RFC 9458) with binary HTTP (RFC 9292) and HPKE (RFC 9180: X25519, HKDF-SHA256, AES-128-GCM), on
 * WebCrypto: the same as fairgauge.unlinkable.oblivious_http in Python, with the same test vectors.
 *
 *   const config = readConfig(study.gateway);
 *   const response = await askThrough(relay, config, { method: "POST", url, headers, content });
 *
 * Version 0.2.0.  Apache-2.0.  No dependencies.
 */

const AUTHORITY = "collector.invalid";
const [KEM, KDF, AEAD] = [0x0020, 0x0001, 0x0001];
const [KEY_BYTES, NONCE_BYTES, POINT_BYTES, HASH_BYTES] = [16, 12, 32, 32];
const RESPONSE_NONCE = Math.max(KEY_BYTES, NONCE_BYTES);
const [REQUEST_TYPE, RESPONSE_TYPE] = ["message/ohttp-req", "message/ohttp-res"];
/** Everyone's request has this many bytes before it is sealed: sizes tell nothing. */
export const SIZE = 1024;

const bytesOf = (text) => new TextEncoder().encode(text);
const textOf = (bytes) => new TextDecoder().decode(bytes);
const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
const two = (number) => [number >> 8, number & 0xff];
const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

// ---------------------------------------------------------------------------------------- binary HTTP (RFC 9292)
/** Return an integer as QUIC writes it. */
function number(value) {
  if (value < 64) return [value];
  if (value < 16384) return [0x40 | (value >> 8), value & 0xff];
  return [0x80 | (value >> 24), (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
}

const text = (bytes) => join(number(bytes.length), bytes);

/** Return a request as bytes, padded with zeros to a size: { method, authority, path, headers, content }. */
export function writeRequest({ method, authority, path, headers = {}, content = new Uint8Array() }, size = SIZE) {
  const start = [method, "https", authority, path].map((part) => text(bytesOf(part)));
  const fields = Object.entries(headers).flatMap((pair) => pair.map((part) => text(bytesOf(part))));
  const data = join(number(0), ...start, text(join(...fields)), text(content), number(0));
  if (data.length > size) throw new RangeError(`a request must be at most ${size} bytes`);
  return join(data, new Uint8Array(size - data.length));
}

const bad = () => new RangeError("the gateway's reply is no binary HTTP response");

/** Read a response of known or unknown length: { status, headers, content }. */
export function readResponse(data) {
  let at = 0;
  const take = (count) => {
    if (at + count > data.length) throw bad();
    at += count;
    return data.subarray(at - count, at);
  };
  const integer = () => {
    const [first] = take(1);
    return [...take((1 << (first >> 6)) - 1)].reduce((sum, byte) => sum * 256 + byte, first & 0x3f);
  };
  const string = () => take(integer());
  const kind = integer();
  if (kind !== 1 && kind !== 3) throw bad();
  const known = kind === 1;
  const section = () => {
    const found = {};
    if (at === data.length) return found;
    const end = known ? integer() + at : Infinity;
    if (known && end > data.length) throw bad();
    while (at < end) {
      const name = textOf(string());
      if (!known && name === "") break;
      found[name] = textOf(string());
    }
    if (known && at !== end) throw bad();
    return found;
  };
  let status = integer();
  while (status >= 100 && status < 200) {
    section();
    status = integer();
  }
  if (status < 200 || status > 599) throw bad();
  const headers = section();
  const parts = [];
  if (at < data.length) {
    do parts.push(string());
    while (!known && parts.at(-1).length);
  }
  section();
  if (data.subarray(at).some(Boolean)) throw bad();
  return { status, headers, content: join(...parts) };
}

// ------------------------------------------------------------------------------------------------- HPKE (RFC 9180)
const KEM_SUITE = join(bytesOf("KEM"), two(KEM));
const SUITE = join(bytesOf("HPKE"), two(KEM), two(KDF), two(AEAD));
const X25519 = { name: "X25519" };
const PRIVATE_KEY = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 0x22, 4, 0x20]; // PKCS #8

async function hmac(key, data) {
  const name = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, name, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, data));
}

const extract = (salt, secret) => hmac(salt.length ? salt : new Uint8Array(HASH_BYTES), secret);
const expand = async (secret, info, size) => (await hmac(secret, join(info, [1]))).subarray(0, size); // size <= 32
const labeledExtract = (suite, salt, label, secret) =>
  extract(salt, join(bytesOf("HPKE-v1"), suite, bytesOf(label), secret));
const labeledExpand = (suite, secret, label, info, size) =>
  expand(secret, join(two(size), bytesOf("HPKE-v1"), suite, bytesOf(label), info), size);

async function cipher(work, key, nonce, data) {
  const imported = await crypto.subtle.importKey("raw", key, "AES-GCM", false, [work]);
  return new Uint8Array(await crypto.subtle[work]({ name: "AES-GCM", iv: nonce }, imported, data));
}

async function sendTo(publicKey, info, ephemeral) {
  const theirs = await crypto.subtle.importKey("raw", publicKey, X25519, true, []);
  let own;
  if (ephemeral) {
    const privateKey = await crypto.subtle.importKey("pkcs8", join(PRIVATE_KEY, ephemeral.secret), X25519, false, [
      "deriveBits",
    ]);
    own = { privateKey, enc: ephemeral.enc };
  } else {
    const pair = await crypto.subtle.generateKey(X25519, false, ["deriveBits"]);
    own = {
      privateKey: pair.privateKey,
      enc: new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)),
    };
  }
  const agreed = new Uint8Array(
    await crypto.subtle.deriveBits({ name: "X25519", public: theirs }, own.privateKey, 8 * POINT_BYTES),
  );
  if (!agreed.some(Boolean)) throw new RangeError("the study's gateway has no key of X25519");
  const prk = await labeledExtract(KEM_SUITE, [], "eae_prk", agreed);
  const shared = await labeledExpand(KEM_SUITE, prk, "shared_secret", join(own.enc, publicKey), HASH_BYTES);
  const about = join(
    [0],
    await labeledExtract(SUITE, [], "psk_id_hash", []),
    await labeledExtract(SUITE, [], "info_hash", info),
  );
  const secret = await labeledExtract(SUITE, shared, "secret", []);
  return {
    enc: own.enc,
    key: await labeledExpand(SUITE, secret, "key", about, KEY_BYTES),
    nonce: await labeledExpand(SUITE, secret, "base_nonce", about, NONCE_BYTES),
    exporter: await labeledExpand(SUITE, secret, "exp", about, HASH_BYTES),
  };
}

// --------------------------------------------------------------------------------------- Oblivious HTTP (RFC 9458)
/** Read a gateway's key configuration from base64url, as a study names it: { publicKey, header }. */
export function readConfig(written) {
  let data = new Uint8Array();
  try {
    data = Uint8Array.from(atob(written.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  } catch {
    // what is no base64 is no key
  }
  const algorithms = data.subarray(POINT_BYTES + 5);
  const wanted = [...two(KDF), ...two(AEAD)];
  const listed = Array.from({ length: algorithms.length / 4 }, (_, i) => algorithms.subarray(4 * i, 4 * i + 4));
  const sound =
    base64url(data) === written &&
    same(data.subarray(1, 3), two(KEM)) &&
    same(data.subarray(POINT_BYTES + 3, POINT_BYTES + 5), two(algorithms.length)) &&
    algorithms.length % 4 === 0 &&
    listed.some((pair) => same(pair, wanted));
  if (!sound) {
    throw new RangeError("the study must name a key configuration (RFC 9458) with X25519, HKDF-SHA256 and AES-128-GCM");
  }
  const header = join([data[0]], two(KEM), wanted);
  return { publicKey: data.subarray(3, 3 + POINT_BYTES), header };
}

/** Return the first key configuration of a gateway's list (RFC 9458) that can be used, as a study would name it. */
export function firstConfig(list) {
  for (let at = 0; at + 2 <= list.length; at += 2 + 256 * list[at] + list[at + 1]) {
    const written = base64url(list.subarray(at + 2, at + 2 + 256 * list[at] + list[at + 1]));
    try {
      readConfig(written);
      return written;
    } catch {
      // another one may be of use
    }
  }
  throw new RangeError("the relay must give the gateway's key configuration (RFC 9458)");
}

/** Put a request into an envelope that only the holder of the key opens: { data, context }. */
export async function sealRequest({ publicKey, header }, plain, ephemeral = null) {
  const context = await sendTo(publicKey, join(bytesOf("message/bhttp request"), [0], header), ephemeral);
  return { data: join(header, context.enc, await cipher("encrypt", context.key, context.nonce, plain)), context };
}

/** Open the reply to a sealed request; throws if it is not the gateway's. */
export async function openResponse({ context }, response) {
  const label = "message/bhttp response";
  const secret = await labeledExpand(SUITE, context.exporter, "sec", bytesOf(label), RESPONSE_NONCE);
  const nonce = response.subarray(0, RESPONSE_NONCE);
  const prk = await extract(join(context.enc, nonce), secret);
  const [key, iv] = [await expand(prk, bytesOf("key"), KEY_BYTES), await expand(prk, bytesOf("nonce"), NONCE_BYTES)];
  return cipher("decrypt", key, iv, response.subarray(RESPONSE_NONCE));
}

/**
 * Ask a gateway through a relay: { status, headers, content }; null if no reply of the gateway came back.
 *
 * Whatever a relay itself says is not what the collector says, so it is not handed on.  In the envelope the collector has
 * the same name for everyone: it could have given each person an address of their own, and would know them by it.
 */
export async function askThrough(relay, config, { method, url, headers = {}, content }, options = {}) {
  const path = `/studies/${new URL(url).pathname.split("/studies/").pop()}`;
  const sealed = await sealRequest(config, writeRequest({ method, authority: AUTHORITY, path, headers, content }));
  const request = { ...options, method: "POST", body: sealed.data, headers: { "Content-Type": REQUEST_TYPE } };
  const response = await fetch(relay, request);
  if (response.status !== 200 || !response.headers.get("Content-Type")?.startsWith(RESPONSE_TYPE)) return null;
  try {
    return readResponse(await openResponse(sealed, new Uint8Array(await response.arrayBuffer())));
  } catch {
    return null;
  }
}
