/** The page where a person takes part: asks, randomises on this device, shows what would leave it, then sends that. */
import {
  AnswerRefused,
  FairgaugeError,
  LIMITS,
  Ledger,
  answerBytes,
  checkAble,
  deliver,
  factorsOf,
  loadStudy,
  roundedUp,
} from "./fairgauge-client.js";
import { groupField, limitField, make, sentence, ticketField, valueField } from "./take-part-fields.js";

const MOST_LISTED = 6; // more groups than this are only counted
const PATIENCE = { tries: 4, first: 1, longest: 20 };

const ledger = new Ledger();
const collector = new URL("../..", location.href).href;
const digest = location.pathname.split("/").at(-2);
const get = (id) => document.getElementById(id);
const ticketGiven = takeTicket();

/** A link may bring a ticket after "#", which browsers keep to themselves; it is taken out of the address. */
function takeTicket() {
  const found = /^#ticket=([0-9a-f]{32})$/.exec(location.hash);
  if (location.hash) history.replaceState(null, "", location.pathname);
  return found?.[1] ?? null;
}

function show(id, visible = true) {
  get(id).hidden = !visible;
}

const MEANINGS = {
  NotPrivate: "The study would reveal more about you than it says, or than this browser allows.",
  BadStudy: "What came is not the study that this address names.",
  BadTable: "What came is not the study that this address names.",
  InvalidInput: "The study could not be loaded. Please try again later.",
};

/** Say why the page goes no further: what it means for a person, then what exactly was found. */
function refuse(error) {
  const known = error instanceof FairgaugeError;
  const meaning = known ? (MEANINGS[error.name] ?? "") : "This page has a fault.";
  const detail = known ? sentence(error.message) : "";
  get("status").textContent = "";
  get("problem").replaceChildren(make("h2", {}, "This page will not answer"));
  for (const text of [`${meaning} Nothing was sent.`.trim(), detail])
    if (text) get("problem").append(make("p", {}, text));
  for (const id of ["privacy", "form"]) show(id, false);
  show("problem");
  if (!known) throw error;
}

function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

const among = ({ name, groups }) => (groups.length > MOST_LISTED ? `${groups.length} groups by ${name}` : list(groups));
const unique = (items, key) => [...new Map(items.map((item) => [key(item), item])).values()];

// ------------------------------------------------------------------------------------------- what is asked
function describe(study) {
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

// ---------------------------------------------------------------------------------------------- the limits
/** Show what this browser will spend and has spent, and let the person lower it. */
async function showLimits() {
  const { study, lifetime } = await ledger.limits();
  const spent = roundedUp(await ledger.spent(), 6);
  get("limits-now").textContent =
    `This browser answers a study only if that costs at most epsilon ${study}, and only as long as its answers about ` +
    `any one attribute, all studies of this site together, cost at most ${lifetime}. So far they have cost ${spent}. ` +
    "You may lower both limits.";
  const fields = [
    limitField("study", "The most that one study may cost", study, LIMITS.study),
    limitField("lifetime", "The most that answers about one attribute may cost together", lifetime, LIMITS.lifetime),
  ];
  get("limit-fields").replaceChildren(...fields.map(({ element }) => element));
  get("lower").onsubmit = async (event) => {
    event.preventDefault();
    const bad = fields.filter((field) => !field.check());
    if (bad.length) return bad[0].focus();
    await ledger.lower(Object.fromEntries(fields.map((field) => [field.name, field.read()])));
    await showLimits();
    get("lowered").textContent = "This browser keeps to these limits from now on.";
  };
}

// ------------------------------------------------------------------------------------------------ the form
function ask(study) {
  const attributes = unique(study.attributes.flatMap(factorsOf), ({ name }) => name);
  const { metrics } = study;
  const asksFor = { attribute: (q) => factorsOf(q.attribute), metric: (q) => [q.metric] };
  const silent = (kind, name) =>
    study.questions
      .filter((question) => asksFor[kind](question).some((one) => one.name === name))
      .every((question) => question.channel.abstain);
  const groups = attributes.map((one, i) => groupField(one, i, silent("attribute", one.name)));
  const ranges = (name) => study.questions.map(({ metric }) => metric).filter((metric) => metric.name === name);
  const values = metrics.map((one, i) => valueField(ranges(one.name), i, silent("metric", one.name)));
  const ticket = study.admission === "tickets" ? ticketField(ticketGiven) : null;
  const fields = [...groups, ...values, ...(ticket ? [ticket] : [])];
  get("fields").replaceChildren(...fields.map(({ element }) => element));
  const sets = study.tables.some(({ length }) => length > 1) ? "sets of " : "";
  get("coin").textContent =
    study.tables.length > 1
      ? `Your browser answers one of the ${study.tables.length} ${sets}questions, picked by its own coin.`
      : "";
  get("form").onsubmit = async (event) => {
    event.preventDefault();
    const bad = fields.filter((field) => !field.check());
    if (bad.length) return bad[0].focus();
    const group = Object.fromEntries(groups.map((field) => [field.name, field.read()]));
    // Without a name for the attribute all studies share one account: here the study chose the names, not the person.
    const profile = {
      group: groups.length > 1 ? group : groups[0].read(),
      values: Object.fromEntries(values.map((field) => [field.name, field.read()])),
    };
    try {
      const answer = await ledger.answer(study, profile, { ticket: ticket?.read() ?? null });
      event.target.reset();
      get("fields").replaceChildren();
      show("form", false);
      await showLimits();
      review(study, answer, await ledger.recall(study.digest));
      get("ready-title").focus();
    } catch (error) {
      refuse(error);
    }
  };
  show("form");
}

// ------------------------------------------------------------------------------------ what leaves the device
const STATES = { pending: "not sent yet", delivered: "sent and counted", refused: "refused by the collector" };

/** Show the very bytes of an answer, and let the person send them. */
function review(study, answer, { state }) {
  const bytes = answerBytes(answer);
  get("bytes").textContent = new TextDecoder().decode(bytes);
  const [title, text, more] = words(study, bytes.length)[state];
  get("ready-title").textContent = title;
  get("ready-text").textContent = text;
  get("ready-more").textContent = more;
  const kept = {
    study: answer.study,
    id: answer.id,
    symbol: String(answer.symbol),
    cost: `epsilon ${roundedUp(study.epsilon, 6)}`,
    state: STATES[state],
  };
  const lines = Object.entries(kept).map(([name, value]) => [
    make("dt", {}, name),
    make("dd", {}, make("code", {}, value)),
  ]);
  get("memory").replaceChildren(...lines.flat());
  show("send-buttons", state === "pending");
  show("again", state === "refused" && study.admission === "tickets");
  if (!get("again").hidden) offerTicket(study, answer);
  get("send").onclick = () => submit(study, answer);
  get("status").textContent = "";
  show("ready");
}

/** Let a person whose ticket was refused give another one; the symbol stays the same. */
function offerTicket(study, answer) {
  const field = ticketField("");
  get("again-field").replaceChildren(field.element);
  get("again").onsubmit = async (event) => {
    event.preventDefault();
    if (!field.check()) return field.focus();
    const renewed = await ledger.useTicket(answer, field.read());
    get("sending").textContent = "";
    review(study, renewed, await ledger.recall(study.digest));
    get("ready-title").focus();
  };
}

/** Return title, text and small print for each state of an answer. */
function words({ admission }, size) {
  const id =
    admission === "tickets" ? "your ticket" : "a random number that keeps your answer from being counted twice";
  return {
    pending: [
      "This is what will leave your device",
      `These ${size} bytes and nothing else: the study’s name, ${id}, and the symbol. Your group and your number ` +
        "are not in them.",
      "As with every page that you open, the collector’s computer sees your network address and your browser’s name " +
        "while you send it. The symbol was drawn once and is stored in this browser: sending it again, or another " +
        "visit, sends the same one. If you would rather not send it, close this page.",
    ],
    delivered: ["Thank you. You have taken part.", "Your answer is counted. These bytes are all that was sent:", ""],
    refused: [
      "The collector did not take it",
      "Your browser keeps the answer and will not draw another one. These bytes were sent:",
      "",
    ],
  };
}

async function submit(study, answer) {
  get("send").disabled = true;
  get("sending").textContent = "Sending…";
  try {
    await deliver(ledger, answer, collector, PATIENCE);
    get("sending").textContent = "";
  } catch (error) {
    const text = error instanceof FairgaugeError ? sentence(error.message) : "It could not be sent.";
    const again = error instanceof AnswerRefused ? "" : " It is kept here, and you can try again.";
    get("sending").textContent = `${text}${again}`;
  }
  get("send").disabled = false;
  review(study, answer, await ledger.recall(study.digest));
  get("ready-title").focus();
}

// ----------------------------------------------------------------------------------------------- the course
function closedNow({ opens, closes }) {
  const now = new Date().toISOString();
  const day = (moment) => new Date(moment).toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" });
  if (opens !== null && now < opens) return `The study opens on ${day(opens)}.`;
  if (closes !== null && now >= closes) return `The study closed on ${day(closes)}. Thank you for your interest.`;
  return "";
}

async function main() {
  get("unable").remove();
  get("status").textContent = "Checking the study on this device…";
  const study = await loadStudy(new URL(`studies/${digest}`, collector), { digest });
  const record = await ledger.recall(study.digest);
  if (!study.site) describe(study);
  await showLimits();
  if (record) {
    review(study, record, record);
    get("status").textContent =
      record.state === "delivered"
        ? "You have answered this study in this browser before."
        : "Your answer was drawn on an earlier visit.";
    return;
  }
  checkAble(study, ""); // before anything is asked; a ticket comes with the form
  get("status").textContent = closedNow(study);
  if (!closedNow(study)) ask(study);
}

addEventListener("pagehide", () => get("form").reset()); // nothing typed may come back with the page
main().catch(refuse);
