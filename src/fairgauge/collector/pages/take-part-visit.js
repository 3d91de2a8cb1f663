/** One visit: where it is shown, in which words, which study it is about, and where answers go. */
import { Ledger } from "./fairgauge-client.js";
import { Words } from "./take-part-words.js";

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

export const unique = (items, key) => [...new Map(items.map((item) => [key(item), item])).values()];

/** Return an error's English text as a sentence. */
function sentence(text) {
  const start = /^[a-z]+ /.test(text) ? text[0].toUpperCase() : text[0]; // "format=3" stays as it is
  return `${start}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

export class Visit {
  /**
   * @param root The element that everything is in.
   * @param collector The collector's address.
   * @param digest The study's.
   * @param wanted Languages, the best first.
   * @param ticket One that the person brought along, or null.
   * @param level Of the title among the page's headings.
   */
  constructor({ root, collector, digest, wanted, ticket = null, level = 2 }) {
    Object.assign(this, { root, collector, digest, ticket, title: `h${level}`, part: `h${level + 1}` });
    this.ledger = new Ledger();
    this.words = new Words(wanted);
  }

  /** Return where the results are, in the language of this visit. */
  results(here) {
    return `${here.href}?lang=${this.words.tag}`;
  }

  get(id) {
    return this.root.querySelector(`#${id}`);
  }

  show(id, visible = true) {
    this.get(id).hidden = !visible;
  }

  say(key, parts) {
    return this.words.say(key, parts);
  }

  rich(key, parts) {
    return this.words.rich(key, parts);
  }

  /** Return what an error says to a person; what is said to programmers only is in English, and marked as that. */
  explain(error) {
    if (!error.said) return make("span", { lang: "en", dir: "ltr" }, sentence(error.message));
    const [name, parts] = error.said;
    const written = Object.entries(parts).map(([part, value]) => {
      if (part === "moment" || part === "now") return [part, this.words.day(value)];
      return [part, /^\d+(\.\d+)?$/.test(value) ? this.words.numeral(String(value)) : value];
    });
    return this.say(`error.${name}`, Object.fromEntries(written));
  }
}
