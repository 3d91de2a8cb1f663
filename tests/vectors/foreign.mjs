/**
 * Make foreign.json: what implementations that are not ours say.  Run it where these npm packages are installed:
 *
 *   npm install @cloudflare/blindrsa-ts@0.4.4 @hpke/core@1.9.0 bhttp-js@0.2.1
 *   FAIRGAUGE_NODE_MODULES=FOLDER python -m tests.vectors.test_foreign
 *
 * blindrsa-ts blinds, signs and finalizes with the key of RFC 9578; @hpke/core seals a request for the gateway of RFC
 * 9458 and exports the reply's secret; bhttp-js writes messages.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , vectors, folder] = process.argv;
const require = createRequire(`${folder}/x.js`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { RSABSSA } = await load("@cloudflare/blindrsa-ts");
const { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } = await load("@hpke/core");
const { BHttpDecoder, BHttpEncoder } = await load("bhttp-js");

const hex = (data) => Buffer.from(data).toString("hex");
const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
const { rfc9578 } = JSON.parse(readFileSync(vectors, "utf8"));

// ------------------------------------------------------------------------------------------------ blind RSA
const url = (number) => {
  const digits = number.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex").toString("base64url");
};
const inverse = (a, n) => {
  let [x, y, u, v] = [a % n, n, 1n, 0n];
  while (x > 0n) [x, y, u, v] = [y % x, x, v - (y / x) * u, u];
  return ((v % n) + n) % n;
};
const [p, q, e] = [BigInt(`0x${rfc9578.p}`), BigInt(`0x${rfc9578.q}`), 65537n];
const d = inverse(e, (p - 1n) * (q - 1n));
const whole = { p, q, n: p * q, e, d, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
const jwk = { kty: "RSA", alg: "PS384", ext: true, ...Object.fromEntries(Object.entries(whole).map(([k, v]) => [k, url(v)])) };
const algorithm = { name: "RSA-PSS", hash: "SHA-384" };
const privateKey = await crypto.subtle.importKey("jwk", jwk, algorithm, true, ["sign"]);
const publicKey = await crypto.subtle.importKey("jwk", { kty: "RSA", n: jwk.n, e: jwk.e, ext: true }, algorithm, true, [
  "verify",
]);
const suite = RSABSSA.SHA384.PSS.Deterministic();
const message = suite.prepare(new TextEncoder().encode("made by blindrsa-ts"));
const { blindedMsg, inv } = await suite.blind(publicKey, message);
const signed = await suite.blindSign(privateKey, blindedMsg);
const signature = await suite.finalize(publicKey, message, signed, inv);
// What ours made: another program signs our request, and takes our signature.
const ours = JSON.parse(readFileSync(0, "utf8") || "null");
const answered = ours && {
  signed: hex(await suite.blindSign(privateKey, bytes(ours.blinded))),
  verified: await suite.verify(publicKey, bytes(ours.signature), bytes(ours.message)),
};

// --------------------------------------------------------------------------------------------------- HPKE
const hpke = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes128Gcm() });
const gateway = await hpke.kem.deserializePublicKey(bytes("31e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e798155").buffer);
const header = "01002000010001";
const info = Buffer.concat([Buffer.from("message/bhttp request"), Buffer.from([0]), Buffer.from(header, "hex")]);
const sender = await hpke.createSenderContext({ recipientPublicKey: gateway, info: Uint8Array.from(info).buffer });
const request = new Request("https://collector.example/studies/1f0c/answers", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"symbol":17}',
});
const written = await new BHttpEncoder().encodeRequest(request);
const sealed = await sender.seal(Uint8Array.from(Buffer.from(written)).buffer);
const exported = await sender.export(new TextEncoder().encode("message/bhttp response").buffer, 16);

// ---------------------------------------------------------------------------------------------- binary HTTP
const reply = new Response('{"status":"accepted"}', { status: 200, headers: { "content-type": "application/json" } });
const response = await new BHttpEncoder().encodeResponse(reply);
const read = ours?.response && (await new BHttpDecoder().decodeResponse(bytes(ours.response).buffer));
const readBack = read && { status: read.status, body: await read.text() };

process.stdout.write(
  `${JSON.stringify(
    {
      about: "made by foreign.mjs with @cloudflare/blindrsa-ts 0.4.4, @hpke/core 1.9.0 and bhttp-js 0.2.1",
      blind_rsa: { message: hex(message), blinded: hex(blindedMsg), signed: hex(signed), signature: hex(signature) },
      hpke: { sealed: header + hex(sender.enc) + hex(sealed), plain: hex(written), exported: hex(exported) },
      binary_http: { response: hex(response) },
      ours,
      answered,
      read_back: readBack,
    },
    null,
    1,
  )}\n`,
);
