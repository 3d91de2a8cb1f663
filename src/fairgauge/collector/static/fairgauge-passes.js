/**
 * fairgauge-passes.js: blind tickets in a browser.  Who signs one cannot recognise it when it is spent.
 *
 * Privacy Pass tokens of type 2 (RFC 9578) on blind RSA (RFC 9474), with WebCrypto and BigInt: the same as
 * fairgauge.unlinkable.pass_token in Python, with the same test vectors.
 *
 *   const key = await readKey(study.issuer.key);
 *   const challenge = challengeOf(study.issuer.name, study.digest);
 *   const pass = beginPass(key);                          // remember it before anything is sent
 *   const response = ...;                                 // what the issuer gives for await requestOf(pass, key, challenge)
 *   const token = await tokenOf(pass, key, challenge, response);
 *
 * Version 0.2.0.  Apache-2.0.  No dependencies.
 */

const SALT_BYTES = 48;
const HASH_BYTES = 48;
const TRAILER = 0xbc;
const TYPE = [0, 2];
const NONCE_BYTES = 32;
const SIGNATURE_BYTES = 256;
const TOKEN_BYTES = 354;
const E = 65537n;
// A public key of RFC 9578 is these bytes around n: there is one way to write a key.
const BEFORE = fromHex(
  "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108" +
    "300b0609608648016503040202a2030201300382010f003082010a0282010100",
);
const AFTER = fromHex("0203010001");

/** Something was not signed by the key that was expected. */
export class NotSigned extends Error {
  get name() {
    return "NotSigned";
  }
}

// ----------------------------------------------------------------------------------------------- bytes and numbers
function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const toNumber = (bytes) => (bytes.length ? BigInt(`0x${toHex(bytes)}`) : 0n);
const toBytes = (number, size) => fromHex(number.toString(16).padStart(2 * size, "0"));
const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
const random = (size) => crypto.getRandomValues(new Uint8Array(size));
const hash = async (name, bytes) => new Uint8Array(await crypto.subtle.digest(name, bytes));

export const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

export const fromBase64url = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** Return base^exponent modulo n; the exponent is public. */
function power(base, exponent, n) {
  let [result, square] = [1n, base % n];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % n;
    square = (square * square) % n;
  }
  return result;
}

/** Return the inverse of a modulo n, or null where there is none. */
function inverse(a, n) {
  let [x, y, u, v] = [a % n, n, 1n, 0n];
  while (x > 0n) {
    const quotient = y / x;
    [x, y, u, v] = [y - quotient * x, x, v - quotient * u, u];
  }
  return y === 1n ? ((v % n) + n) % n : null;
}

// ------------------------------------------------------------------------------------------- blind RSA (RFC 9474)
const bitsOf = (n) => n.toString(2).length;
const sizeOf = (n) => Math.ceil(bitsOf(n) / 8);
const digestOf = async (message, salt) =>
  hash("SHA-384", join(new Uint8Array(8), await hash("SHA-384", message), salt));
const cleared = (data, bits) => join([data[0] & (0xff >> ((8 - (bits % 8)) % 8))], data.subarray(1));

async function mask(seed, size) {
  const counters = Array.from({ length: Math.ceil(size / HASH_BYTES) }, (_, i) => toBytes(BigInt(i), 4));
  const blocks = await Promise.all(counters.map((counter) => hash("SHA-384", join(seed, counter))));
  return join(...blocks).subarray(0, size);
}

const mixed = async (data, seed) => {
  const mix = await mask(seed, data.length);
  return data.map((byte, i) => byte ^ mix[i]);
};

/** Return the code of a message, of so many bits (EMSA-PSS with SHA-384). */
export async function encode(message, bits, salt) {
  const zeros = Math.ceil(bits / 8) - salt.length - HASH_BYTES - 2;
  if (zeros < 0) throw new RangeError("the key is too short for this signature");
  const digest = await digestOf(message, salt);
  const data = join(new Uint8Array(zeros), [1], salt);
  return join(cleared(await mixed(data, digest), bits), digest, [TRAILER]);
}

/** Draw a salt, and a number that is uniform among those that can be divided out again: { salt, r }. */
export function newBlinding({ n }) {
  for (;;) {
    const r = toNumber(random(sizeOf(n)));
    if (r < n && inverse(r, n) !== null) return { salt: random(SALT_BYTES), r };
  }
}

/** Return what to send to the signer. */
export async function blind({ n, e }, message, { salt, r }) {
  const code = toNumber(await encode(message, bitsOf(n) - 1, salt));
  if (inverse(code, n) === null) throw new RangeError("the key must be the product of two large primes");
  return toBytes((code * power(r, e, n)) % n, sizeOf(n));
}

/** Return the signature from what the signer sent back; throws NotSigned if it is none. */
export async function finalize(key, message, { salt, r }, signed) {
  const { n } = key;
  if (signed.length !== sizeOf(n)) throw new NotSigned(`a blind signature must have ${sizeOf(n)} bytes`);
  const signature = toBytes((toNumber(signed) * inverse(r, n)) % n, sizeOf(n));
  if (await verify(key, message, signature, salt.length)) return signature;
  throw new NotSigned("the signer did not sign with the key that was expected");
}

/** Tell whether a signature (RSASSA-PSS, SHA-384) is good. */
export async function verify({ n, e }, message, signature, saltBytes = SALT_BYTES) {
  const number = toNumber(signature);
  if (signature.length !== sizeOf(n) || number >= n) return false;
  const [bits, opened] = [bitsOf(n) - 1, power(number, e, n)];
  if (bitsOf(opened) > bits) return false;
  const code = toBytes(opened, Math.ceil(bits / 8));
  const masked = code.subarray(0, -HASH_BYTES - 1);
  const digest = code.subarray(-HASH_BYTES - 1, -1);
  const data = cleared(await mixed(masked, digest), bits);
  const zeros = masked.length - saltBytes - 1;
  if (code.at(-1) !== TRAILER || !same(masked, cleared(masked, bits))) return false;
  if (data.subarray(0, zeros).some(Boolean) || data[zeros] !== 1) return false;
  return same(digest, await digestOf(message, data.subarray(zeros + 1)));
}

// ------------------------------------------------------------------------------------------------ tokens (RFC 9578)
/** Read an issuer's public key from base64url, in its one form: { n, e, id }. */
export async function readKey(text) {
  let data = new Uint8Array();
  try {
    data = fromBase64url(text);
  } catch {
    // what is no base64 is no key
  }
  const n = toNumber(data.subarray(BEFORE.length, -AFTER.length));
  const whole = bitsOf(n) === 2048 && n % 2n === 1n && same(data, join(BEFORE, toBytes(n, SIGNATURE_BYTES), AFTER));
  if (!whole || base64url(data) !== text) {
    throw new RangeError("the study must name the public key of an issuer (RFC 9578, type 2), in base64url");
  }
  return { n, e: E, id: await hash("SHA-256", data) };
}

/** Return the challenge (RFC 9577) that a token for a study answers. */
export function challengeOf(issuer, study) {
  const name = new TextEncoder().encode(issuer);
  const context = fromHex(study);
  return join(TYPE, toBytes(BigInt(name.length), 2), name, [context.length], context, [0, 0]);
}

/** Draw everything that a new token needs: { nonce, salt, r }, which only this browser may know. */
export const beginPass = (key) => ({ nonce: random(NONCE_BYTES), ...newBlinding(key) });

const messageOf = async ({ nonce }, { id }, challenge) => join(TYPE, nonce, await hash("SHA-256", challenge), id);

/** Return the TokenRequest: each time the same bytes. */
export async function requestOf(pass, key, challenge) {
  return join(TYPE, key.id.subarray(-1), await blind(key, await messageOf(pass, key, challenge), pass));
}

/** Return the token from the issuer's TokenResponse; throws NotSigned if the issuer signed something else. */
export async function tokenOf(pass, key, challenge, response) {
  const message = await messageOf(pass, key, challenge);
  return join(message, await finalize(key, message, pass, response));
}

/** Tell whether a token is of this issuer and answers this challenge. */
export async function isToken(token, key, challenge) {
  const [message, nonce] = [token.subarray(0, -SIGNATURE_BYTES), token.subarray(2, 2 + NONCE_BYTES)];
  if (token.length !== TOKEN_BYTES || !same(message, await messageOf({ nonce }, key, challenge))) return false;
  return verify(key, message, token.subarray(-SIGNATURE_BYTES));
}

/** Return the id of the answer that a token is spent on. */
export const answerId = async (token) => toHex((await hash("SHA-256", token)).subarray(0, 16));
