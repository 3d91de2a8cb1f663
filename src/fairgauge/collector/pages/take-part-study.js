/** What the page says about a study, all of it from the study's own bytes: who asks, what, and what it can reveal. */
import { factorsOf, roundedUp, spoken } from "./fairgauge-client.js";
import { make, unique } from "./take-part-visit.js";

const MOST_LISTED = 6; // more groups than this are only counted

/** A study's texts, in the first of the person's languages that it speaks. */
export class Told {
  constructor(study, words) {
    const [tag, texts] = spoken(study, words.wanted);
    const at = (place) => texts[place] ?? null;
    this.language = tag ?? "";
    this.title = at("title");
    this.purpose = at("purpose");
    const named = (place) => ({
      name: words.label(at(`${place}.name`)),
      help: at(`${place}.help`),
      unit: at(`${place}.unit`),
      language: this.language,
    });
    this.metrics = new Map(study.metrics.map(({ name }, i) => [name, named(`metrics[${i}]`)]));
    this.attributes = new Map();
    this.factors = new Map();
    const grouped = (place, { groups }) => ({
      ...named(place),
      groups: groups.map((_, j) => at(`${place}.groups[${j}]`)),
    });
    study.attributes.forEach((attribute, i) => {
      const place = `attributes[${i}]`;
      const cross = (attribute.cross ?? []).map((factor, k) => [factor.name, grouped(`${place}.cross[${k}]`, factor)]);
      const plain = cross.length ? [] : [[attribute.name, grouped(place, attribute)]];
      for (const [name, told] of [...cross, ...plain]) this.factors.set(name, told);
      const cells = cross.reduce((found, [, { groups }]) => found.flatMap((cell) => groups.map((g) => [...cell, g])), [[]]);
      const groups = cross.length ? cells.map((cell) => cell.join(", ")) : plain[0][1].groups;
      this.attributes.set(attribute.name, { ...named(place), groups });
    });
  }
}

/** Say what is asked, by whom, and what it means for whoever answers. */
export function describe(visit, study, told) {
  const { words } = visit;
  Object.assign(visit.get("title"), { textContent: told.title, lang: told.language });
  const asked = study.questions.map(({ metric, attribute }) => {
    const { groups } = told.attributes.get(attribute.name);
    // Cells have commas in their names: a list of them would be hard to read.
    const factors = factorsOf(attribute).map(({ name }) => told.factors.get(name).name);
    const many = groups.length > MOST_LISTED || factors.length > 1;
    const counted = () => visit.say("asks.groups", { count: groups.length, attribute: words.list(factors) });
    const among = many ? counted() : words.list(groups);
    return visit.say("asks.question", { metric: told.metrics.get(metric.name).name, groups: among });
  });
  visit.get("asks").textContent = asked.length > 1 ? "" : asked[0];
  if (asked.length > 1)
    visit.get("asks").after(make("ul", { className: "asks" }, ...asked.map((text) => make("li", {}, text))));
  const about = study.questions.flatMap(({ metric, attribute }) => [
    ...factorsOf(attribute).map(({ name }) => told.factors.get(name).name),
    told.metrics.get(metric.name).name,
  ]);
  const factor = visit.say("privacy.factor", { number: words.numeral(roundedUp(study.loss, 2)) });
  const yours = unique(about, String).map((name) => visit.say("privacy.your", { name }));
  const promise = { about: words.list(yours), factor: make("strong", {}, factor) };
  visit.get("promise").replaceChildren(...visit.rich("privacy.promise", promise));
  visit.get("odds").replaceChildren(...odds(visit, study));
  visit.get("checks").replaceChildren(
    make("li", {}, ...visit.rich("checks.digest", { digest: make("code", { dir: "ltr" }, study.digest) })),
    ...study.questions.map(({ metric, attribute, epsilon, channel }) => {
      const parts = {
        metric: told.metrics.get(metric.name).name,
        attribute: told.attributes.get(attribute.name).name,
        exact: words.numeral(roundedUp(channel.epsilon, 6)),
        declared: words.numeral(epsilon),
      };
      return make("li", {}, visit.say("checks.epsilon", parts));
    }),
    make("li", {}, visit.say("checks.chance")),
  );
  visit.show("privacy");
  introduce(visit, study, told);
}

/** A picture of someone's odds before and after, at worst: rounded up, so that nobody is told too little. */
function odds({ words }, { loss }) {
  const percent = { n: 100n * loss.n, d: loss.n + loss.d };
  let places = 0;
  while (roundedUp(percent, places) === "100") places += 1; // it never is certain
  const after = roundedUp(percent, places);
  const rest = (100 - Number(after)).toFixed(places);
  const text = words.say("privacy.odds", { after: words.numeral(after), rest: words.numeral(rest) });
  const rows = [
    ["privacy.before", "50", "50"],
    ["privacy.after", after, rest],
  ];
  const bars = rows.map(([key, one, other], i) => {
    const most = make("span", { className: i ? "most" : "half" }, words.numeral(one));
    most.style.width = `${one}%`;
    const bar = make("div", { className: "bar" }, most, make("span", { className: "rest" }, words.numeral(other)));
    return [make("span", {}, words.say(key)), bar];
  });
  const picture = make("div", { className: "bars", role: "img", "aria-label": text }, ...bars.flat());
  return [make("figcaption", {}, text), picture];
}

// -------------------------------------------------------------------------------------------------- who asks
/** Say who asks and why, what becomes of an answer, and whom to ask, as far as the study tells. */
function introduce(visit, { operator = null, retention = null, contact, model = null }, { purpose, language }) {
  const own = (text) => text && make("span", { lang: language, dir: "auto" }, text);
  const known = [
    ["operator", own(operator)],
    ["purpose", own(purpose)],
    ["model", model && own(model.version ? visit.say("who.version", model) : model.name)],
  ].filter(([, text]) => text !== null);
  const after = [
    ["retention", retention === null ? null : kept(visit, retention)],
    ["contact", contact === null ? null : reachable(contact)],
  ].filter(([, text]) => text !== null);
  if (!known.length && !after.length) return;
  // What happens with an answer is true of every study, and an answer to what people ask next.
  const told = [...known, ["becomes", visit.say("who.counted")], ...after];
  const lines = told.flatMap(([name, text]) => [make("dt", {}, visit.say(`who.${name}`)), make("dd", {}, text)]);
  visit.get("who-list").replaceChildren(...lines);
  visit.show("who");
}

/** The study's promise: nothing on this device can check it. */
const kept = (visit, days) => (days === 0 ? visit.say("who.at-once") : visit.say("who.days", { count: days }));

/** Return an address as a link, and anything else as it is. */
function reachable(contact) {
  if (/^[\w.+-]+@[\w-]+(\.[\w-]+)+$/.test(contact)) return make("a", { href: `mailto:${contact}` }, contact);
  const page = /^https:\/\/[\w.-]+(\/[\w./~-]*)?$/.test(contact);
  return page ? make("a", { href: contact, rel: "noreferrer" }, contact) : make("span", { dir: "auto" }, contact);
}
