/** What the page says about a study, all of it from the study's own bytes: who asks, what, and what it can reveal. */
import { factorsOf, roundedUp } from "./fairgauge-client.js";
import { get, make, show } from "./take-part-fields.js";

const MOST_LISTED = 6; // more groups than this are only counted

function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

const among = ({ name, groups }) => (groups.length > MOST_LISTED ? `${groups.length} groups by ${name}` : list(groups));
export const unique = (items, key) => [...new Map(items.map((item) => [key(item), item])).values()];

/** Say what is asked, by whom, and what it means for whoever answers. */
export function describe(study) {
  document.title = `Take part · ${study.title}`;
  get("title").textContent = study.title;
  const asked = study.questions.map(
    ({ metric, attribute }) => `Does the model’s ${metric.name} differ between ${among(attribute)}?`,
  );
  get("asks").textContent = asked.length > 1 ? "" : asked[0];
  if (asked.length > 1)
    get("asks").after(make("ul", { className: "asks" }, ...asked.map((text) => make("li", {}, text))));
  const about = unique(
    study.questions.flatMap(({ metric, attribute }) => [...factorsOf(attribute), metric].map(({ name }) => name)),
    String,
  );
  const factor = roundedUp(study.loss, 2);
  get("promise").replaceChildren(
    "Your group and your number stay on this device. What leaves it is one symbol, picked partly by chance. Whoever ",
    "sees it, those who run the study included, can change their odds about ",
    `${list(about.map((name) => `your ${name}`))} by at most `,
    make("strong", {}, `a factor of ${factor}`),
    ", whatever else they know about you.",
  );
  get("odds").replaceChildren(...odds(study));
  get("checks").replaceChildren(
    make(
      "li",
      {},
      "The study is the one that this address names. Its digest, computed here, is ",
      make("code", {}, study.digest),
      ".",
    ),
    ...study.questions.map(({ metric, attribute, epsilon, channel }) =>
      make(
        "li",
        {},
        `${metric.name} by ${attribute.name}: the exact epsilon, computed here from the study’s table, is ` +
          `${roundedUp(channel.epsilon, 6)}. The study declares ${epsilon}, so it keeps its word.`,
      ),
    ),
    make("li", {}, "Chance comes from your browser’s secure source, and no rounded numbers are involved."),
  );
  show("privacy");
  introduce(study);
}

/** A picture of someone's odds before and after, at worst: rounded up, so that nobody is told too little. */
function odds({ loss }) {
  const percent = { n: 100n * loss.n, d: loss.n + loss.d };
  let places = 0;
  while (roundedUp(percent, places) === "100") places += 1; // it never is certain
  const after = roundedUp(percent, places);
  const rest = (100 - Number(after)).toFixed(places);
  const spoken =
    "Someone who thought 50 to 50 whether you belong to one group or the other thinks at most " +
    `${after} to ${rest} after seeing your answer.`;
  const rows = [
    ["before", "50", "50"],
    ["after, at most", after, rest],
  ];
  const bars = rows.map(([name, one, other], i) => {
    const most = make("span", { className: i ? "most" : "half" }, one);
    most.style.width = `${one}%`;
    return [
      make("span", {}, name),
      make("div", { className: "bar" }, most, make("span", { className: "rest" }, other)),
    ];
  });
  const picture = make("div", { className: "bars", role: "img", "aria-label": spoken }, ...bars.flat());
  return [make("figcaption", {}, spoken), picture];
}

// -------------------------------------------------------------------------------------------------- who asks
/** Say who asks and why, what becomes of an answer, and whom to ask, as far as the study tells. */
function introduce({ operator = null, purpose = null, retention = null, contact, model = null }) {
  const told = [
    ["Who asks", operator],
    ["Why", purpose],
    ["About", model && [model.name, model.version].filter(Boolean).join(", version ")],
    ["For how long", retention === null ? null : kept(retention)],
    ["Whom to ask", contact === null ? null : reachable(contact)],
  ].filter(([, text]) => text !== null);
  if (!told.length) return;
  // Between why and for how long: it is true of every study, and an answer to what people ask next.
  const after = told.findLastIndex(([name]) => ["Who asks", "Why", "About"].includes(name)) + 1;
  told.splice(after, 0, ["What happens with it", BECOMES]);
  get("who-list").replaceChildren(...told.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
  show("who");
}

const BECOMES =
  "Your symbol is counted together with everyone’s. From the counts it is worked out how the groups compare.";

/** The study's promise: nothing on this device can check it. */
function kept(days) {
  const later = days === 0n ? "when" : days === 1n ? "a day after" : `${days} days after`;
  return `The study promises that single answers are deleted ${later} it closes. Only the counts stay.`;
}

/** Return an address as a link, and anything else as it is. */
function reachable(contact) {
  if (/^[\w.+-]+@[\w-]+(\.[\w-]+)+$/.test(contact)) return make("a", { href: `mailto:${contact}` }, contact);
  const page = /^https:\/\/[\w.-]+(\/[\w./~-]*)?$/.test(contact);
  return page ? make("a", { href: contact, rel: "noreferrer" }, contact) : contact;
}
