/** Check the vectors of simple.json or full.json with the JavaScript client; return a line for each that it does not meet. */
export async function check(client, vectors) {
  const missed = [];
  const same = (name, found, wanted) => {
    const [a, b] = [found, wanted].map((value) => JSON.stringify(value));
    if (a !== b) missed.push(`${name}: found ${a}, not ${b}`);
  };
  const encode = (text) => new TextEncoder().encode(text);
  const bytesOf = (digits) => Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
  const refusal = async (work) => {
    try {
      await work();
      return { error: "none" };
    } catch (error) {
      return { error: error.name, ...(error.field === undefined ? {} : { field: error.field, rule: error.rule }) };
    }
  };

  const studies = await Promise.all(vectors.studies.map(({ text }) => client.parseStudy(encode(text))));
  vectors.studies.forEach(({ canonical, digest, epsilon, loss = [], offsets = null, spoken = [] }, i) => {
    const study = studies[i];
    same(`studies[${i}] canonical`, new TextDecoder().decode(study.bytes), canonical);
    same(`studies[${i}] digest`, study.digest, digest);
    if (offsets) same(`studies[${i}] offsets`, study.offsets, offsets);
    study.tables.forEach(([{ channel }], t) => {
      same(`studies[${i}] epsilon`, Number(client.plain(channel.epsilon)), Number(epsilon[t]));
      same(`studies[${i}] epsilon to 50 digits`, trimmed(client.plain(channel.epsilon)), trimmed(epsilon[t]));
    });
    loss.forEach(([n, d], t) => {
      const [{ channel }] = study.tables[t];
      same(`studies[${i}] loss`, channel.loss.n * BigInt(d) === channel.loss.d * BigInt(n), true);
    });
    for (const [wanted, tag, texts] of spoken) {
      const [found, said] = client.spoken(study, wanted);
      same(`studies[${i}] spoken ${wanted}`, [found, Object.entries(said).sort()], [tag, Object.entries(texts).sort()]);
    }
  });
  for (const [i, { replace, hex, ...verdict }] of vectors.bad.entries()) {
    const text = replace && (replace[0] === "*" ? replace[1] : vectors.base.replace(replace[0], () => replace[1]));
    const found = await refusal(() => client.parseStudy(replace ? encode(text) : bytesOf(hex)));
    same(`bad[${i}] ${JSON.stringify(replace ?? hex).slice(0, 80)}`, found, verdict);
  }
  for (const [high, low, bound] of vectors.logs ?? []) {
    same(`log ${high}/${low}`, trimmed(client.plain(client.logBound(BigInt(high), BigInt(low)))), trimmed(bound));
  }
  for (const [high, low, epsilon, wanted] of vectors.within ?? []) {
    same(
      `within ${high}/${low} ${epsilon}`,
      client.atMost(client.logBound(BigInt(high), BigInt(low)), epsilon),
      wanted,
    );
  }
  for (const [low, high, value, wanted, nearest] of vectors.positions ?? []) {
    const close = client.nearest({ low, high }, value);
    const met = close && nearest && close.n * BigInt(nearest[1]) === close.d * BigInt(nearest[0]);
    if (close || nearest) same(`nearest of ${value} in ${low}..${high}`, Boolean(met), true);
    let found = null;
    try {
      found = client.position({ name: "m", low, high }, value);
    } catch (error) {
      same(
        "a position's refusal",
        [error.name, error.message],
        ["CannotAnswer", `m must be a number from ${low} to ${high}`],
      );
    }
    const equal = found && wanted && found.n * BigInt(wanted[1]) === found.d * BigInt(wanted[0]);
    if (found || wanted) same(`position of ${value} in ${low}..${high}`, Boolean(equal), true);
  }
  const { draws, without = [], outside = [] } = vectors;
  for (const vector of [...draws, ...without, ...outside]) {
    const { study, question, table, group, value, values = [value], bits, symbol } = vector;
    const asked = studies[study].tables[table ?? question];
    const given = bits.map(BigInt);
    const places = asked.map(({ metric }, i) => client.nearest(metric, values[i]));
    const drawn = asked[0].channel.draw(group, places, () => given.shift());
    same(`draw in ${study}.${table ?? question} of ${group}, ${values}, ${bits}`, [drawn, given.length], [symbol, 0]);
  }
  for (const { study, profile, bits, symbol } of vectors.profiles ?? []) {
    const given = bits.map(BigInt);
    const sent = client.answer(studies[study], profile, { bits: () => given.shift() });
    same(`answer of ${JSON.stringify(profile)}`, [sent.symbol, given.length], [symbol, 0]);
  }
  for (const { study, profile, error, text } of vectors.refusals ?? []) {
    let found = null;
    try {
      found = client.answer(studies[study], profile);
    } catch (problem) {
      found = [problem.name, problem.message];
    }
    same(`refusal of ${study}`, found, [error, text]);
  }
  for (const { answer, bytes } of vectors.answers ?? []) {
    same("an answer's bytes", new TextDecoder().decode(client.answerBytes(answer)), bytes);
  }
  for (const [status, body, became] of vectors.deliveries ?? []) {
    const real = globalThis.fetch;
    globalThis.fetch = async () => new Response(body, { status });
    const drawn = { study: "0".repeat(64), id: "0".repeat(32), symbol: 0 };
    const ends = { AnswerRefused: "refused", CannotSend: "again" };
    const found = await client.send(drawn, "https://collector.example", { tries: 1 }).then(
      () => "delivered",
      (error) => ends[error.name] ?? error.name,
    );
    globalThis.fetch = real;
    same(`delivery at ${status} ${body}`, found, became);
  }
  return missed;
}

const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
