/** Check the vectors of crowd.json with the JavaScript client; return a line for each that it does not meet. */
export async function check(client, vectors) {
  const crowd = await import("/static/fairgauge-crowd.js");
  const missed = [];
  const same = (name, found, wanted) => {
    if (found !== wanted) missed.push(`${name}: found ${found}, not ${wanted}`);
  };
  const studies = await Promise.all(vectors.studies.map((text) => client.parseStudy(new TextEncoder().encode(text))));
  for (const { study, draws, delta, epsilon } of vectors.crowds) {
    const name = `study ${study}, ${draws} draws, delta ${delta}`;
    const given = delta === null ? {} : { delta };
    same(`crowd of ${name}`, crowd.crowdOf(studies[study], draws, given).epsilon, epsilon);
  }
  for (const { study, draws, epsilon, t, enough, tooLittle } of vectors.bounds) {
    const name = `bound of study ${study}, ${draws} draws, epsilon ${epsilon}, t ${t}`;
    same(name, crowd.isCertified(studies[study], draws, epsilon, t, enough), true);
    same(name, crowd.isCertified(studies[study], draws, epsilon, t, tooLittle), false);
  }
  return missed;
}
