/** The page where a person takes part: asks, randomises on this device, shows what would leave it, then sends that. */
import { FairgaugeError, LIMITS, checkAble, factorsOf, loadStudy, roundedUp, studyStatus } from "./fairgauge-client.js";
import { review, submit } from "./take-part-answer.js";
import {
  collector,
  get,
  groupField,
  ledger,
  limitField,
  make,
  sentence,
  show,
  ticketField,
  valueField,
} from "./take-part-fields.js";
import { describe, unique } from "./take-part-study.js";

const digest = location.pathname.split("/").at(-2);
const ticketGiven = takeTicket();

/** A link may bring a ticket after "#", which browsers keep to themselves; it is taken out of the address. */
function takeTicket() {
  const found = /^#ticket=([0-9a-f]{32})$/.exec(location.hash);
  if (location.hash) history.replaceState(null, "", location.pathname);
  return found?.[1] ?? null;
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
  get("status").replaceChildren();
  get("problem").replaceChildren(make("h2", {}, "This page will not answer"));
  for (const text of [`${meaning} Nothing was sent.`.trim(), detail])
    if (text) get("problem").append(make("p", {}, text));
  for (const id of ["who", "privacy", "form"]) show(id, false);
  show("problem");
  if (!known) throw error;
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
    const [button, drawing] = [get("draw"), get("drawing")];
    button.disabled = true;
    drawing.textContent = "";
    const open = await takesAnswers(study, true).catch((error) => error);
    button.disabled = false;
    if (open instanceof Error) {
      drawing.textContent = `${sentence(open.message)} Nothing was drawn. Please try again in a moment.`;
      return;
    }
    if (!open) return;
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

// ----------------------------------------------------------------------------------------------- the course
const day = (moment) => new Date(moment).toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" });

/** Return why a study takes no answers now, by this device's clock and by its collector's word; "" if it does. */
function closedNow({ opens, closes }, status) {
  const now = new Date().toISOString();
  if (closes !== null && now >= closes) return `The study closed on ${day(closes)}. Thank you for your interest.`;
  if (status === "closed" || status === "sealed") {
    return "The study is closed and takes no more answers. Thank you for your interest.";
  }
  if (opens !== null && now < opens) return `The study opens on ${day(opens)}.`;
  return status === "not open yet" ? "The study is not open yet." : "";
}

/**
 * Tell whether the study takes answers now; if not, say so in place of the form.
 *
 * Asked before anything is, and once more right before an answer is drawn: a draw for a study that has closed would
 * spend privacy on nothing.
 */
async function takesAnswers(study, asked = false) {
  const found = await studyStatus(study, collector);
  const reason = closedNow(study, found.status);
  if (!reason) return true;
  const meanwhile = asked ? " That happened while you were here. Nothing was drawn, and nothing was sent." : "";
  get("status").replaceChildren(reason + meanwhile);
  if (found.results === "public") {
    const results = new URL(`studies/${study.digest}`, collector).href;
    get("status").append(" ", make("a", { href: results }, "See its results"), ".");
  }
  get("form").reset();
  get("fields").replaceChildren();
  show("form", false);
  if (asked) get("status").focus();
  return false;
}

/** Show the answer of an earlier visit, and send it if the person wanted that. */
async function resume(study, record) {
  review(study, record, record);
  get("status").textContent =
    record.state === "delivered"
      ? "You have answered this study in this browser before."
      : "Your answer was drawn on an earlier visit.";
  if (record.state !== "pending") return;
  if (record.wanted) return submit(study, record);
  const found = await studyStatus(study, collector).catch(() => null);
  if (found && closedNow(study, found.status)) {
    get("status").textContent =
      "The study closed before you sent your answer. It is not counted, and nothing is left to do.";
    for (const id of ["send-buttons", "rather-not"]) show(id, false);
  }
}

async function main() {
  get("unable").remove();
  get("status").textContent = "Checking the study on this device…";
  const study = await loadStudy(new URL(`studies/${digest}`, collector), { digest });
  const record = await ledger.recall(study.digest);
  if (!study.site) describe(study);
  await showLimits();
  if (record) return resume(study, record);
  checkAble(study, ""); // before anything is asked; a ticket comes with the form
  if (!(await takesAnswers(study))) return;
  get("status").textContent = study.closes === null ? "" : `The study takes answers until ${day(study.closes)}.`;
  ask(study);
}

addEventListener("pagehide", () => get("form").reset()); // nothing typed may come back with the page
main().catch(refuse);
