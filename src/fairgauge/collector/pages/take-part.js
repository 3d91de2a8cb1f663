/** The page where a person takes part: asks, randomises on this device, shows what would leave it, then sends that. */
import {
  FairgaugeError,
  checkAble,
  factorsOf,
  fetchToken,
  loadStudy,
  roundedUp,
  studyStatus,
  tokenId,
} from "./fairgauge-client.js";
import { review, submit } from "./take-part-answer.js";
import { describeCrowd, spentTowardsReaders } from "./take-part-crowd.js";
import { groupField, limitField, ticketField, valueField } from "./take-part-fields.js";
import { frame } from "./take-part-frame.js";
import { Told, describe } from "./take-part-study.js";
import { Visit, make, unique } from "./take-part-visit.js";
import { STYLE } from "./style.js";

const MEANINGS = {
  NotPrivate: "stop.not-private",
  BadStudy: "stop.another",
  BadTable: "stop.another",
  InvalidInput: "stop.not-loaded",
};

/** Say why the page goes no further: what it means for a person, then what exactly was found. */
function refuse(visit, error) {
  const known = error instanceof FairgaugeError;
  const meaning = known ? MEANINGS[error.name] : "stop.fault";
  const first = [...(meaning ? [visit.say(meaning)] : []), visit.say("stop.nothing")].join(" ");
  visit.get("status").replaceChildren();
  visit.get("problem").replaceChildren(make(visit.part, {}, visit.say("stop.title")), make("p", {}, first));
  if (known) visit.get("problem").append(make("p", {}, visit.explain(error)));
  for (const id of ["who", "privacy", "form"]) visit.show(id, false);
  visit.show("problem");
  if (!known) throw error;
}

// ---------------------------------------------------------------------------------------------- the limits
/** Show what this browser will spend and has spent, and let the person lower it. */
async function showLimits(visit) {
  const { ledger, words } = visit;
  const { study, lifetime } = await ledger.limits();
  const spent = roundedUp(await ledger.spent(), 6);
  const amounts = Object.entries({ study, lifetime, spent }).map(([name, amount]) => [name, words.numeral(amount)]);
  visit.get("limits-now").textContent = visit.say("limits.now", Object.fromEntries(amounts));
  visit.get("limits-readers").textContent = await spentTowardsReaders(visit);
  const fields = [limitField(words, "study", study), limitField(words, "lifetime", lifetime)];
  visit.get("limit-fields").replaceChildren(...fields.map(({ element }) => element));
  visit.get("lower").onsubmit = async (event) => {
    event.preventDefault();
    const bad = fields.filter((field) => !field.check());
    if (bad.length) return bad[0].focus();
    await ledger.lower(Object.fromEntries(fields.map((field) => [field.name, field.read()])));
    await showLimits(visit);
    visit.get("lowered").textContent = visit.say("limits.kept");
  };
}

// ------------------------------------------------------------------------------------------------ the form
function ask(visit, study, told) {
  const { ledger, words } = visit;
  const attributes = unique(study.attributes.flatMap(factorsOf), ({ name }) => name);
  const asksFor = { attribute: (q) => factorsOf(q.attribute), metric: (q) => [q.metric] };
  const silent = (kind, name) =>
    study.questions
      .filter((question) => asksFor[kind](question).some((one) => one.name === name))
      .every((question) => question.channel.abstain);
  const groups = attributes.map((attribute, i) => {
    const { name } = attribute;
    return groupField(words, { attribute, told: told.factors.get(name), silent: silent("attribute", name) }, i);
  });
  const values = study.metrics.map(({ name }, i) => {
    const ranges = study.questions.map(({ metric }) => metric).filter((metric) => metric.name === name);
    return valueField(words, { ranges, told: told.metrics.get(name), silent: silent("metric", name) }, i);
  });
  const ticket = ["tickets", "blind"].includes(study.admission) ? ticketField(words, visit.ticket) : null;
  const fields = [...groups, ...values, ...(ticket ? [ticket] : [])];
  visit.get("fields").replaceChildren(...fields.map(({ element }) => element));
  const coin = study.tables.some(({ length }) => length > 1) ? "form.coin-sets" : "form.coin";
  const count = study.tables.length;
  visit.get("coin").textContent = count > 1 ? visit.say(coin, { count }) : "";
  visit.get("form").onsubmit = async (event) => {
    event.preventDefault();
    const bad = fields.filter((field) => !field.check());
    if (bad.length) return bad[0].focus();
    const profile = {
      group: Object.fromEntries(groups.map((field) => [field.name, field.read()])),
      values: Object.fromEntries(values.map((field) => [field.name, field.read()])),
    };
    const [button, drawing] = [visit.get("draw"), visit.get("drawing")];
    button.disabled = true;
    drawing.replaceChildren();
    let shown = ticket?.read() ?? null;
    const open = await takesAnswers(visit, study, true)
      .then(async (takes) => {
        if (takes && study.admission === "blind") {
          // This page is the collector's, and says that it sends straight to it: it is no witness of the study.
          const issuer = `https://${study.issuer.name}`;
          shown = await tokenId(await fetchToken(ledger, study, shown, { issuer }));
        }
        return takes;
      })
      .catch((error) => error);
    button.disabled = false;
    if (open instanceof Error) {
      drawing.replaceChildren(visit.explain(open), " ", visit.say("form.not-drawn"));
      return;
    }
    if (!open) return;
    try {
      // The names are the study's, not the person's: all answers on this site are within one limit.
      const answer = await ledger.answer(study, profile, { ticket: shown, straight: true, named: false });
      visit.get("form").reset(); // not event.target: after an await that is the host of the shadow
      visit.get("fields").replaceChildren();
      visit.show("form", false);
      await showLimits(visit);
      review(visit, study, answer, await ledger.recall(study.digest));
      visit.get("ready-title").focus();
    } catch (error) {
      refuse(visit, error);
    }
  };
  visit.show("form");
}

// ----------------------------------------------------------------------------------------------- the course
/** Return why a study takes no answers now, by this device's clock and by its collector's word; "" if it does. */
function closedNow(visit, { opens, closes }, status) {
  const [now, day] = [new Date().toISOString(), (moment) => ({ moment: visit.words.day(moment) })];
  if (closes !== null && now >= closes) return visit.say("state.closed-on", day(closes));
  if (status === "closed" || status === "sealed") return visit.say("state.closed");
  if (opens !== null && now < opens) return visit.say("state.opens-on", day(opens));
  return status === "not open yet" ? visit.say("state.not-open") : "";
}

/**
 * Tell whether the study takes answers now; if not, say so in place of the form.
 *
 * Asked before anything is, and once more right before an answer is drawn: a draw for a study that has closed would
 * spend privacy on nothing.
 */
async function takesAnswers(visit, study, asked = false) {
  const found = await studyStatus(study, visit.collector, { straight: true });
  const reason = closedNow(visit, study, found.status);
  if (!reason) return true;
  visit.get("status").replaceChildren(reason, ...(asked ? [" ", visit.say("state.meanwhile")] : []));
  if (found.results === "public") {
    const href = visit.results(new URL(`studies/${study.digest}`, visit.collector));
    visit.get("status").append(" ", make("a", { href }, visit.say("state.results")), ".");
  }
  visit.get("form").reset();
  visit.get("fields").replaceChildren();
  visit.show("form", false);
  if (asked) visit.get("status").focus();
  return false;
}

/** Show the answer of an earlier visit, and send it if the person wanted that. */
async function resume(visit, study, record) {
  review(visit, study, record, record);
  const status = visit.get("status");
  status.textContent = visit.say(record.state === "delivered" ? "state.answered" : "state.drawn");
  if (record.state !== "pending") return;
  if (record.wanted) return submit(visit, study, record);
  const found = await studyStatus(study, visit.collector, { straight: true }).catch(() => null);
  if (found && closedNow(visit, study, found.status)) {
    status.textContent = visit.say("state.late");
    for (const id of ["send-buttons", "rather-not"]) visit.show(id, false);
  }
}

async function main(visit) {
  const { collector, digest } = visit;
  visit.get("status").textContent = visit.say("page.checking");
  const study = await loadStudy(new URL(`studies/${digest}`, collector), { digest });
  const told = new Told(study, visit.words);
  const record = await visit.ledger.recall(study.digest);
  if (!study.counts) {
    describe(visit, study, told);
    await describeCrowd(visit, study);
    visit.tell("loaded", { title: visit.say("page.title", { title: told.title }) });
  }
  await showLimits(visit);
  if (record) return resume(visit, study, record);
  checkAble(study, ""); // before anything is asked; a ticket comes with the form
  if (!(await takesAnswers(visit, study))) return;
  const until = study.closes === null ? "" : visit.say("state.until", { moment: visit.words.day(study.closes) });
  visit.get("status").textContent = until;
  ask(visit, study, told);
}

// ------------------------------------------------------------------------------------------------ the element
const style = new CSSStyleSheet();
style.replaceSync(STYLE);

/**
 * <fairgauge-study src="https://collector.example/studies/1f0c…">: asks, randomises here, shows, and sends.
 *
 * Attributes: `src`, the study's address, whose digest the study must have; `ticket`, one that the person brought along;
 * `heading`, the level of its title, 2 unless you say otherwise; `lang`, the person's language, else that of what is
 * around it.  Events: `fairgauge-loaded` and `fairgauge-sent`, whose details hold the study's digest and nothing else
 * that is of a person.
 */
export class FairgaugeStudy extends HTMLElement {
  static observedAttributes = ["src", "lang"];

  #visit = null;

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [style];
    // Nothing typed may come back with the page.
    addEventListener("pagehide", () => this.#visit?.get("form")?.reset());
  }

  connectedCallback() {
    this.replaceChildren(); // what was there for browsers without JavaScript
    this.#start();
  }

  attributeChangedCallback(name, before, now) {
    if (this.isConnected && before !== now && this.#visit) this.#start();
  }

  #start() {
    const root = make("div", { className: "take-part" });
    const address = new URL(this.getAttribute("src") ?? "", this.baseURI);
    const [, collector, digest] = /^(.*\/)studies\/([0-9a-f]{64})\/?$/.exec(address.href) ?? [null, address.href, ""];
    const visit = new Visit({
      root,
      collector,
      digest,
      wanted: [this.closest("[lang]")?.lang ?? "", ...navigator.languages],
      ticket: this.getAttribute("ticket"),
      level: Number(this.getAttribute("heading") ?? 2),
    });
    visit.tell = (name, detail = {}) => {
      const event = { bubbles: true, composed: true, detail: { study: digest, ...detail } };
      this.dispatchEvent(new CustomEvent(`fairgauge-${name}`, event));
    };
    Object.assign(root, { lang: visit.words.tag, dir: visit.words.direction });
    root.append(...frame(visit));
    this.shadowRoot.replaceChildren(root);
    this.#visit = visit;
    main(visit).catch((error) => refuse(visit, error));
  }
}

// A page may load the script twice.
if (!customElements.get("fairgauge-study")) customElements.define("fairgauge-study", FairgaugeStudy);
