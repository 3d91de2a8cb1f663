/** Check the vectors of passes.json with the JavaScript client; return a line for each that it does not meet. */
export async function check(passes, vectors) {
  const missed = [];
  await checkAll(passes, vectors, missed).catch((error) => missed.push(`stopped at ${error.message}`));
  return missed;
}

async function checkAll(passes, vectors, missed) {
  const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const same = async (name, data, wanted) => {
    const found = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", data)));
    if (found !== wanted) missed.push(`${name}: found ${found}, not ${wanted}`);
  };
  const power = (base, exponent, n) => {
    let result = 1n;
    for (let [square, left] = [base % n, exponent]; left > 0n; left >>= 1n, square = (square * square) % n) {
      if (left & 1n) result = (result * square) % n;
    }
    return result;
  };
  const inverse = (a, n) => {
    let [x, y, u, v] = [a % n, n, 1n, 0n];
    while (x > 0n) [x, y, u, v] = [y % x, x, v - (y / x) * u, u];
    return ((v % n) + n) % n;
  };
  const keyOf = ({ p, q }) => {
    const [a, b] = [BigInt(`0x${p}`), BigInt(`0x${q}`)];
    return { n: a * b, e: 65537n, a, b };
  };
  const sign = ({ a, b }, data) => {
    const z = BigInt(`0x${hex(data)}`);
    const [atA, atB] = [a, b].map((prime) => power(z, inverse(65537n, prime - 1n), prime));
    const signed = atB + b * ((((atA - atB) * inverse(b, a)) % a + a) % a);
    return bytes(signed.toString(16).padStart(2 * data.length, "0"));
  };

  const { rfc9474, rfc9578 } = vectors;
  const long = keyOf(rfc9474);
  for (const { name, prefix, salt, ...wanted } of rfc9474.variants) {
    const message = bytes(prefix + rfc9474.message);
    const blinding = { salt: bytes(salt), r: inverse(BigInt(`0x${rfc9474.inv}`), long.n) };
    await same(`${name} encoded`, await passes.encode(message, 4095, blinding.salt), wanted.encoded);
    const request = await passes.blind(long, message, blinding);
    await same(`${name} blinded`, request, wanted.blinded);
    const signed = sign(long, request);
    await same(`${name} signed`, signed, wanted.blind_signature);
    await same(name, await passes.finalize(long, message, blinding, signed), wanted.signature);
  }

  const secret = keyOf(rfc9578);
  const before = "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108";
  const between = "300b0609608648016503040202a2030201300382010f003082010a0282010100";
  const written = passes.base64url(bytes(`${before}${between}${secret.n.toString(16)}0203010001`));
  const key = await passes.readKey(written);
  if (hex(key.id) !== rfc9578.public) missed.push("the key's name");
  for (const wrong of [`${written}=`, written.slice(1), "AAAA", "", "!"]) {
    if (await passes.readKey(wrong).then(() => true, () => false)) missed.push(`took the key ${wrong}`);
  }
  for (const [i, vector] of rfc9578.tokens.entries()) {
    const pass = { nonce: bytes(vector.nonce), salt: bytes(vector.salt), r: BigInt(`0x${vector.blind}`) };
    const challenge = bytes(vector.challenge);
    const request = await passes.requestOf(pass, key, challenge);
    await same(`tokens[${i}] request`, request, vector.request);
    const response = sign(secret, request.subarray(3));
    await same(`tokens[${i}] response`, response, vector.response);
    const token = await passes.tokenOf(pass, key, challenge, response);
    await same(`tokens[${i}]`, token, vector.token);
    if ((await passes.answerId(token)) !== vector.token.slice(0, 32)) missed.push(`tokens[${i}] id`);
    if (!(await passes.isToken(token, key, challenge))) missed.push(`tokens[${i}] is no token`);
    for (const at of [0, 2, 40, 100, 353]) {
      const changed = Uint8Array.from(token);
      changed[at] ^= 1;
      // Another nonce makes another message, so the signature fails; another challenge or key is named.
      if (await passes.isToken(changed, key, challenge)) missed.push(`tokens[${i}] changed at ${at} is a token`);
    }
    const wrong = Uint8Array.from(response);
    wrong[9] ^= 1;
    const name = await passes.tokenOf(pass, key, challenge, wrong).then(() => "none", (error) => error.name);
    if (name !== "NotSigned") missed.push(`tokens[${i}] with a wrong response: ${name}`);
  }
  const own = passes.challengeOf("issuer.example", rfc9578.tokens[4].challenge.slice(38, 102));
  if (hex(own) !== rfc9578.tokens[4].challenge) missed.push(`challenge ${hex(own)}`);
}
