/** The fields of the page where a person takes part: how each looks, is read, and complains. */
import { LIMITS, atMost, decimal, position, ratio } from "./fairgauge-client.js";
import { make } from "./take-part-visit.js";
import { plainDigits } from "./take-part-words.js";

const MOST_BUTTONS = 8; // more groups than this are a list to pick from

/** What a field complains about, in the person's words. */
class Complaint extends Error {}

/** A part of the form: its element, how to read it, and how to complain about it. */
function field(element, target, name, read) {
  const complaint = make("p", { className: "complaint", id: `complaint-${name}` });
  if (target === element) element.append(complaint);
  else target.after(complaint);
  target.setAttribute("aria-describedby", `${target.getAttribute("aria-describedby") ?? ""} ${complaint.id}`.trim());
  const check = () => {
    let text = "";
    try {
      read();
    } catch (error) {
      if (!(error instanceof Complaint)) throw error;
      text = error.message;
    }
    complaint.textContent = text;
    target.setAttribute("aria-invalid", String(Boolean(text)));
    return !text;
  };
  // While typing, not when the field is left: the button would move away under the finger that presses it.
  element.addEventListener("input", () => complaint.textContent && check());
  return { element, read, check, focus: () => (target.querySelector?.("input") ?? target).focus() };
}

/** What the study says about a field, for the person who fills it in: none or one element. */
function helped({ help, language }, target, id) {
  if (help === null) return [];
  target.setAttribute("aria-describedby", `${id}-help ${target.getAttribute("aria-describedby") ?? ""}`.trim());
  return [make("p", { className: "help", id: `${id}-help`, dir: "auto", lang: language }, help)];
}

/** Buttons to pick a group, or a list where there are many; `told` is the attribute in the person's language. */
export function groupField(words, { attribute, told, silent }, number) {
  const { language } = told;
  const options = told.groups.map((group, i) => [String(i), group, language]);
  if (silent) options.push(["", words.say("group.silent"), words.tag]);
  const pick = (picked) => {
    if (picked === null || picked === undefined) {
      throw new Complaint(words.capital(words.say("group.missing", { name: told.name })));
    }
    return picked === "" ? null : attribute.groups[Number(picked)];
  };
  const which = words.capital(words.say("group.which", { name: told.name }));
  if (told.groups.length > MOST_BUTTONS) {
    const id = `group-${number}`;
    const select = make("select", { id, autocomplete: "off" });
    select.append(make("option", { value: "?" }, words.say("group.pick")));
    select.append(...options.map(([value, text, lang]) => make("option", { value, lang, dir: "auto" }, text)));
    const hint = helped(told, select, id);
    const read = () => pick(select.value === "?" ? null : select.value);
    const element = make("div", { className: "field" }, make("label", { htmlFor: id }, which), ...hint, select);
    return { ...field(element, select, id, read), name: attribute.name };
  }
  const set = make("fieldset", { className: "field", role: "radiogroup" }, make("legend", {}, which));
  set.append(...helped(told, set, `group-${number}`));
  const choices = options.map(([value, text, lang]) => {
    const input = make("input", { type: "radio", name: `group-${number}`, value, autocomplete: "off" });
    return make("label", { className: "choice" }, input, make("span", { lang, dir: "auto" }, text));
  });
  set.append(make("div", { className: "choices" }, ...choices));
  const read = () => pick(set.querySelector("input:checked")?.value);
  return { ...field(set, set, `group-${number}`, read), name: attribute.name };
}

/** A number, or none where that is allowed; `ranges` has every range that the study has for this metric. */
export function valueField(words, { ranges, told, silent }, number) {
  const [{ name, low, high }] = ranges;
  const id = `value-${number}`;
  const countable = low === "0" && high === "1";
  const behind = told.unit === null ? "" : ` ${told.unit}`;
  const between = { low: words.numeral(low), high: words.numeral(high) + behind };
  const ways = {
    ...between,
    fraction: `${words.numeral("83")}/${words.numeral("100")}`,
    decimal: words.numeral("0.83"),
    percent: words.percent(0.83),
    hundred: words.numeral("83"),
  };
  const input = make("input", { id, type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false });
  input.dir = "ltr"; // numbers are written from left to right everywhere
  input.setAttribute("aria-describedby", `${id}-hint`);
  const label = make("label", { htmlFor: id }, words.say("value.yours", { name: told.name }));
  const element = make("div", { className: "field" }, label, ...helped(told, input, id), input);
  const hint = words.say(countable ? "value.hint-part" : "value.hint", ways);
  element.append(make("span", { className: "hint", id: `${id}-hint` }, hint));
  const none = make("input", { type: "checkbox", autocomplete: "off" });
  if (silent) element.append(make("label", { className: "choice" }, none, make("span", {}, words.say("value.silent"))));
  none.onchange = () => (input.disabled = none.checked);
  if (countable) element.append(counts(words, input, number));
  const complain = (key) => new Complaint(words.capital(words.say(key, { name: told.name, ...ways })));
  const read = () => {
    if (none.checked) return null;
    const text = plainDigits(input.value);
    const value = countable ? (percentage(text) ?? typed(text)) : typed(text);
    if (countable && looksLikePercent(value)) throw complain("value.percent");
    if (!countable && text.includes("%")) throw complain("value.no-percent");
    try {
      ranges.forEach((range) => position(range, value));
    } catch {
      throw complain("value.range"); // says what is wrong, without the value
    }
    return value;
  };
  return { ...field(element, input, id, read), name };
}

/** Two counts that fill in the value as an exact fraction. */
function counts(words, input, number) {
  const [part, whole] = ["part", "whole"].map((name) =>
    make("input", { id: `${name}-${number}`, type: "text", inputMode: "numeric", autocomplete: "off", size: 6 }),
  );
  const fill = () => {
    if (part.value.trim() && whole.value.trim()) {
      input.value = `${part.value.trim()}/${whole.value.trim()}`;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  const rows = [
    [part, "value.part"],
    [whole, "value.whole"],
  ].flatMap(([count, key]) => {
    Object.assign(count, { oninput: fill, dir: "ltr" });
    return [make("label", { htmlFor: count.id }, words.say(key)), count];
  });
  const summary = make("summary", {}, words.say("value.counts"));
  return make("details", { className: "counts" }, summary, make("div", { className: "sum" }, ...rows));
}

/** Return the exact ratio that a percentage such as "83 %" or "83,5%" is, or null. */
function percentage(text) {
  const [, before, whole, places = "", after] =
    /^\s*(%?)\s*(\d{1,3})(?:[.,](\d{1,30}))?\s*(%?)\s*$/.exec(text) ?? [];
  if (whole === undefined || Boolean(before) === Boolean(after)) return null; // some languages write it before
  return ratio(whole + places, `100${"0".repeat(places.length)}`);
}

/** Tell whether a number that should be at most 1 was probably meant to be one in 100. */
function looksLikePercent(value) {
  if (typeof value !== "string" || !/^\s*\d{1,3}(\.\d*)?\s*$/.test(value)) return false;
  return Number(value) >= 2 && Number(value) <= 100;
}

/** Return a value as a person types it: 0.83, 0,83 or 83/100; see `percentage` for 83 %. */
function typed(text) {
  const [, part, whole] = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(text) ?? [];
  if (whole && !/^0+$/.test(whole)) return ratio(part, whole);
  return text.replace(/^(\s*[+-]?\d*),(\d+\s*)$/, "$1.$2");
}

/** A field for a limit, which may be lowered and not raised above the usual one. */
export function limitField(words, name, now) {
  const most = LIMITS[name];
  const input = make("input", { id: `limit-${name}`, type: "text", inputMode: "decimal", autocomplete: "off" });
  Object.assign(input, { value: words.numeral(now), dir: "ltr" });
  const label = make("label", { htmlFor: input.id }, words.say(`limits.${name}`));
  const read = () => {
    const limit = typed(plainDigits(input.value).trim());
    if (typeof limit !== "string" || !/^\d{1,2}(\.\d{1,20})?$/.test(limit) || !atMost(decimal(limit), most)) {
      throw new Complaint(words.say("limits.wrong", { most: words.numeral(most) }));
    }
    return limit;
  };
  return { ...field(make("div", { className: "field" }, label, input), input, input.id, read), name };
}

/** A field for a ticket, which may have come with the page's address. */
export function ticketField(words, given) {
  const input = make("input", { id: "ticket", type: "text", autocomplete: "off", spellcheck: false, dir: "ltr" });
  input.value = given ?? "";
  const hint = make("span", { className: "hint", id: "ticket-hint" }, words.say("ticket.hint"));
  input.setAttribute("aria-describedby", hint.id);
  const label = make("label", { htmlFor: input.id }, words.say("ticket.yours"));
  const read = () => {
    const ticket = plainDigits(input.value).trim().toLowerCase();
    if (!/^[0-9a-f]{32}$/.test(ticket)) throw new Complaint(words.say("ticket.wrong"));
    return ticket;
  };
  return { ...field(make("div", { className: "field" }, label, input, hint), input, "ticket", read), name: "ticket" };
}
