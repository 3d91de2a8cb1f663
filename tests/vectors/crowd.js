/** Check the vectors of crowd.json with the JavaScript client; return a line for each that it does not meet. */
export async function check(client, vectors) {
  const crowd = await import("/static/fairgauge-crowd.js");
  const missed = [];
  const same = (name, found, wanted) => {
    if (found !== wanted) missed.push(`${name}: found ${found}, not ${wanted}`);
  };
  const studies = await Promise.all(vectors.studies.map((text) => client.parseStudy(new TextEncoder().encode(text))));
  for (const { study, batch, observed, delta, usual, epsilon } of vectors.crowds) {
    const name = `study ${study}, ${batch} answers, observed ${observed}, delta ${delta}`;
    same(`crowd of ${name}`, crowd.crowdOf(studies[study], batch, { observed, delta }).epsilon, epsilon);
    same(`usual delta of ${name}`, Number(crowd.defaultDelta(batch)), usual);
  }
  for (const { study, people, epsilon, t, enough, tooLittle } of vectors.bounds) {
    const name = `bound of study ${study}, ${people} people, epsilon ${epsilon}, t ${t}`;
    same(name, crowd.isCertified(studies[study], people, epsilon, t, enough), true);
    same(name, crowd.isCertified(studies[study], people, epsilon, t, tooLittle), false);
  }
  return missed;
}
