/** The page where a person takes part: asks, randomises on this device, shows what would leave it, then sends that. */
import {
  AnswerRefused,
  FairgaugeError,
  Memory,
  answerBytes,
  deliver,
  loadStudy,
  position,
  ratio,
  roundedUp,
} from "./fairgauge-client.js";

const MOST_BUTTONS = 8; // more groups than this are a list to pick from
const PATIENCE = { tries: 4, first: 1, longest: 20 };

const memory = new Memory();
const collector = new URL("../..", location.href).href;
const digest = location.pathname.split("/").at(-2);
const get = (id) => document.getElementById(id);
const ticketGiven = takeTicket();

/** Return a new element with properties and children; texts stay texts. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** A link may bring a ticket after "#", which browsers keep to themselves; it is taken out of the address. */
function takeTicket() {
  const found = /^#ticket=([0-9a-f]{32})$/.exec(location.hash);
  if (location.hash) history.replaceState(null, "", location.pathname);
  return found?.[1] ?? null;
}

function show(id, visible = true) {
  get(id).hidden = !visible;
}

/** Say why the page goes no further. */
function refuse(error) {
  const known = error instanceof FairgaugeError;
  const reason = known ? sentence(error.message) : "This page has a fault. Nothing was sent.";
  get("status").textContent = "";
  get("problem").replaceChildren(make("h2", {}, "This page will not answer"), make("p", {}, reason));
  for (const id of ["privacy", "form"]) show(id, false);
  show("problem");
  if (!known) throw error;
}

function sentence(text) {
  const start = /^[a-z]+ /.test(text) ? text[0].toUpperCase() : text[0]; // "format=2" stays as it is
  return `${start}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

const unique = (items, key) => [...new Map(items.map((item) => [key(item), item])).values()];

// ------------------------------------------------------------------------------------------- what is asked
function describe(study) {
  document.title = `Take part · ${study.title}`;
  get("title").textContent = study.title;
  const asked = study.questions.map(
    ({ metric, attribute }) => `Does the model’s ${metric.name} differ between ${list(attribute.groups)}?`,
  );
  get("asks").textContent = asked.length > 1 ? "" : asked[0];
  if (asked.length > 1) get("asks").after(make("ul", { className: "asks" }, ...asked.map((text) => make("li", {}, text))));
  const about = unique(study.questions.flatMap(({ metric, attribute }) => [attribute.name, metric.name]), String);
  const factor = roundedUp(study.loss, 2);
  get("promise").replaceChildren(
    "Your group and your number stay on this device. What leaves it is one symbol, picked partly by chance. Whoever sees ",
    "it, those who run the study included, can change their odds about ",
    `${list(about.map((name) => `your ${name}`))} by at most `,
    make("strong", {}, `a factor of ${factor}`),
    ", whatever else they know about you.",
  );
  get("odds").replaceChildren(...odds(study));
  get("checks").replaceChildren(
    make("li", {}, "The study is the one that this address names. Its digest, computed here, is ", make("code", {}, study.digest), "."),
    ...study.questions.map(({ metric, attribute, epsilon, channel }) =>
      make("li", {}, `${metric.name} by ${attribute.name}: the exact epsilon, computed here from the study’s table, is ` +
        `${roundedUp(channel.epsilon, 6)}. The study declares ${epsilon}, so it keeps its word.`)),
    make("li", {}, "Chance comes from your browser’s secure source, and no rounded numbers are involved."),
  );
  show("privacy");
}

/** A picture of someone's odds before and after, at worst. */
function odds({ loss }) {
  const part = (100 * Number((loss.n * 10000n) / (loss.n + loss.d))) / 10000;
  const after = Math.min(99, Math.ceil(part));
  const rows = [["before", 50], ["after, at most", after]];
  const spoken = `Someone who thought 50 to 50 whether you belong to one group or the other thinks at most ${after} to ` +
    `${100 - after} after seeing your answer.`;
  const bars = rows.map(([name, percent], i) => {
    const most = make("span", { className: i ? "most" : "half" }, String(percent));
    most.style.width = `${percent}%`;
    return [make("span", {}, name), make("div", { className: "bar" }, most, make("span", { className: "rest" }, String(100 - percent)))];
  });
  const picture = make("div", { className: "bars", role: "img", "aria-label": spoken }, ...bars.flat());
  return [make("figcaption", {}, spoken), picture];
}

// ------------------------------------------------------------------------------------------------ the form
function ask(study) {
  const attributes = unique(study.questions.map(({ attribute }) => attribute), ({ name }) => name);
  const metrics = unique(study.questions.map(({ metric }) => metric), ({ name }) => name);
  const silent = (kind, name) => study.questions.filter((q) => q[kind].name === name).every((q) => q.channel.abstain);
  const groups = attributes.map((one, i) => groupField(one, i, silent("attribute", one.name)));
  const ranges = (name) => study.questions.map(({ metric }) => metric).filter((metric) => metric.name === name);
  const values = metrics.map((one, i) => valueField(ranges(one.name), i, silent("metric", one.name)));
  const ticket = study.admission === "tickets" ? ticketField() : null;
  const fields = [...groups, ...values, ...(ticket ? [ticket] : [])];
  get("fields").replaceChildren(...fields.map(({ element }) => element));
  get("coin").textContent = study.questions.length > 1
    ? `Your browser answers one of the ${study.questions.length} questions, picked by its own coin.`
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
      const answer = await memory.answer(study, profile, { ticket: ticket?.read() ?? null });
      event.target.reset();
      get("fields").replaceChildren();
      show("form", false);
      review(study, answer, await memory.recall(study.digest));
      get("ready-title").focus();
    } catch (error) {
      refuse(error);
    }
  };
  show("form");
}

/** A part of the form: its element, how to read it, and how to complain about it. */
function field(element, target, name, read) {
  const complaint = make("p", { className: "complaint", id: `complaint-${name}` });
  element.append(complaint);
  target.setAttribute("aria-describedby", `${target.getAttribute("aria-describedby") ?? ""} ${complaint.id}`.trim());
  const check = () => {
    let text = "";
    try {
      read();
    } catch (error) {
      text = sentence(error.message);
    }
    complaint.textContent = text;
    target.setAttribute("aria-invalid", String(Boolean(text)));
    return !text;
  };
  // While typing, not when the field is left: the button would move away under the finger that presses it.
  element.addEventListener("input", () => complaint.textContent && check());
  return { element, read, check, focus: () => (target.querySelector?.("input") ?? target).focus() };
}

function groupField(attribute, number, silent) {
  const options = attribute.groups.map((group, i) => [String(i), group]);
  if (silent) options.push(["", "I prefer not to say"]);
  const pick = (picked) => {
    if (picked === null || picked === undefined) throw new Error(`Please pick your ${attribute.name}`);
    return picked === "" ? null : attribute.groups[Number(picked)];
  };
  if (attribute.groups.length > MOST_BUTTONS) {
    const select = make("select", { id: `group-${number}`, autocomplete: "off" }, make("option", { value: "?" }, "Please pick"));
    select.append(...options.map(([value, text]) => make("option", { value }, text)));
    const label = make("label", { htmlFor: select.id }, `Your ${attribute.name}`);
    const read = () => pick(select.value === "?" ? null : select.value);
    return { ...field(make("div", { className: "field" }, label, select), select, select.id, read), name: attribute.name };
  }
  const set = make("fieldset", { className: "field", role: "radiogroup" }, make("legend", {}, `Your ${attribute.name}`));
  const choices = options.map(([value, text]) => {
    const input = make("input", { type: "radio", name: `group-${number}`, value, autocomplete: "off" });
    return make("label", { className: "choice" }, input, make("span", {}, text));
  });
  set.append(make("div", { className: "choices" }, ...choices));
  const read = () => pick(set.querySelector("input:checked")?.value);
  return { ...field(set, set, `group-${number}`, read), name: attribute.name };
}

function valueField(ranges, number, silent) {
  const [{ name, low, high }] = ranges;
  const id = `value-${number}`;
  const countable = low === "0" && high === "1";
  const hint = `A number from ${low} to ${high}` + (countable ? ", or a fraction such as 83/100." : ".");
  const input = make("input", { id, type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-describedby", `${id}-hint`);
  const element = make("div", { className: "field" }, make("label", { htmlFor: id }, `Your ${name}`), input);
  element.append(make("span", { className: "hint", id: `${id}-hint` }, hint));
  const none = make("input", { type: "checkbox", autocomplete: "off" });
  if (silent) element.append(make("label", { className: "choice" }, none, make("span", {}, "I prefer not to say, or have none")));
  none.onchange = () => (input.disabled = none.checked);
  if (countable) element.append(counts(input, number));
  const read = () => {
    if (none.checked) return null;
    const value = typed(input.value);
    ranges.forEach((range) => position(range, value)); // says what is wrong, without the value
    return value;
  };
  return { ...field(element, input, id, read), name };
}

/** Two counts that fill in the value as an exact fraction. */
function counts(input, number) {
  const [part, whole] = ["part", "whole"].map((name) =>
    make("input", { id: `${name}-${number}`, type: "text", inputMode: "numeric", autocomplete: "off", size: 6 }));
  const fill = () => {
    if (part.value.trim() && whole.value.trim()) {
      input.value = `${part.value.trim()}/${whole.value.trim()}`;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  part.oninput = fill;
  whole.oninput = fill;
  return make("details", { className: "counts" }, make("summary", {}, "Work it out from counts"),
    make("div", { className: "sum" },
      make("label", { htmlFor: part.id }, "How many were right"), part,
      make("label", { htmlFor: whole.id }, "Out of how many"), whole));
}

/** Return a value as a person types it: 0.83, 0,83 or 83/100. */
function typed(text) {
  const [, part, whole] = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(text) ?? [];
  if (whole && !/^0+$/.test(whole)) return ratio(part, whole);
  return text.replace(/^(\s*[+-]?\d*),(\d+\s*)$/, "$1.$2");
}

function ticketField() {
  const input = make("input", { id: "ticket", type: "text", autocomplete: "off", spellcheck: false, value: ticketGiven ?? "" });
  const hint = make("span", { className: "hint", id: "ticket-hint" }, "32 letters and digits, which you were given. It shows that you may answer, and counts once.");
  input.setAttribute("aria-describedby", hint.id);
  const element = make("div", { className: "field" }, make("label", { htmlFor: input.id }, "Your ticket"), input, hint);
  const read = () => {
    const ticket = input.value.trim().toLowerCase();
    if (!/^[0-9a-f]{32}$/.test(ticket)) throw new Error("A ticket has 32 digits and letters from a to f");
    return ticket;
  };
  return { ...field(element, input, "ticket", read), name: "ticket" };
}

// ------------------------------------------------------------------------------------ what leaves the device
const STATES = { pending: "not sent yet", delivered: "sent and counted", refused: "refused by the collector" };

/** Show the very bytes of an answer, and let the person send them. */
function review(study, answer, record) {
  const bytes = answerBytes(answer);
  get("bytes").textContent = new TextDecoder().decode(bytes);
  get("memory").replaceChildren(
    ...[["study", answer.study], ["id", answer.id], ["symbol", String(answer.symbol)], ["cost", `epsilon ${roundedUp(study.epsilon, 6)}`], ["state", STATES[record.state]]]
      .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, make("code", {}, value))]),
  );
  const delivered = record.state === "delivered";
  const refused = record.state === "refused";
  get("ready-title").textContent = delivered ? "Thank you. You have taken part." : refused ? "The collector did not take it" : "This is what will leave your device";
  get("ready-text").textContent = delivered
    ? "Your answer is counted. These bytes are all that was sent:"
    : refused
      ? "Your browser keeps the answer and will not draw another one. These bytes were sent:"
      : `These ${bytes.length} bytes, and nothing else that you entered: the study’s name, ${answer.id === ticketGiven ? "your ticket" : "a random number that keeps your answer from being counted twice"}, and the symbol.`;
  get("ready-more").textContent = delivered || refused
    ? ""
    : "As with every page that you open, the collector’s computer sees your network address and your browser’s name while you send it. The symbol was drawn once and is stored in this browser: sending it again, or another visit, sends the same one. If you would rather not send it, close this page.";
  show("send-buttons", record.state === "pending");
  get("send").onclick = () => submit(study, answer);
  get("status").textContent = "";
  show("ready");
}

async function submit(study, answer) {
  get("send").disabled = true;
  get("sending").textContent = "Sending…";
  try {
    await deliver(memory, answer, collector, PATIENCE);
    get("sending").textContent = "";
  } catch (error) {
    const text = error instanceof FairgaugeError ? sentence(error.message) : "It could not be sent.";
    const again = error instanceof AnswerRefused ? "" : " It is kept here, and you can try again.";
    get("sending").textContent = `${text}${again}`;
  }
  get("send").disabled = false;
  review(study, answer, await memory.recall(study.digest));
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
  const record = await memory.recall(study.digest);
  describe(study);
  if (record) {
    review(study, record, record);
    get("status").textContent = record.state === "delivered" ? "You have answered this study in this browser before." : "Your answer was drawn on an earlier visit.";
    return;
  }
  get("status").textContent = closedNow(study);
  if (!closedNow(study)) ask(study);
}

addEventListener("pagehide", () => get("form").reset()); // nothing typed may come back with the page
main().catch(refuse);
