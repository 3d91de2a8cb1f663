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

  // What hides a message is any number below the key that can be divided out, and another each time.
  const begun = Array.from({ length: 64 }, () => passes.beginPass(secret));
  const wide = begun.some(({ r }) => r > secret.n / 2n) && begun.every(({ r }) => r < secret.n);
  const kinds = ["nonce", "salt", "r"].map((part) => new Set(begun.map((each) => String(each[part]))).size);
  if (!wide || kinds.some((size) => size !== 64)) missed.push(`what hides a message: ${kinds}`);
  const small = new Set(Array.from({ length: 400 }, () => Number(passes.newBlinding({ n: 15n }).r)));
  if ([...small].sort((a, b) => a - b).join() !== "1,2,4,7,8,11,13,14") missed.push(`hidden by ${[...small]}`);

  // Anything can be signed blindly: what a token names is compared, too.
  const challenge = bytes(rfc9578.tokens[0].challenge);
  const [pass, digest] = [begun[0], new Uint8Array(await crypto.subtle.digest("SHA-256", challenge))];
  const whole = [0, 2, ...pass.nonce, ...digest, ...key.id];
  const signedAs = async (message) => {
    const response = sign(secret, await passes.blind(key, message, pass));
    return Uint8Array.from([...message, ...(await passes.finalize(key, message, pass, response))]);
  };
  for (const [at, is] of [[-1, true], [1, false], [34, false], [66, false]]) {
    const message = Uint8Array.from(whole, (byte, i) => (i === at ? byte ^ 1 : byte));
    if ((await passes.isToken(await signedAs(message), key, challenge)) !== is) missed.push(`token named at ${at}`);
  }
  const token = await signedAs(Uint8Array.from(whole));
  if (await passes.isToken(Uint8Array.from([...token, 0]), key, challenge)) missed.push("a token that is too long");
  const [message, signature] = [token.subarray(0, 98), token.subarray(98)];
  if (await passes.verify(key, message, Uint8Array.from([0, ...signature]))) missed.push("a zero before a signature");
  const response = Uint8Array.from([0, ...sign(secret, await passes.blind(key, message, pass))]);
  const longer = await passes.finalize(key, message, pass, response).then(() => "none", (error) => error.name);
  if (longer !== "NotSigned") missed.push(`a zero before a blind signature: ${longer}`);
  const code = await passes.encode(message, 2047, pass.salt);
  for (const place of [1, 100, 158, code.length - 60, code.length - 49, code.length - 1]) {
    const bent = Uint8Array.from(code, (byte, i) => (i === place ? byte ^ 1 : byte));
    if (await passes.verify(key, message, sign(secret, bent))) missed.push(`a code that is bent at ${place}`);
  }
  for (const n of [secret.n - 1n, (secret.n >> 1n) | 1n]) {
    const even = passes.base64url(bytes(`${before}${between}${n.toString(16).padStart(512, "0")}0203010001`));
    if (await passes.readKey(even).then(() => true, () => false)) missed.push(`took the key ${n % 2n}`);
  }
}
