/** Check the vectors of envelopes.json with the JavaScript client; return a line for each that it does not meet. */
export async function check(envelopes, vectors) {
  const missed = [];
  const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const base64url = (data) =>
    btoa(String.fromCharCode(...data)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const same = (name, found, wanted) => {
    if (found !== wanted) missed.push(`${name}: found ${found}, not ${wanted}`);
  };
  const refused = (work) => Promise.resolve().then(work).then(() => false, () => true);
  try {
    const config = envelopes.readConfig(base64url(bytes(vectors.config)));
    const ephemeral = { secret: bytes(vectors.ephemeral), enc: bytes(vectors.enc) };
    const sealed = await envelopes.sealRequest(config, bytes(vectors.request), ephemeral);
    same("sealed request", hex(sealed.data), vectors.sealed_request);
    same("response", hex(await envelopes.openResponse(sealed, bytes(vectors.sealed_response))), vectors.response);
    const wrong = bytes(vectors.sealed_response);
    wrong[20] ^= 1;
    same("a changed response is refused", await refused(() => envelopes.openResponse(sealed, wrong)), true);
    const other = await envelopes.sealRequest(config, bytes(vectors.request));
    same("each envelope is another", hex(other.data) === vectors.sealed_request, false);
    for (const text of ["", "AAAA", `${base64url(bytes(vectors.config))}=`, base64url(bytes(vectors.config.slice(0, -2)))]) {
      same(`the key ${text} is refused`, await refused(() => envelopes.readConfig(text)), true);
    }
    const length = (data) => [data.length >> 8, data.length & 255, ...data];
    for (const junk of [[], [1, 2, 3], Array(300).fill(7)]) {
      const list = Uint8Array.from([...length(junk), ...length([...bytes(vectors.config)])]);
      const found = await Promise.resolve().then(() => envelopes.firstConfig(list)).catch(() => "none");
      same(`the first of ${junk.length} bytes is passed over`, found, base64url(bytes(vectors.config)));
      same("a list without any is refused", await refused(() => envelopes.firstConfig(list.subarray(0, 2 + junk.length))), true);
    }
    for (const { hex: data, status, headers, content } of vectors.responses) {
      const found = envelopes.readResponse(bytes(data));
      same("status", found.status, status);
      same("headers", JSON.stringify(found.headers), JSON.stringify(headers));
      same("content", new TextDecoder().decode(found.content), content);
      const padded = Uint8Array.from([...bytes(data), 0, 0, 0]);
      same("padded", envelopes.readResponse(padded).status, status);
    }
    for (const data of vectors.bad_responses) {
      same(`${data} is refused`, await refused(() => envelopes.readResponse(bytes(data))), true);
    }
    const { request } = vectors.written;
    const written = envelopes.writeRequest({ ...request, content: new TextEncoder().encode(request.content) });
    same("written", hex(written), vectors.written.hex.padEnd(2048, "0"));
    const long = { ...request, content: new Uint8Array(2000) };
    same("too long is refused", await refused(() => envelopes.writeRequest(long)), true);
  } catch (error) {
    missed.push(`stopped at ${error.message}`);
  }
  return missed;
}
