/** The words of the page, from one catalogue, and numbers, dates and lists as the person's language writes them. */
import { LANGUAGES } from "./languages.js";

const OWN = "en"; // for whoever reads none of the others
const SHORT = ["fnr", "fpr", "tnr", "tpr"]; // what people call numbers that code calls by these
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** Return the tags of all languages, each with its own name for itself. */
export const languages = () => Object.entries(LANGUAGES).map(([tag, texts]) => [tag, texts["language.name"]]);

/** Return the first wanted language that there is: "de-AT" also finds "de". */
export function lookup(wanted, known = Object.keys(LANGUAGES)) {
  for (const tag of wanted) {
    for (let left = String(tag); left; left = left.slice(0, Math.max(0, left.lastIndexOf("-")))) {
      const found = known.find((one) => one.toLowerCase() === left.toLowerCase());
      if (found) return found;
    }
  }
  return OWN;
}

/** Return the wanted tag that says more about the same language, such as ar-MA for ar: it decides about digits. */
function regional(tag, wanted) {
  const [language] = tag.split("-");
  const sound = wanted.filter((one) => {
    try {
      return new Intl.Locale(one).language === language;
    } catch {
      return false;
    }
  });
  return sound.find((one) => one.length > tag.length) ?? tag;
}

export class Words {
  #texts;
  #region;
  #digits;
  #signs;

  /** @param wanted Languages that the person reads, the best first. */
  constructor(wanted) {
    this.wanted = [...wanted];
    this.tag = lookup(this.wanted);
    this.#texts = LANGUAGES[this.tag];
    this.direction = this.#texts["language.direction"];
    this.#region = regional(this.tag, this.wanted);
    const format = new Intl.NumberFormat(this.#region, { useGrouping: false });
    this.#digits = [..."0123456789"].map((digit) => format.format(Number(digit)));
    this.#signs = Object.fromEntries(format.formatToParts(-1.5).map(({ type, value }) => [type, value]));
  }

  /** Return a text with its parts put in, as a text. */
  say(key, parts = {}) {
    return this.rich(key, parts).join("");
  }

  /** Return a text with its parts put in, as a list; parts that are elements stay elements. */
  rich(key, parts = {}) {
    const found = this.#texts[key];
    const text = typeof found === "object" ? found[new Intl.PluralRules(this.#region).select(parts.count)] : found;
    if (text === undefined) throw new Error(key);
    return text.split(/\{([a-z]+)\}/).map((piece, i) => {
      if (i % 2 === 0) return this.#inDigits(piece);
      if (!(piece in parts)) throw new Error(`${key}: {${piece}}`);
      const part = parts[piece];
      if (typeof part === "number") return this.count(part);
      return typeof part === "string" ? this.isolated(part) : part;
    });
  }

  /** Keep a text from turning its neighbours around, where directions meet. */
  isolated(text) {
    const whole = text.replace(/(\d)\u2013(?=\d)/g, "$1\u2013\u2060"); // no line breaks in "18–29"
    return this.direction === "rtl" || RIGHT_TO_LEFT.test(text) ? `\u2068${whole}\u2069` : whole;
  }

  /** Return the name of a metric or an attribute as people read it, where a study's was made for code. */
  label(name) {
    const known = name.toLowerCase();
    return SHORT.includes(known) ? this.say(`rate.${known}`) : name.replaceAll("_", " ").trim() || name;
  }

  #inDigits(text) {
    return text.replace(/[0-9]/g, (digit) => this.#digits[digit]);
  }

  /** Return a plain decimal in the language's digits and with its sign and comma: all digits, nothing rounded. */
  numeral(text) {
    const { minusSign = "-", decimal = "." } = this.#signs;
    return this.#inDigits(text.replace("-", minusSign).replace(".", decimal));
  }

  count(number) {
    return new Intl.NumberFormat(this.#region).format(number);
  }

  percent(part) {
    return new Intl.NumberFormat(this.#region, { style: "percent" }).format(part);
  }

  list(items) {
    return new Intl.ListFormat(this.#region, { type: "conjunction" }).format(items.map((item) => this.isolated(item)));
  }

  /** Return a moment, by this device's clock. */
  day(moment) {
    return new Date(moment).toLocaleString(this.#region, { dateStyle: "long", timeStyle: "short" });
  }

  /** Return a text whose first letter is a capital, where the language has such. */
  capital(text) {
    const [first = "", ...rest] = text;
    return first.toLocaleUpperCase(this.#region) + rest.join("");
  }
}

/** Return a text in the digits and signs that programs read, whatever digits it was typed in. */
export function plainDigits(text) {
  return text
    .replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(/[\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) - 0x6f0))
    .replace(/[\u200e\u200f\u061c]/g, "") // marks of direction that keyboards add
    .replace(/\u066b/g, ".")
    .replace(/\u066a/g, "%");
}
