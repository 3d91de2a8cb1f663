/** The fields of the page where a person takes part: how each looks, is read, and complains. */
import { Ledger, atMost, decimal, position, ratio } from "./fairgauge-client.js";

const MOST_BUTTONS = 8; // more groups than this are a list to pick from

export const ledger = new Ledger();
export const collector = new URL("../..", location.href).href;
export const get = (id) => document.getElementById(id);

export function show(id, visible = true) {
  get(id).hidden = !visible;
}

/** Return a new element with properties and children; texts stay texts. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Return an error's text as a sentence. */
export function sentence(text) {
  const start = /^[a-z]+ /.test(text) ? text[0].toUpperCase() : text[0]; // "format=2" stays as it is
  return `${start}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

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

const which = ({ name }) => `By ${name}, which group are you in?`;

/** What the study says about a field, for the person who fills it in: none or one element. */
function helped({ help = null }, target, id) {
  if (help === null) return [];
  target.setAttribute("aria-describedby", `${id}-help ${target.getAttribute("aria-describedby") ?? ""}`.trim());
  return [make("p", { className: "help", id: `${id}-help` }, help)];
}

/** Buttons to pick a group, or a list where there are many. */
export function groupField(attribute, number, silent) {
  const options = attribute.groups.map((group, i) => [String(i), group]);
  if (silent) options.push(["", "Prefer not to say"]);
  const pick = (picked) => {
    if (picked === null || picked === undefined) throw new Error(`Please pick a group by ${attribute.name}`);
    return picked === "" ? null : attribute.groups[Number(picked)];
  };
  if (attribute.groups.length > MOST_BUTTONS) {
    const select = make(
      "select",
      { id: `group-${number}`, autocomplete: "off" },
      make("option", { value: "?" }, "Please pick"),
    );
    select.append(...options.map(([value, text]) => make("option", { value }, text)));
    const label = make("label", { htmlFor: select.id }, which(attribute));
    const hint = helped(attribute, select, select.id);
    const read = () => pick(select.value === "?" ? null : select.value);
    return {
      ...field(make("div", { className: "field" }, label, ...hint, select), select, select.id, read),
      name: attribute.name,
    };
  }
  const set = make(
    "fieldset",
    { className: "field", role: "radiogroup" },
    make("legend", {}, which(attribute)),
  );
  set.append(...helped(attribute, set, `group-${number}`));
  const choices = options.map(([value, text]) => {
    const input = make("input", { type: "radio", name: `group-${number}`, value, autocomplete: "off" });
    return make("label", { className: "choice" }, input, make("span", {}, text));
  });
  set.append(make("div", { className: "choices" }, ...choices));
  const read = () => pick(set.querySelector("input:checked")?.value);
  return { ...field(set, set, `group-${number}`, read), name: attribute.name };
}

/** A number, or none where that is allowed; `ranges` has every range that the study has for this metric. */
export function valueField(ranges, number, silent) {
  const [{ name, low, high }] = ranges;
  const id = `value-${number}`;
  const countable = low === "0" && high === "1";
  const ways = countable ? ", a fraction such as 83/100, or a percentage such as 83 %." : ".";
  const hint = `A number from ${low} to ${high}${ways}`;
  const input = make("input", { id, type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-describedby", `${id}-hint`);
  const element = make("div", { className: "field" }, make("label", { htmlFor: id }, `Your ${name}`));
  element.append(...helped(ranges[0], input, id), input);
  element.append(make("span", { className: "hint", id: `${id}-hint` }, hint));
  const none = make("input", { type: "checkbox", autocomplete: "off" });
  if (silent)
    element.append(make("label", { className: "choice" }, none, make("span", {}, "Prefer not to say, or have none")));
  none.onchange = () => (input.disabled = none.checked);
  if (countable) element.append(counts(input, number));
  const read = () => {
    if (none.checked) return null;
    const value = countable ? (percentage(input.value) ?? typed(input.value)) : typed(input.value);
    if (countable && looksLikePercent(value)) {
      throw new Error(`${name} must be a number from 0 to 1: for 83 in 100 write 0.83 or 83 %`);
    }
    if (!countable && input.value.includes("%")) {
      throw new Error(`${name} must be a number from ${low} to ${high}, written without %`);
    }
    ranges.forEach((range) => position(range, value)); // says what is wrong, without the value
    return value;
  };
  return { ...field(element, input, id, read), name };
}

/** Two counts that fill in the value as an exact fraction. */
function counts(input, number) {
  const [part, whole] = ["part", "whole"].map((name) =>
    make("input", { id: `${name}-${number}`, type: "text", inputMode: "numeric", autocomplete: "off", size: 6 }),
  );
  const fill = () => {
    if (part.value.trim() && whole.value.trim()) {
      input.value = `${part.value.trim()}/${whole.value.trim()}`;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  part.oninput = fill;
  whole.oninput = fill;
  return make(
    "details",
    { className: "counts" },
    make("summary", {}, "Work it out from counts"),
    make(
      "div",
      { className: "sum" },
      make("label", { htmlFor: part.id }, "How many were right"),
      part,
      make("label", { htmlFor: whole.id }, "Out of how many"),
      whole,
    ),
  );
}

/** Return the exact ratio that a percentage such as "83 %" or "83,5%" is, or null. */
function percentage(text) {
  const [, whole, places = ""] = /^\s*(\d{1,3})(?:[.,](\d{1,30}))?\s*[%٪]\s*$/.exec(text) ?? [];
  return whole === undefined ? null : ratio(whole + places, `100${"0".repeat(places.length)}`);
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
export function limitField(name, label, now, most) {
  const input = make("input", { id: `limit-${name}`, type: "text", inputMode: "decimal", autocomplete: "off", value: now });
  const element = make("div", { className: "field" }, make("label", { htmlFor: input.id }, label), input);
  const read = () => {
    const limit = typed(input.value.trim());
    if (typeof limit !== "string" || !/^\d{1,2}(\.\d{1,20})?$/.test(limit) || !atMost(decimal(limit), most)) {
      throw new Error(`A limit is a number from 0 to ${most}`);
    }
    return limit;
  };
  return { ...field(element, input, input.id, read), name };
}

/** A field for a ticket, which may have come with the page's address. */
export function ticketField(given) {
  const input = make("input", {
    id: "ticket",
    type: "text",
    autocomplete: "off",
    spellcheck: false,
    value: given ?? "",
  });
  const hint = make(
    "span",
    { className: "hint", id: "ticket-hint" },
    "32 letters and digits, which you were given. It shows that you may answer, and counts once.",
  );
  input.setAttribute("aria-describedby", hint.id);
  const element = make("div", { className: "field" }, make("label", { htmlFor: input.id }, "Your ticket"), input, hint);
  const read = () => {
    const ticket = input.value.trim().toLowerCase();
    if (!/^[0-9a-f]{32}$/.test(ticket)) throw new Error("A ticket has 32 digits and letters from a to f");
    return ticket;
  };
  return { ...field(element, input, "ticket", read), name: "ticket" };
}
