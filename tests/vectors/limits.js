/** Check the vectors of limits.json with the JavaScript client; return a line for each that it does not meet. */
export async function check(client, vectors) {
  const missed = [];
  const same = (name, found, wanted) => {
    const [a, b] = [found, wanted].map((value) => JSON.stringify(value));
    if (a !== b) missed.push(`${name}: found ${a}, not ${b}`);
  };
  const said = (work) => {
    try {
      work();
      return null;
    } catch (error) {
      return `${error.name}: ${error.message}`;
    }
  };
  same("defaults", client.LIMITS, vectors.defaults);
  for (const [i, { text, limit, said: wanted }] of vectors.studies.entries()) {
    const study = await client.parseStudy(new TextEncoder().encode(text));
    const found = said(() => client.checkStudyLimit(study, limit));
    same(`studies[${i}]`, found?.replace(/ spends epsilon [0-9.]+/, "") ?? null, wanted);
  }
  vectors.lifetimes.forEach(({ charges, spent, limit, said: wanted }, i) => {
    same(`lifetimes[${i}]`, said(() => client.checkLifetime(charges, spent, limit)), wanted);
  });
  return missed;
}
