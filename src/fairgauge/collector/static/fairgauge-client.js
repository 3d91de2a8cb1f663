/**
 * fairgauge-client.js: answer a fairgauge study in a browser; one random symbol is all that leaves the page.
 *
 *   import { Ledger, deliver, loadStudy } from "https://collector.example/static/fairgauge-client.js";
 *   const study = await loadStudy("https://collector.example/studies/1f0c…");
 *   const ledger = new Ledger();
 *   const answer = await ledger.answer(study, { group: { sex: "female" }, values: { recall: "0.83" } });
 *   await deliver(ledger, answer, "https://collector.example");
 *
 * It does what fairgauge.client does in Python, and the two share test vectors: the same study has the same digest and
 * the same epsilon, the same random bits give the same symbol, and what one refuses the other refuses.  Integers are
 * BigInt and values are fractions: no float touches anything private.  Texts of errors never hold a group or a value.
 *
 * Version 0.2.0.  Apache-2.0.  No dependencies.
 */

// ---------------------------------------------------------------------------------------------------- errors
/**
 * The root of everything that is thrown here on purpose.
 *
 * Messages are in English, for whoever writes programs.  What can happen to a person has `said`, [name, parts], too: a
 * page has words for it in the person's language.
 */
export class FairgaugeError extends Error {
  constructor(message, said = null) {
    super(message);
    this.said = said;
  }

  get name() {
    return this.constructor.name;
  }
}

/** An input breaks a rule: "epsilon=-1: must be above 0". */
export class InvalidInput extends FairgaugeError {
  constructor(field, value, rule, said = null) {
    super(`${field}=${shown(value)}: ${rule}`, said);
    Object.assign(this, { field, value, rule });
  }
}

/** A study document is malformed, or another one than was asked for. */
export class BadStudy extends InvalidInput {}

/** A channel's table is malformed. */
export class BadTable extends InvalidInput {}

/** A table spends more privacy than the study declares, or than the person allows. */
export class NotPrivate extends FairgaugeError {}

/** The page refuses to answer. */
export class CannotAnswer extends FairgaugeError {}

/** The answer was not delivered; the ledger keeps it, and the same bytes may be sent again. */
export class CannotSend extends FairgaugeError {}

/** The collector refused the answer for good. */
export class AnswerRefused extends CannotSend {}

function shown(value) {
  const text = value instanceof Map ? "an object" : Array.isArray(value) ? "an array" : String(value);
  const plain = text.replace(NOT_TEXT, "\uFFFD") || "''";
  return plain.length <= 60 ? plain : `${plain.slice(0, 57)}...`;
}

// ------------------------------------------------------------------------------------------ exact arithmetic
const DIGITS = 50;

const floorDivide = (n, d) => (n < 0n && n % d !== 0n ? n / d - 1n : n / d); // d > 0
const fraction = (n, d = 1n) => ({ n, d });
const compare = (a, b) => a.n * b.d - b.n * a.d; // its sign

/** Return the fraction that a plain decimal such as "-0.25" is. */
export function decimal(text) {
  const [whole, places = ""] = text.split(".");
  return fraction(BigInt(whole + places), 10n ** BigInt(places.length));
}

/** Tell whether a fraction is at most a limit, a decimal in a string. */
export const atMost = (amount, limit) => compare(amount, decimal(limit)) <= 0n;

const LARGEST_EXPONENT = 400;
const LONGEST_NUMBER = 400;
const LARGEST = 10n ** BigInt(LARGEST_EXPONENT);

/** Return what code of somebody else gives; null if it throws: that must not decide whether there is an answer. */
function attempt(work) {
  try {
    return work();
  } catch {
    return null;
  }
}

/**
 * Return what a person or a program gave as a number, exactly; null if it is none.
 *
 * No number is what is infinite, above 10^400 or, but for 0, below 10^-400 in size, and text of more than 400 characters.
 */
function exact(value) {
  const found = attempt(() => fractionOf(value));
  if (!found || found.n === 0n) return found;
  const { n, d } = { n: found.n < 0n ? -found.n : found.n, d: found.d };
  return n <= LARGEST * d && d <= LARGEST * n ? found : null;
}

function fractionOf(value) {
  if (typeof value === "bigint") return fraction(value);
  if (typeof value === "object" && value instanceof Ratio) return fraction(...value.counts);
  if (!["string", "number"].includes(typeof value)) return null;
  const text = String(value).trim();
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,18}))?$/.exec(text);
  if (!match || text.length > LONGEST_NUMBER) return null;
  const [, sign, whole, places = "", power = "0"] = match;
  if (!(whole + places)) return null;
  const digits = (whole + places).replace(/^0+/, "");
  if (!digits) return fraction(0n);
  const exponent = Number(power) - places.length;
  if (Math.abs(digits.length - 1 + exponent) > LARGEST_EXPONENT) return null;
  const n = BigInt(digits) * (sign === "-" ? -1n : 1n);
  return exponent < 0 ? fraction(n, 10n ** BigInt(-exponent)) : fraction(n * 10n ** BigInt(exponent));
}

/** A value that was counted: `ratio(83, 100)` is exactly 83/100. */
class Ratio {
  #counts;

  constructor(part, whole) {
    this.#counts = [part, whole];
  }

  /** The two integers; none for what only looks like a ratio. */
  get counts() {
    const proper = this.#counts.every((count) => typeof count === "bigint") && this.#counts[1] > 0n;
    return proper ? this.#counts : null;
  }
}

/** Return the exact ratio of two integers, given as numbers, BigInts or texts, to be used as a value. */
export function ratio(part, whole) {
  const [n, d] = [part, whole].map((count) => (/^\d{1,400}$/.test(String(count)) ? BigInt(count) : null));
  if (n === null || !d) throw new CannotAnswer("a ratio must be of two integers from 0 up, the second above 0");
  return new Ratio(n, d);
}

/** Return { c, e } with the fraction = c * 10^e, rounded to 50 digits: "up", or "nearest" with ties to even. */
function toDecimal({ n, d }, rounding) {
  let e = n.toString().length - d.toString().length - DIGITS;
  for (;;) {
    const [top, bottom] = e < 0 ? [n * 10n ** BigInt(-e), d] : [n, d * 10n ** BigInt(e)];
    let c = top / bottom;
    if (c >= 10n ** BigInt(DIGITS)) {
      e += 1;
      continue;
    }
    const rest = 2n * (top % bottom);
    if (rounding === "up" ? rest > 0n : rest > bottom || (rest === bottom && c % 2n === 1n)) c += 1n;
    return { c, e };
  }
}

const toFraction = ({ c, e }) => (e < 0 ? fraction(c, 10n ** BigInt(-e)) : fraction(c * 10n ** BigInt(e)));

/** Return floor(2^bits * atanh(n / d)) for 0 <= n/d <= 1/3, at most a few hundred too low. */
function atanh(n, d, bits) {
  let power = (n << bits) / d;
  let sum = 0n;
  for (let k = 1n; power > 0n; k += 2n) {
    sum += power / k;
    power = (power * n * n) / (d * d);
  }
  return sum;
}

/**
 * Return an upper bound of ln(high / low), for high >= low > 0, that is within about 1e-49: as a fraction.
 *
 * It is the very number that Python's client computes: the quotient rounded up to 50 digits, its logarithm rounded to
 * the nearest 50 digits, and one step up from there.  Sums below round down by less than 1 in each of their terms, of
 * which there are far fewer than 2^20, so the logarithm is between `sum` and `sum + 2^20` in units of 2^-bits.  If both
 * ends round to the same decimal, that is the decimal; otherwise more bits tell.
 */
export function logBound(high, low) {
  if (high === low) return fraction(0n);
  const { n, d } = toFraction(toDecimal(fraction(high, low), "up"));
  let doublings = 0n;
  while (n >= d << (doublings + 1n)) doublings += 1n;
  const scaled = d << doublings; // 1 <= n / scaled < 2
  for (let bits = 384n; ; bits *= 2n) {
    const sum = 2n * (atanh(n - scaled, n + scaled, bits) + doublings * atanh(1n, 3n, bits));
    const [below, above] = [sum, sum + (1n << 20n)].map((end) => toDecimal(fraction(end, 1n << bits), "nearest"));
    if (below.c === above.c && below.e === above.e) return toFraction({ c: below.c + 1n, e: below.e });
  }
}

/** Return a fraction whose denominator is a power of ten as a plain decimal. */
export function plain({ n, d }) {
  const places = d.toString().length - 1;
  const digits = n.toString().padStart(places + 1, "0");
  return places ? `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "") : digits;
}

/** Return a number from 0 up with so many places, rounded up: for people, who must not be told too little. */
export function roundedUp({ n, d }, places) {
  const scale = 10n ** BigInt(places);
  return plain(fraction(-floorDivide(-n * scale, d), scale));
}

// -------------------------------------------------------------------------------------------------- randomness
/** Return a uniform integer of so many bits from the browser's secure source. */
export function secureBits(count) {
  const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil(count / 8)));
  const number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return number >> BigInt(8 * bytes.length - count);
}

/** Return a uniform integer from 0 to below a limit; draws above it are thrown away, since folding them is biased. */
export function secureBelow(limit, bits = secureBits) {
  const size = limit.toString(2).length;
  for (;;) {
    const number = Number(bits(size));
    if (number < limit) return number;
  }
}

const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

// ----------------------------------------------------------------------------------------------------- channel
const ROW_BITS = 53;
const ROW_SUM = 1n << 53n;
const LEVEL_UNIT = 1n << 30n;

const NO_VALUE = fraction(-LEVEL_UNIT); // stands in for the value of someone who has none

/** A validated table of integers, what it costs in privacy, and how to draw from it; `further` as in Python. */
export class Channel {
  constructor(table, levels, groups, abstain, further = []) {
    const axes = [levels, ...further];
    axes.forEach(checkLevels);
    if (typeof abstain !== "boolean") throw new BadTable("abstain", abstain, "must be true or false");
    checkTable(table, axes.reduce((rows, { length }) => rows * length, groups) + Number(abstain));
    Object.assign(this, { table, levels, groups, abstain, axes, loss: largestRatio(table) });
    this.symbols = table[0].length;
    /** The exact epsilon, rounded up at its 50th digit; null if a symbol excludes an input. */
    this.epsilon = this.loss && logBound(this.loss.n, this.loss.d);
    Object.freeze(this);
  }

  /** Tell whether the privacy loss is at most epsilon, a decimal in a string; never wrongly true. */
  within(epsilon) {
    return this.epsilon !== null && atMost(this.epsilon, epsilon);
  }

  /**
   * Draw the symbol to send; null for the group's index or for any position (v * 2^30, a fraction) is someone without a
   * group or a value, who has the row for those who abstain; where there is none, one of all rows, as likely as any.
   *
   * There is one position for each value that the channel takes; beyond the levels it counts as the nearest end.
   * Everyone takes the same steps and uses the same draws of 53 bits in the same order: one for each value rounds it to a
   * level, also where it is on one or missing; the first of them also picks the row of someone who lacks something; the
   * last picks the symbol, the first whose running sum exceeds it.
   */
  draw(group, positions, bits = secureBits) {
    const { length } = positions;
    if (length !== this.axes.length) {
      throw new CannotAnswer(`the channel takes ${this.axes.length} values at once, and got ${length}`);
    }
    const missing = positions.reduce((count, place) => count + Number(place === null), Number(group === null));
    const lacks = Number(missing > 0);
    const drawn = this.axes.map(() => bits(ROW_BITS));
    const index = this.axes.reduce((row, levels, i) => {
      const [above, threshold] = neighbours(levels, [positions[i], NO_VALUE][lacks]);
      return row * levels.length + above - Number(drawn[i] >= threshold);
    }, [group, 0][lacks]);
    const rows = this.table.length;
    const without = this.abstain ? rows - 1 : Number((drawn[0] * BigInt(rows)) / ROW_SUM);
    const last = bits(ROW_BITS);
    let sum = 0n;
    return this.table[[index, without][lacks]].findIndex((weight) => (sum += weight) > last);
  }
}

const clamped = (n, low, high) => (n < low ? low : n > high ? high : n);

/** Return the index of the level above a position, or of the nearest one, and how many of 2^53 draws go there. */
function neighbours(levels, { n: given, d }) {
  const n = clamped(given, -LEVEL_UNIT * d, LEVEL_UNIT * d);
  const floor = floorDivide(n, d);
  const over = levels.findIndex((level) => level > floor);
  const above = over < 0 ? levels.length - 1 : over;
  const [low, high] = [levels[above - 1], levels[above]];
  return [above, (ROW_SUM * (n - low * d)) / ((high - low) * d)];
}

function checkLevels(levels) {
  levels.forEach((level, i) => {
    if (typeof level !== "bigint") throw new BadTable(`levels[${i}]`, level, "must be an integer");
  });
  if (levels.length < 2) throw new BadTable("levels", levels, "must be at least 2");
  if (levels[0] !== -LEVEL_UNIT || levels.at(-1) !== LEVEL_UNIT) {
    throw new BadTable("levels", levels, "must go from -2^30 to 2^30");
  }
  for (let i = 1; i < levels.length; i += 1) {
    if (levels[i - 1] >= levels[i]) throw new BadTable(`levels[${i}]`, levels[i], "must be above the level before it");
  }
}

function checkTable(table, rows) {
  if (table.length !== rows) {
    throw new BadTable("table", `${table.length} rows`, `must have ${rows}: groups x levels, and one to abstain`);
  }
  const symbols = table[0].length;
  if (symbols < 2) throw new BadTable("table[0]", `${symbols} symbols`, "must have at least 2");
  table.forEach((row, i) => {
    if (row.length !== symbols) {
      throw new BadTable(`table[${i}]`, `${row.length} symbols`, `must have ${symbols} like the first row`);
    }
    let sum = 0n;
    row.forEach((weight, j) => {
      if (typeof weight !== "bigint" || weight < 0n) {
        throw new BadTable(`table[${i}][${j}]`, weight, "must be an integer from 0 up");
      }
      sum += weight;
    });
    if (sum !== ROW_SUM) throw new BadTable(`table[${i}]`, sum, "must sum to exactly 2^53");
  });
  for (let j = 0; j < symbols; j += 1) {
    if (table.every((row) => row[j] === 0n)) {
      throw new BadTable(`table[0..${rows - 1}][${j}]`, 0, "must not be 0 in every row: leave the symbol out");
    }
  }
}

/** Return the largest ratio within a column, or null where a column mixes zero and non-zero. */
function largestRatio(table) {
  let largest = fraction(1n);
  for (let j = 0; j < table[0].length; j += 1) {
    let [high, low] = [table[0][j], table[0][j]];
    for (const row of table) {
      if (row[j] > high) high = row[j];
      if (row[j] < low) low = row[j];
    }
    if (low === 0n) return null;
    if (compare(fraction(high, low), largest) > 0n) largest = fraction(high, low);
  }
  return largest;
}

// ------------------------------------------------------------------------------------------------ strict JSON
const LONGEST_DOCUMENT = 2 ** 23;
const DEEPEST = 100;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * Read an object from JSON without guessing: integers become BigInt, objects become Map, and duplicate keys, numbers
 * with a fraction and whatever else `JSON.parse` would let pass are refused.
 */
function readJson(bytes) {
  const size = `${bytes.length} bytes`;
  if (bytes.length > LONGEST_DOCUMENT) {
    throw new BadStudy("document", size, `must be at most ${LONGEST_DOCUMENT} bytes`);
  }
  const bad = () => new BadStudy("document", size, "must be JSON in UTF-8");
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw bad();
  }
  let at = 0;

  const take = (pattern) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  const [blank, number, other] = [/[ \t\n\r]*/y, /(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?/y, /NaN|-?Infinity/y];
  const [word, run] = [/true|false|null/y, /[^"\\\u0000-\u001f]*/y];
  const escape = /\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))/y;
  const next = (wanted) => {
    take(blank);
    if (text[at] !== wanted) return false;
    at += 1;
    return true;
  };

  const string = () => {
    let found = "";
    for (;;) {
      found += take(run)[0];
      if (text[at] === '"') break;
      const match = take(escape);
      if (!match) throw bad();
      found += match[1] ? ESCAPES[match[1]] : String.fromCharCode(parseInt(match[2], 16));
    }
    at += 1;
    return found;
  };

  const value = (depth) => {
    if (depth > DEEPEST) throw bad();
    if (next('"')) return string();
    if (next("{")) return object(depth);
    if (next("[")) return array(depth);
    const found = take(word);
    if (found) return { true: true, false: false, null: null }[found[0]];
    if (take(other)) throw new BadStudy("document", "a number", "must hold no number but integers");
    const digits = take(number);
    if (!digits || digits[1].length > 4300) throw bad();
    if (digits[2] || digits[3]) throw new BadStudy("document", digits[0], "must hold no number but integers");
    return BigInt(digits[1]);
  };

  const array = (depth) => {
    const items = [];
    if (next("]")) return items;
    do items.push(value(depth + 1));
    while (next(","));
    if (!next("]")) throw bad();
    return items;
  };

  const object = (depth) => {
    const pairs = [];
    if (next("}")) return new Map();
    do {
      if (!next('"')) throw bad();
      const key = string();
      if (!next(":")) throw bad();
      pairs.push([key, value(depth + 1)]);
    } while (next(","));
    if (!next("}")) throw bad();
    const members = new Map();
    for (const [key, item] of pairs) {
      if (members.has(key)) throw new BadStudy(key, item, "must be given once");
      members.set(key, item);
    }
    return members;
  };

  const document = value(0);
  take(blank);
  if (at < text.length) throw bad();
  if (!(document instanceof Map)) throw new BadStudy("document", document, "must be an object");
  return document;
}

/** Return canonical JSON (RFC 8785) of what our documents hold: integers, texts, booleans, null, arrays and objects. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (value instanceof Map) return canonical(Object.fromEntries(value));
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

// ------------------------------------------------------------------------------------------------------- study
const LONGEST_TEXT = 200;
const LONGEST_PROSE = 2000;
const LONGEST_DECIMAL = 32;
const [MOST_GROUPS, MOST_QUESTIONS, MOST_SYMBOLS] = [64, 64, 4096];
const MOST_RATIO = 100n;
const [MOST_FACTORS, MOST_COMPARISONS, MOST_LANGUAGES, MOST_RECORDS, LONGEST_KEY] = [4, 2048, 64, 1000, 2000];
const LARGEST_INTEGER = 2n ** 53n - 1n;
const ANY_VALUES = "max";
const INTEGERS = {
  retention: [0n, 36525n], // days
  planned: [1n, 10n ** 15n],
  epoch: [60n, 31n * 86400n], // seconds
  hourly: [1n, 10n ** 9n],
};
// What a study may say of its terms, in the document as it is or as an object of its own.
const TERMS = [
  ...["language", "purpose", "operator", "contact", "opens", "closes", ...Object.keys(INTEGERS), "aim", "admission"],
  ...["gateway", "order", "model", "stratum", "issuer", "release", "translations"],
];
const LANGUAGE = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?$/;
const OF_BEFORE = "is of before the first release; commit 8336ba5 of fairgauge is the last that can export it";
const DECIMAL = /^(?!-0(?:\.0+)?$)-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;
// Control characters, unpaired surrogates, line separators, and what reverses the direction of other text.
const NOT_TEXT = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
// What Unicode calls default-ignorable: it is there and cannot be seen.
const HIDDEN =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;
// Capitals and small letters of Cyrillic and Greek that look like Latin ones.
const LOOKS =
  "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455" +
  "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd\u03b9";
const LIKE = "ABEKMHOPCTYXIJSaeopcyxijsABEZHIKMNOPTYXovi";
const SPACE_AROUND = /^[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]|[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]$/u;

/** Read a study from bytes, strictly, and check that every table spends at most the epsilon it declares. */
export async function parseStudy(bytes, admission = null) {
  const study = readStudy(readJson(bytes));
  study.digest = await digestOf(study.bytes);
  checkPrivacy(study);
  /** The most that an answer costs, since only one table is answered: { n, d }, as in `channel.epsilon`. */
  const largest = (a, b) => (compare(a, b) < 0n ? b : a);
  const spent = study.questions.map(({ channel }) => channel.epsilon);
  study.epsilon = study.counts ? decimal(study.counts.epsilon) : spent.reduce(largest);
  /** By how much an answer can change anyone's odds at most: e to the epsilon, exactly; null in a study for sites. */
  study.loss = study.counts ? null : study.questions.map(({ channel }) => channel.loss).reduce(largest);
  /** Who may answer: as the study says, else as the collector said ("open", "tickets", or null if it did not). */
  study.admission ??= admission;
  return Object.freeze(study);
}

function checkPrivacy(study) {
  study.questions.forEach((question, index) => {
    if (question.channel.within(question.epsilon)) return;
    const { epsilon } = question.channel;
    const spent = epsilon ? `epsilon ${roundedUp(epsilon, 17)}` : "no finite epsilon";
    throw new NotPrivate(
      `${called(question, index)} declares epsilon ${question.epsilon} but its table has ${spent}`,
      ["declares", { declared: question.epsilon }],
    );
  });
}

const called = ({ metric, attribute }, index) => `questions[${index}] (${metric.name} by ${attribute.name})`;

/**
 * Load a study and check its form, its digest and the exact epsilon of its tables.
 *
 * @param source An address, or the document itself as a Uint8Array.
 * @param digest The study that is expected.  An address that ends in /studies/ and a digest expects that one.
 * @param relay The address of a relay to ask through, so that the collector does not see who reads its study.
 * @param issuer The address of an issuer that the person names; it must sign for this study.
 *
 * A study that hides who answers wants a witness, wherever it came from: the digest, or the issuer, from somebody else
 * than the collector.  A study of your own would tell whose answer it is.  `parseStudy` only reads, and asks for none.
 */
export async function loadStudy(source, { digest = null, timeout = 20, relay = null, issuer = null } = {}) {
  const expected = digest === null ? [] : [digest];
  let [bytes, admission] = [source, null];
  if (!(source instanceof Uint8Array)) {
    const url = new URL(source, globalThis.location?.href);
    const pinned = /\/studies\/([0-9a-f]{64})\/?$/.exec(url.pathname);
    if (pinned) expected.push(pinned[1]);
    if (relay !== null && !pinned) {
      throw new InvalidInput("study", url.origin, "must end in /studies/ and a digest to be read through a relay");
    }
    [bytes, admission] = await fetchStudy(url, timeout, relay);
  }
  const study = await parseStudy(bytes, admission);
  for (const name of expected) {
    if (study.digest !== name) throw new BadStudy("digest", study.digest, `must be ${name}: this is another study`);
  }
  const address = source instanceof Uint8Array ? null : new URL(source, globalThis.location?.href);
  await checkEverybodys(study, address, { digest, issuer, timeout, relay });
  return study;
}

// Nothing that tells one person from another goes along, not even the tag of a cached copy; nobody sends us elsewhere.
const DISCREET = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error" };

async function fetchStudy(url, timeout, relay) {
  checkApart("relay", relay, url);
  let response;
  try {
    const headers = { Accept: "application/json" };
    const ask = await asking(relay === null ? {} : { relay, gateway: await gatewayBehind(relay, timeout) });
    response = await ask(url, { ...DISCREET, headers, signal: AbortSignal.timeout(timeout * 1000) });
    const admission = response.headers.get("Fairgauge-Admission");
    if (response.ok) return [await readUpTo(response, LONGEST_DOCUMENT + 1), admission]; // one more: parsing refuses it
  } catch {
    const said = ["no-answer", { place: url.origin }];
    throw new InvalidInput("study", url.origin, "cannot be read: it does not answer", said);
  }
  const { status } = response;
  const said = ["status", { place: url.origin, status }];
  throw new InvalidInput("study", url.origin, `must give a study, but has HTTP status ${status}`, said);
}

/** Return the key that a relay hands to everyone, as studies name it, for a study that is still to be read. */
async function gatewayBehind(relay, timeout) {
  const response = await fetch(relay, { ...DISCREET, signal: AbortSignal.timeout(timeout * 1000) });
  const { firstConfig } = await import("./fairgauge-envelopes.js");
  return firstConfig(response.ok ? await readUpTo(response, 4096) : new Uint8Array());
}

// The same words as in fairgauge.client.witness.
function unconfirmed({ digest }) {
  const text =
    "must be confirmed: this study has {}. Compare it with what others were given and give it as the digest, or name " +
    "the issuer that signs for everybody, both from somebody else than the collector; a study that is made for you " +
    "alone would tell whose answer it is. Nothing was drawn";
  return new InvalidInput("digest", "nothing", text.replace("{}", digest));
}

/** Refuse a study that may have been made for this browser alone: its digest would tell whose the answer is. */
async function checkEverybodys(study, address, { digest, issuer, timeout, relay }) {
  if (!study.gateway && study.admission !== "blind") return;
  if (digest === null && !(issuer && study.issuer)) throw unconfirmed(study);
  if (issuer !== null) {
    checkApart("issuer", issuer, address);
    await checkSignsFor(study, issuer, timeout);
  }
  if (relay === null || address === null || study.issuer) return; // it came from elsewhere, and was compared there
  const ask = await asking({ relay, gateway: study.gateway });
  const directory = new URL("directory", address.href.replace(/\/$/, ""));
  const request = { ...DISCREET, headers: { Accept: "application/json" }, signal: AbortSignal.timeout(timeout * 1000) };
  const response = await ask(directory, request).catch(() => null);
  const { studies } = response?.ok ? await response.json().catch(() => ({})) : {};
  if (Array.isArray(studies) && studies.includes(study.digest)) return;
  const text = `${address.origin} does not name this study to everybody: somebody may have made it for you alone`;
  throw new CannotAnswer(text);
}

/**
 * Refuse a relay, or an issuer, that is at the collector's own host, or at one that is named within the other.
 *
 * Names are compared and not looked up.  Two names of one party are not noticed, nor are two ports of this machine.
 */
function checkApart(field, url, collector) {
  if (!url || !collector) return;
  const [own, other] = [url, collector].map((address) => new URL(address, globalThis.location?.href));
  const [name, others] = [own, other].map(hostOf);
  const here = name === "localhost" && others === "localhost";
  const within = `.${name}`.endsWith(`.${others}`) || `.${others}`.endsWith(`.${name}`);
  if (!((here && portOf(own) === portOf(other)) || (within && !here))) return;
  const rule = "must be run by somebody else than the collector, and not at its address";
  throw new InvalidInput(field, own.origin, rule);
}

const portOf = ({ port, protocol }) => port || { "http:": "80", "https:": "443" }[protocol];

/** Return where an address leads, in one form: this machine has many names. */
function hostOf({ hostname }) {
  const mapped = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname);
  const bytes = mapped?.slice(1).flatMap((part) => [parseInt(part, 16) >> 8, parseInt(part, 16) & 255]);
  const name = (bytes?.join(".") ?? hostname).replace(/\.$/, "");
  return /^127\.\d+\.\d+\.\d+$|^0\.0\.0\.0$|^\[::1?\]$|\.localhost$/.test(name) ? "localhost" : name;
}

const STATES = ["not open yet", "open", "closed", "sealed"];

/**
 * Return what the collector at this address says of a study now: { status, results }.
 *
 * Ask before you draw: a study that its operator closed early takes no answers, and drawing one would be for nothing.  Of a
 * study that names a gateway it is asked through `relay`; who asks `straight` all the same says so to the person.
 */
export async function studyStatus({ digest, gateway = null }, url, { timeout = 20, relay = null, straight = false } = {}) {
  if (gateway && relay === null && !straight) throw needsRelay();
  checkApart("relay", relay, url);
  const ask = await asking({ relay, gateway });
  const base = new URL(url, globalThis.location?.href);
  const target = `${base.href.replace(/\/$/, "")}/studies/${digest}/status`;
  try {
    const headers = { Accept: "application/json" };
    const response = await ask(target, { ...DISCREET, headers, signal: AbortSignal.timeout(timeout * 1000) });
    const { study, status, results } = await response.json();
    if (response.ok && study === digest && STATES.includes(status)) return { status, results };
  } catch {
    // Said below: whatever it is, nobody knows whether the study is open.
  }
  throw new CannotAnswer(`${base.origin} does not say whether the study is open`, ["not-said", { place: base.origin }]);
}

async function readUpTo(response, most) {
  const [parts, reader] = [[], response.body.getReader()];
  let size = 0;
  for (let part = await reader.read(); !part.done && size < most; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
  }
  reader.cancel().catch(() => {});
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function digestOf(bytes) {
  if (!globalThis.crypto?.subtle) {
    throw new CannotAnswer("this browser checks studies on secure pages only: open the page with https", ["https", {}]);
  }
  return hexadecimal(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

function readStudy(document) {
  checkFormat(document);
  const parts = read(document, ["format", "title", "metrics", "attributes", "tables"], TERMS);
  const metrics = readNamed(parts, "metrics", readMetric);
  const attributes = readNamed(parts, "attributes", readAttribute);
  const known = { metric: metrics, attribute: attributes };
  if (parts.aim !== null) checkDecimal("aim", parts.aim);
  for (const [name, reader] of [
    ["model", readModel],
    ["stratum", readStratum],
    ["issuer", readIssuer],
    ["release", readRelease],
  ])
    if (parts[name] !== null) parts[name] = at(name, () => reader(parts[name]));
  const all = asArray("tables", parts.tables).map((item, i) =>
    at(`tables[${i}]`, () => (item instanceof Map && item.has("outcome") ? readCounts(item, known) : readTable(item, known))),
  );
  /** What sites count that hold many people; no page answers for them. */
  const counts = all.find((table) => !Array.isArray(table)) ?? null;
  if (counts !== null && all.length > 1) {
    throw new BadStudy("questions", `${all.length} tables`, "must be one, where it has noisy counts");
  }
  const tables = counts === null ? all : [];
  const questions = tables.flat();
  const study = { ...parts, format: 1, questions, tables, counts, metrics, attributes };
  checkText("title", study.title);
  checkQuestions(study);
  checkMoments(study);
  checkTerms(study);
  checkListed("metrics", metrics, [...questions, ...(counts?.metric ? [counts] : [])].map(({ metric }) => metric));
  checkListed("attributes", attributes, [...questions, ...(counts ? [counts] : [])].map(({ attribute }) => attribute));
  checkTranslations(study);
  /** The number of each table's first symbol in the study, and how many symbols, or counts of a site, there are. */
  study.offsets = counts === null ? [0] : [0, counts.attribute.groups.length * (counts.levels?.length ?? 4)];
  for (const [{ channel }] of tables) study.offsets.push(study.offsets.at(-1) + channel.symbols);
  // What was read says everything, and says it in one way only: its canonical form is the study's.
  return { ...study, bytes: new TextEncoder().encode(canonical(document)) };
}

function checkFormat(document) {
  const number = document.has("format") ? document.get("format") : "nothing";
  if (number === 2n || (number === 1n && document.has("questions"))) throw new BadStudy("format", number, OF_BEFORE);
  if (number !== 1n) throw new BadStudy("format", number, "must be 1");
}

const unique = (things) => things.filter(({ name }, i) => things.findIndex((other) => other.name === name) === i);

function checkQuestions({ questions, counts }) {
  if (counts) return;
  if (questions.length < 1 || questions.length > MOST_QUESTIONS) {
    throw new BadStudy("questions", `${questions.length} questions`, `must be from 1 to ${MOST_QUESTIONS}`);
  }
  const asked = questions.map(({ metric, attribute }) => JSON.stringify([metric.name, attribute.name]));
  asked.forEach((pair, i) => {
    if (asked.indexOf(pair) < i) throw new BadStudy(`questions[${i}]`, "the same again", "must be asked once");
  });
}

function checkMoments({ opens, closes }) {
  if (opens !== null) checkMoment("opens", opens);
  if (closes !== null) checkMoment("closes", closes);
  if (opens !== null && closes !== null && opens >= closes) {
    throw new BadStudy("closes", closes, `must be after opens, which is ${opens}`);
  }
}

function checkTarget(target) {
  if (target !== "gap" && target !== "means") throw new BadStudy("target", target, 'must be "gap" or "means"');
}

function checkPositive(field, value) {
  checkDecimal(field, value);
  if (decimal(value).n <= 0n) throw new BadStudy(field, value, "must be above 0");
}

function checkSymbols({ symbols }) {
  if (symbols > MOST_SYMBOLS) throw new BadStudy("table", `${symbols} symbols`, `must be at most ${MOST_SYMBOLS}`);
}

function checkMetric(name, low, high) {
  checkName("name", name);
  checkDecimal("low", low);
  checkDecimal("high", high);
  if (compare(decimal(low), decimal(high)) >= 0n) {
    throw new BadStudy("high", high, `must be above low, which is ${low}`);
  }
  return { name, low, high };
}

function checkGroups(groups) {
  if (groups.length < 2 || groups.length > MOST_GROUPS) {
    throw new BadStudy("groups", `${groups.length} groups`, `must be from 2 to ${MOST_GROUPS}`);
  }
  groups.forEach((group, i) => {
    checkName(`groups[${i}]`, group);
    if (groups.indexOf(group) < i) throw new BadStudy(`groups[${i}]`, group, "must be listed once");
    if (groups.slice(0, i).some((other) => looksOf(other) === looksOf(group))) {
      throw new BadStudy(`groups[${i}]`, group, "must not look like another group");
    }
  });
}

function checkShares(field, shares, groups) {
  if (shares.length !== groups) {
    throw new BadStudy(field, `${shares.length} shares`, `must be one for each of ${groups} groups`);
  }
  let sum = fraction(0n);
  shares.forEach((share, i) => {
    checkDecimal(`${field}[${i}]`, share);
    const { n, d } = decimal(share);
    if (n <= 0n) throw new BadStudy(`${field}[${i}]`, share, "must be above 0");
    sum = fraction(sum.n * d + n * sum.d, sum.d * d);
  });
  if (sum.n !== sum.d) throw new BadStudy(field, shares.join(", "), "must sum to exactly 1");
}

/** Put the path to a part of the document before the field that an error in this part names. */
function at(path, read) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new error.constructor(error.field ? `${path}.${error.field}` : path, error.value, error.rule, error.said);
  }
}

function asArray(field, value) {
  if (!Array.isArray(value)) throw new BadStudy(field, value, "must be an array");
  return value;
}

function checkText(field, value, longest = LONGEST_TEXT) {
  const length = typeof value === "string" ? [...value].length : 0;
  if (length < 1 || length > longest) {
    throw new BadStudy(field, value, `must be text of 1 to ${longest} characters`);
  }
  if (SPACE_AROUND.test(value) || value.search(NOT_TEXT) >= 0) {
    throw new BadStudy(field, value, "must be on one line, without space around it or control characters");
  }
}

function checkName(field, value) {
  checkText(field, value);
  if (value.normalize("NFC") !== value || HIDDEN.test(value)) {
    throw new BadStudy(field, value, "must be in Unicode's normal form C, without characters that cannot be seen");
  }
}

/** What names have in common that look alike: width, case, and letters of other scripts do not count. */
function looksOf(name) {
  const latin = [...name.normalize("NFKC")].map((letter) => LIKE[LOOKS.indexOf(letter)] ?? letter);
  return latin.join("").toLowerCase();
}

function checkDecimal(field, value) {
  if (typeof value !== "string" || value.length > LONGEST_DECIMAL || !DECIMAL.test(value)) {
    throw new BadStudy(field, value, 'must be a plain decimal in quotes, such as "0.25"');
  }
}

function checkMoment(field, value) {
  const sound = typeof value === "string" && /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
  const moment = sound ? new Date(value) : null;
  if (!moment || Number.isNaN(moment.getTime()) || moment.toISOString() !== value.replace("Z", ".000Z")) {
    throw new BadStudy(field, value, "must be a moment in UTC such as 2026-11-15T00:00:00Z");
  }
}

function checkListed(field, listed, used) {
  const [names, wanted] = [listed, unique(used)].map((things) => JSON.stringify(things.map(({ name }) => name)));
  if (names !== wanted) throw new BadStudy(field, names, "must be those that are asked for, in that order");
}

/** Return the members of an object that has the required ones, maybe the optional ones, and no others. */
function read(document, required, optional = []) {
  if (!(document instanceof Map)) throw new BadStudy("", document, "must be an object");
  for (const name of required) if (!document.has(name)) throw new BadStudy(name, "nothing", "must be given");
  for (const [name, value] of document) {
    if (!required.includes(name) && !optional.includes(name)) {
      throw new BadStudy(name, value, "is not a field of this format");
    }
    if (value === null && optional.includes(name)) {
      throw new BadStudy(name, "null", "must be left out if there is nothing to say");
    }
  }
  return Object.fromEntries([...required, ...optional].map((name) => [name, document.get(name) ?? null]));
}

/** Read a list of things that have different names. */
function readNamed(parts, field, reader) {
  const found = [];
  asArray(field, parts[field]).forEach((item, i) =>
    at(`${field}[${i}]`, () => {
      const thing = reader(item);
      if (found.some(({ name }) => name === thing.name)) throw new BadStudy("name", thing.name, "must be listed once");
      found.push(thing);
    }),
  );
  return found;
}

function readMetric(document) {
  const { name, low, high, help, better, unit } = read(document, ["name", "low", "high"], ["help", "better", "unit"]);
  const metric = checkMetric(name, low, high);
  if (help !== null) checkProse("help", help);
  if (better !== null && better !== "lower") {
    throw new BadStudy("better", better, "must be lower, or left out where more is better");
  }
  if (unit !== null) checkName("unit", unit);
  return { ...metric, help, better, unit };
}

function readAttribute(document) {
  const optional = ["groups", "cross", "help", "shares", "answering", "share_error", "share_source", "comparisons"];
  const parts = read(document, ["name"], optional);
  if ((parts.groups === null) === (parts.cross === null)) {
    throw new BadStudy("groups", parts.groups === null ? "nothing" : "groups", "must be given, or cross, not both");
  }
  const cross = parts.cross === null ? [] : readNamed(parts, "cross", readFactor);
  const groups = parts.cross === null ? asArray("groups", parts.groups) : cells(cross);
  if ((parts.shares === null) !== (parts.answering === null)) {
    const [lacking, there] = parts.shares === null ? ["shares", "answering"] : ["answering", "shares"];
    throw new BadStudy(lacking, "nothing", `must be given with ${there}`);
  }
  if (parts.shares !== null) {
    asArray("shares", parts.shares).forEach((share, i) => checkDecimal(`shares[${i}]`, share));
  }
  if (parts.answering instanceof Map) {
    parts.answering = at("answering", () => read(parts.answering, ["ratio"]).ratio);
    at("answering", () => checkDecimal("ratio", parts.answering));
  } else if (parts.answering !== null && parts.answering !== "any" && parts.answering !== "alike") {
    throw new BadStudy("answering", parts.answering, "must be any, alike or an object with a ratio");
  }
  if (parts.share_error !== null) checkDecimal("share_error", parts.share_error);
  const listed = parts.comparisons === null ? null : asArray("comparisons", parts.comparisons);
  const comparisons = listed?.map((item, i) => at(`comparisons[${i}]`, () => readComparison(item))) ?? null;
  const attribute = { ...parts, groups, cross, comparisons };
  checkAttribute(attribute);
  return attribute;
}

/** Return the attributes that a person has a group of: those that are crossed, or this one. */
export const factorsOf = (attribute) => (attribute.cross?.length ? attribute.cross : [attribute]);

function readFactor(document) {
  const { name, groups, help } = read(document, ["name", "groups"], ["help"]);
  asArray("groups", groups);
  checkName("name", name);
  checkGroups(groups);
  if (help !== null) checkProse("help", help);
  return { name, groups, help };
}

/** Return the names of the cells of crossed attributes, the last attribute fastest. */
const cells = (factors) =>
  factors
    .reduce((found, { groups }) => found.flatMap((cell) => groups.map((group) => [...cell, group])), [[]])
    .map((cell) => cell.join(", "));

function checkAttribute({ name, groups, cross, help, comparisons, ...known }) {
  checkName("name", name);
  checkGroups(groups);
  if (cross.length === 1 || cross.length > MOST_FACTORS) {
    throw new BadStudy("cross", `${cross.length} attributes`, `must be from 2 to ${MOST_FACTORS}`);
  }
  const { shares, answering, share_error, share_source } = known;
  if (shares !== null) checkShares("shares", shares, groups.length);
  if (answering !== null && answering !== "any" && answering !== "alike") checkRatio("answering", answering);
  for (const field of ["share_error", "share_source"]) {
    if (known[field] === null) continue;
    if (shares === null) {
      const rule = "must not be given where shares are not: state every group's, or leave it out";
      throw new BadStudy(field, known[field], rule);
    }
    if (field === "share_source") {
      checkText(field, share_source);
      continue;
    }
    if (answering === "any") throw new BadStudy(field, share_error, "must not be given where answering is any");
    checkPart(field, share_error);
  }
  if (comparisons !== null) checkComparisons(comparisons, groups);
  if (help !== null) checkProse("help", help);
}

function readComparison(document) {
  const { of, against, weight } = read(document, ["of", "against"], ["weight"]);
  if (weight !== null) checkDecimal("weight", weight);
  asArray("of", of);
  asArray("against", against);
  if (weight !== null) checkPositive("weight", weight);
  return { of, against, weight };
}

function checkComparisons(comparisons, groups) {
  const seen = [];
  comparisons.forEach((comparison, i) =>
    at(`comparisons[${i}]`, () => {
      for (const field of ["of", "against"]) checkSide(field, comparison[field], groups);
      comparison.against.forEach((group, j) => {
        if (comparison.of.includes(group)) throw new BadStudy(`against[${j}]`, group, "must not be on both sides");
      });
      const said = JSON.stringify([comparison.of, comparison.against]);
      if (seen.includes(said)) throw new BadStudy("", "the same again", "must be listed once");
      seen.push(said);
    }),
  );
  if (comparisons.length < 1 || comparisons.length > MOST_COMPARISONS) {
    throw new BadStudy("comparisons", `${comparisons.length} comparisons`, `must be from 1 to ${MOST_COMPARISONS}`);
  }
}

function checkSide(field, side, groups) {
  if (!side.length) throw new BadStudy(field, "no groups", "must name at least one group");
  const places = side.map((group, i) => {
    if (!groups.includes(group)) throw new BadStudy(`${field}[${i}]`, group, "must be one of the attribute's groups");
    return groups.indexOf(group);
  });
  if (places.some((place, i) => i > 0 && places[i - 1] >= place)) {
    throw new BadStudy(field, side.join(", "), "must name groups once, in the attribute's order");
  }
}

/** Read a table with the questions that it answers, which share its attribute, design, epsilon and channel. */
function readTable(document, known) {
  const parts = read(document, ["attribute", "questions", "design", "epsilon", "abstain", "table"]);
  const { design, epsilon, abstain } = parts;
  const attribute = knownOne("attribute", parts.attribute, known);
  const asked = asArray("questions", parts.questions).map((item, i) =>
    at(`questions[${i}]`, () => readAsked(item, known)),
  );
  if (!asked.length) throw new BadStudy("questions", "0 questions", "must be at least 1");
  const rows = asArray("table", parts.table).map((row, i) => asArray(`table[${i}]`, row));
  const [first, ...further] = asked.map(({ levels }) => levels);
  const channel = new Channel(rows, first, attribute.groups.length, abstain, further);
  checkSymbols(channel);
  checkText("design", design);
  checkPositive("epsilon", epsilon);
  return asked.map(({ metric, target, expect, spread, weight, abstaining }, i) =>
    at(`questions[${i}]`, () => {
      checkTarget(target);
      checkExpected(metric, expect, spread);
      if (weight !== null) checkPositive("weight", weight);
      if (abstaining !== null) checkAbstaining(abstaining, abstain);
      return { metric, attribute, target, design, epsilon, channel, expect, spread, weight, abstaining };
    }),
  );
}

// What a question reckons with, which a table is made for and no estimate rests on.
const RECKONED = ["expect", "spread", "weight", "abstaining"];

function readAsked(document, known) {
  const parts = read(document, ["metric", "target", "levels"], RECKONED);
  parts.metric = knownOne("metric", parts.metric, known);
  checkLevels(asArray("levels", parts.levels));
  for (const field of RECKONED) {
    if (parts[field] === null || (field === "spread" && parts.spread === ANY_VALUES)) continue;
    checkDecimal(field, parts[field]);
  }
  return parts;
}

function checkExpected({ low, high }, expect, spread) {
  const [a, b] = [decimal(low), decimal(high)];
  const outside = (x) => compare(x, a) < 0n || compare(x, b) > 0n;
  if (expect !== null && outside(decimal(expect))) {
    throw new BadStudy("expect", expect, `must be from ${low} to ${high}`);
  }
  if (spread === null || spread === ANY_VALUES) return;
  const [{ n, d }, range] = [decimal(spread), fraction(b.n * a.d - a.n * b.d, a.d * b.d)];
  if (n <= 0n || compare(fraction(2n * n, d), range) > 0n) {
    throw new BadStudy("spread", spread, `must be above 0 and at most half of the range, or "${ANY_VALUES}"`);
  }
}

function checkAbstaining(part, abstain) {
  if (!abstain) throw new BadStudy("abstaining", part, "must not be given where nobody may abstain");
  const { n, d } = decimal(part);
  if (n < 0n || n >= d) throw new BadStudy("abstaining", part, "must be from 0 to below 1");
}

/** Read a table of noisy counts, as sites send them. */
function readCounts(document, known) {
  const names = ["attribute", "outcome", "epsilon", "records"];
  const counts = read(document, names, ["metric", "levels", "person"]);
  counts.attribute = knownOne("attribute", counts.attribute, known);
  if (counts.metric !== null) counts.metric = knownOne("metric", counts.metric, known);
  if (counts.levels !== null) asArray("levels", counts.levels);
  checkDecimal("epsilon", counts.epsilon);
  const { outcome } = counts;
  if (outcome !== "confusion" && outcome !== "levels") {
    throw new BadStudy("outcome", outcome, 'must be "confusion" or "levels"');
  }
  checkInteger("records", counts.records, 1n, BigInt(MOST_RECORDS));
  checkPositive("epsilon", counts.epsilon);
  for (const field of ["metric", "levels"]) {
    if (outcome === "levels" && counts[field] === null) {
      throw new BadStudy(field, "nothing", "must be given where the outcome is levels");
    }
    if (outcome === "confusion" && counts[field] !== null) {
      throw new BadStudy(field, "something", "must not be given where the outcome is confusion");
    }
  }
  if (counts.levels !== null) checkLevels(counts.levels);
  if (counts.person !== null) checkProse("person", counts.person);
  return { ...counts, records: Number(counts.records) };
}

function knownOne(field, name, known) {
  const found = known[field].find((thing) => thing.name === name);
  if (!found) throw new BadStudy(field, name, `must be one of the ${field}s of the study`);
  return found;
}

function readModel(document) {
  const { name, version } = read(document, ["name"], ["version"]);
  checkText("name", name);
  if (version !== null) checkText("version", version);
  return { name, version };
}

function readStratum(document) {
  const { of, name, share } = read(document, ["of", "name", "share"]);
  checkDecimal("share", share);
  checkName("of", of);
  checkName("name", name);
  checkPart("share", share);
  return { of, name, share };
}

function readIssuer(document) {
  const { name, key } = read(document, ["name", "key"]);
  checkText("name", name);
  checkKey("key", key);
  return { name, key };
}

function readRelease(document) {
  const { batch, delta, draws } = read(document, ["batch", "delta", "draws"]);
  checkDecimal("delta", delta);
  checkInteger("batch", batch, 1n, LARGEST_INTEGER);
  checkInteger("draws", draws, 1n, LARGEST_INTEGER);
  checkPart("delta", delta);
  return { batch: Number(batch), delta, draws: Number(draws) };
}

function checkTerms(study) {
  for (const field of ["contact", "operator"]) if (study[field] !== null) checkText(field, study[field]);
  if (study.language !== null) checkLanguage("language", study.language);
  if (study.purpose !== null) checkProse("purpose", study.purpose);
  for (const [field, [least, most]] of Object.entries(INTEGERS)) {
    if (study[field] === null) continue;
    checkInteger(field, study[field], least, most);
    study[field] = Number(study[field]);
  }
  if (study.aim !== null) checkPart("aim", study.aim);
  const { admission, issuer, gateway, order } = study;
  if (order !== null && order !== "waves") throw new BadStudy("order", order, "must be waves, or left out");
  if (![null, "open", "tickets", "blind"].includes(admission)) {
    throw new BadStudy("admission", admission, "must be open, tickets or blind");
  }
  if (admission === "blind" && issuer === null) {
    throw new BadStudy("issuer", "nothing", "must be given where admission is blind");
  }
  if (admission !== "blind" && issuer !== null) {
    throw new BadStudy("issuer", issuer.name, "must not be given unless admission is blind");
  }
  if (admission === "tickets" && study.release) {
    const rule = "must not be tickets where counts leave in batches: who gives out a ticket could read the answer";
    throw new BadStudy("admission", admission, rule);
  }
  if (gateway !== null) checkKey("gateway", gateway);
  if (study.counts) checkSiteTerms(study);
}

function checkSiteTerms(study) {
  if (![null, "tickets"].includes(study.admission)) {
    const rule = "must be tickets where sites answer, or left out: one table that is made up outweighs all others";
    throw new BadStudy("admission", study.admission, rule);
  }
  for (const field of ["gateway", "epoch", "release"]) {
    if (study[field] === null) continue;
    throw new BadStudy(field, "something", "must not be given where sites answer: that a site takes part is not hidden");
  }
}

const checkProse = (field, value) => checkText(field, value, LONGEST_PROSE);

function checkInteger(field, value, least, most) {
  if (typeof value === "bigint" && value >= least && value <= most) return;
  throw new BadStudy(field, value, `must be an integer from ${least} to ${most}`);
}

function checkPart(field, value) {
  const { n, d } = decimal(value);
  if (n <= 0n || n >= d) throw new BadStudy(field, value, "must be above 0 and below 1");
}

/** Check how many times as often as another group one may answer at most. */
function checkRatio(field, value) {
  const { n, d } = decimal(value);
  if (n > d && n <= MOST_RATIO * d) return;
  throw new BadStudy(field, value, "must be any, alike or a ratio above 1 and at most 100, such as 1.1");
}

function checkKey(field, value) {
  if (typeof value === "string" && value.length <= LONGEST_KEY && /^[A-Za-z0-9_-]+$/.test(value)) return;
  throw new BadStudy(field, value, `must be a key in base64url, of 1 to ${LONGEST_KEY} characters`);
}

function checkLanguage(field, value) {
  if (typeof value === "string" && LANGUAGE.test(value)) return;
  throw new BadStudy(field, value, "must be a language tag such as en, pt-BR or zh-Hant");
}

/** Return the texts that people read, by their place in the document: { title, "metrics[0].name", ... }. */
export function textsOf({ title, purpose = null, metrics, attributes, counts = null }) {
  const found = { title, purpose };
  metrics.forEach(({ name, help = null, unit = null }, i) => {
    found[`metrics[${i}].name`] = name;
    found[`metrics[${i}].help`] = help;
    found[`metrics[${i}].unit`] = unit;
  });
  const add = (place, { name, help = null, share_source = null, cross = [], groups }) => {
    Object.assign(found, { [`${place}.name`]: name, [`${place}.help`]: help, [`${place}.share_source`]: share_source });
    cross.forEach((factor, k) => add(`${place}.cross[${k}]`, factor));
    if (!cross.length) groups.forEach((group, j) => (found[`${place}.groups[${j}]`] = group));
  };
  attributes.forEach((attribute, i) => add(`attributes[${i}]`, attribute));
  found["tables[0].person"] = counts?.person ?? null;
  return Object.fromEntries(Object.entries(found).filter(([, text]) => text !== null));
}

function checkTranslations(study) {
  const { translations, language } = study;
  if (translations === null) return;
  if (!(translations instanceof Map)) throw new BadStudy("translations", translations, "must be an object");
  if (language === null) throw new BadStudy("language", "nothing", "must be given where there are translations");
  if (translations.size < 1 || translations.size > MOST_LANGUAGES) {
    throw new BadStudy("translations", `${translations.size} languages`, `must be from 1 to ${MOST_LANGUAGES}`);
  }
  const original = textsOf(study);
  for (const [tag, texts] of translations) {
    at("translations", () => {
      checkLanguage(tag, tag);
      if (tag === language) throw new BadStudy(tag, "a translation", "must not be into the language of the study");
    });
    at(`translations.${tag}`, () => checkTexts(texts, original));
  }
  study.translations = Object.fromEntries([...translations].map(([tag, texts]) => [tag, Object.fromEntries(texts)]));
}

function checkTexts(texts, original) {
  if (!(texts instanceof Map)) throw new BadStudy("", texts, "must be an object");
  for (const place of Object.keys(original)) {
    if (!texts.has(place)) throw new BadStudy(place, "nothing", "must be given");
  }
  const seen = [];
  for (const [place, text] of texts) {
    if (!Object.hasOwn(original, place)) throw new BadStudy(place, text, "is not a text of this study");
    checkText(place, text, /(?:purpose|help|person)$/.test(place) ? LONGEST_PROSE : LONGEST_TEXT);
    if (!place.endsWith("]")) continue;
    const said = JSON.stringify([place.slice(0, place.lastIndexOf("[")), text]);
    if (seen.includes(said)) throw new BadStudy(place, text, "must be listed once");
    seen.push(said);
  }
}

/**
 * Return the first of the wanted languages that a study speaks, or its own, and its texts: [tag, texts].
 *
 * A tag also finds a shorter one: "de-AT" finds "de".
 */
export function spoken(study, wanted) {
  const [own, known] = [study.language ?? null, study.translations ?? {}];
  for (const tag of wanted) {
    for (let left = tag; left; left = left.slice(0, Math.max(0, left.lastIndexOf("-")))) {
      if (left === own) return [own, textsOf(study)];
      if (Object.hasOwn(known, left)) return [left, known[left]];
    }
  }
  return [own, textsOf(study)];
}

// ------------------------------------------------------------------------------------------------------ answer
/** Return the bytes of an answer, which are exactly what is sent: canonical JSON of study, id and symbol. */
export function answerBytes({ study, id, symbol }) {
  return new TextEncoder().encode(canonical({ study, id, symbol }));
}

/**
 * Return v * 2^30 as an exact fraction; throws without the value in the text.
 *
 * For a page that may ask the person again; `nearest` refuses nobody.
 */
export function position(metric, value) {
  const { name, low, high } = metric;
  const x = exact(value);
  if (!x || compare(x, decimal(low)) < 0n || compare(x, decimal(high)) > 0n) {
    throw new CannotAnswer(`${name} must be a number from ${low} to ${high}`);
  }
  return nearest(metric, value);
}

/** Return v * 2^30 of the nearest value in the metric's range as an exact fraction; null for what is no number. */
export function nearest({ low, high }, value) {
  const [found, a, b] = [exact(value), decimal(low), decimal(high)];
  const given = found || a; // what is no number takes the same steps
  const x = compare(given, a) < 0n ? a : compare(given, b) > 0n ? b : given;
  // (2x - a - b) / (b - a), with everything over the common denominator.
  const top = 2n * x.n * a.d * b.d - a.n * x.d * b.d - b.n * x.d * a.d;
  const bottom = (b.n * a.d - a.n * b.d) * x.d;
  return [null, fraction(LEVEL_UNIT * top, bottom)][Number(Boolean(found))];
}

/**
 * Answer one table of a study, picked by a secure coin, with one randomised symbol: { study, id, symbol }.
 *
 * It remembers nothing: whoever calls it twice for one person spends twice, and the limit for one study is all that it
 * keeps to.  `Ledger.answer` answers each study once, and keeps to the limit for a lifetime too.
 *
 * Neither the group nor a value nor the coin decides whether there is an answer: whoever picks the study could read from
 * refusals what the table hides.  A group that the study does not list, one or a value that is missing, and a value that
 * is no number are answered by the row for those who abstain; where there is none, by one of all rows, each as likely as
 * any other.  A value outside of the metric's range counts as its nearest end.
 *
 * @param profile { group: "female", values: { recall: "0.83" } }, with { sex: "female", age: "old" } for the group
 *   where the study has several attributes, and null for what is missing.  A value is a decimal in a string, a number
 *   (which counts as the decimal that it prints as), a BigInt, or `ratio(83, 100)`.
 * @param limits { study }: what one study may cost, "4" unless you say otherwise.
 * @param ticket Proof that the person may answer; it becomes the answer's id, which is random without one.
 */
export function answer(study, profile, { limits = {}, ticket = null, bits = secureBits } = {}) {
  if (ticket !== null) checkTicket(ticket);
  checkAble(study, ticket);
  checkOpen(study);
  checkPrivacy(study);
  checkStudyLimit(study, allLimits(limits).study);
  checkProfile(profile);
  const groups = groupsByAttribute(study, own(profile, "group"));
  const values = own(profile, "values") ?? {};
  const inputs = study.tables.map((table) => channelInput(table, groups, values));
  const picked = secureBelow(inputs.length, bits);
  const symbol = study.offsets[picked] + study.tables[picked][0].channel.draw(...inputs[picked], bits);
  return { study: study.digest, id: ticket ?? hexadecimal(crypto.getRandomValues(new Uint8Array(16))), symbol };
}

/** Refuse a study that asks for what this page cannot do: it must not answer and leave that out. */
export function checkAble(study, ticket) {
  if (study.counts) {
    const text = "the study is for sites that hold many people, and this is a device of one person";
    throw new CannotAnswer(text, ["sites", {}]);
  }
  if (["tickets", "blind"].includes(study.admission) && ticket === null) {
    throw new CannotAnswer("the study takes answers with a ticket only", ["ticket", {}]);
  }
  if (study.release && study.admission !== "blind" && (ticket || study.admission === "tickets")) {
    // A ticket is the answer's id, which salts the leaf of a proof of inclusion, and whoever sent it knows it.
    throw new CannotAnswer("the study hides answers in a crowd, and who gave out this ticket could read the answer");
  }
}

/** Refuse a study before it opens and from when it closes: nobody would count what it costs to answer. */
function checkOpen({ opens, closes }) {
  const now = `${new Date().toISOString().slice(0, 19)}Z`; // as studies write moments, so that text compares as time
  const clock = `and this device's clock says ${now}`;
  if (opens !== null && now < opens) {
    throw new CannotAnswer(`the study opens at ${opens}, ${clock}`, ["opens", { moment: opens, now }]);
  }
  if (closes !== null && now >= closes) {
    throw new CannotAnswer(`the study closed at ${closes}, ${clock}`, ["closed", { moment: closes, now }]);
  }
}

const own = (object, name) => attempt(() => (Object.hasOwn(object, name) ? (object[name] ?? null) : null));
const isObject = (value) =>
  typeof value === "object" && value !== null && attempt(() => !Array.isArray(value)) === true;

function checkProfile(profile) {
  if (!isObject(profile) || !Object.keys(profile).every((name) => ["group", "values"].includes(name))) {
    throw new CannotAnswer('a profile has two parts, "group" and "values"');
  }
  const values = own(profile, "values"); // a part that is left out, or null, is what the person lacks
  if (values !== null && !isObject(values)) throw new CannotAnswer('"values" must give a value for each metric\'s name');
}

function checkTicket(ticket) {
  if (typeof ticket !== "string" || !/^[0-9a-f]{32}$/.test(ticket)) {
    throw new InvalidInput("ticket", "not shown", "must be 32 lower-case hexadecimal digits");
  }
}

function groupsByAttribute(study, group) {
  if (isObject(group)) return group;
  const names = [...new Set(study.attributes.flatMap(factorsOf).map(({ name }) => name))];
  return names.length === 1 ? { [names[0]]: group } : {}; // of several attributes, none is told
}

/** Return what the channel of a table takes, null for what is missing, not listed or no number: [group, positions]. */
function channelInput(table, groups, values) {
  const [{ attribute }] = table;
  const places = factorsOf(attribute).map((factor) => factor.groups.indexOf(own(groups, factor.name)));
  const cell = factorsOf(attribute).reduce(
    (before, { groups: { length } }, i) => before * length + places[i], // the last attribute is the fastest
    0,
  );
  const listed = places.every((place) => place >= 0);
  return [listed ? cell : null, table.map(({ metric }) => nearest(metric, own(values, metric.name)))];
}

// ------------------------------------------------------------------------------------------------------ ledger
/**
 * What this browser answered, and what that cost: an IndexedDB of this site, without group, value, address or time.
 *
 * An answer is drawn, charged and written in one transaction, and handed out when that transaction is complete.  Such
 * transactions run one after the other, also those of other tabs, so each study gets one randomisation.
 */
export class Ledger {
  #name;

  constructor(name = "fairgauge") {
    this.#name = name;
  }

  /**
   * Answer a study, or return the answer that it got before; either way it is stored first.
   *
   * @param limits { study, lifetime }: decimals in strings; what one study may cost, and what all answers about an
   *   attribute may cost together.  What is left out is what `lower` set, or "4" and "8"; null is no limit.
   * @param straight Whether the answer will be sent at once, though the study has answers wait for a moment that tells
   *   nothing: the person must be told so.
   * @param named Whether the profile's own words say which attribute a group is of, and not the study's.  If not, all
   *   answers together are within the limit, and this one counts against every attribute from then on.
   */
  async answer(study, profile, { limits = {}, ticket = null, straight = false, named = true } = {}) {
    if (ticket !== null) checkTicket(ticket);
    const moment = study.epoch === null || straight ? null : nextMoment(Date.now() / 1000, study);
    const allowed = allLimits({ ...(await this.limits()), ...limits });
    const crowd = await this.#crowd(study, allowed);
    return this.#change((store, done) => {
      store.getAll().onsuccess = ({ target: { result: past } }) =>
        done(() => {
          const found = past.find((record) => record.study === study.digest);
          if (found) return answerIn(found);
          checkProfile(profile);
          checkStudyLimit(study, allowed.study);
          const charges = chargesOf(study);
          const unnamed = !named || !isObject(own(profile, "group"));
          const counted = past.flatMap((record) => (unnamed ? record.charges : chargesTo(charges, record)));
          checkLifetime(charges, counted, allowed.lifetime);
          if (unnamed) checkUnnamed(charges, past, allowed.lifetime);
          const fresh = answer(study, profile, { limits: allowed, ticket });
          const readers = towardsReaders(charges, crowd);
          const kept = { ...fresh, state: "pending", charges, readers, ...(unnamed && { unnamed }) };
          store.add({ ...kept, ...(study.gateway && { relayed: true }), ...(moment && { moment }) });
          return fresh;
        });
    });
  }

  /** Return what a study promises towards its readers, unless it has no crowd or was answered before. */
  async #crowd(study, { study: limit }) {
    if (!study.release || (await this.recall(study.digest))) return null;
    checkStudyLimit(study, limit); // crowd or no crowd; and before it is computed, which takes a moment
    return promised(study);
  }

  /** Return the limits that this ledger keeps to: { study, lifetime }. */
  async limits() {
    return this.#change((store, done) => {
      store.get(LOWERED).onsuccess = ({ target }) => done(() => allLimits(target.result?.limits ?? {}));
    }, "settings");
  }

  /** Set limits for all studies to come, at most the usual ones: this is how a person allows less. */
  async lower(limits) {
    const wanted = allLimits(limits);
    for (const [name, limit] of Object.entries(wanted)) {
      if (limit === null || !atMost(decimal(limit), LIMITS[name])) {
        throw new InvalidInput(name, limit, `must be at most ${LIMITS[name]}`);
      }
    }
    return this.#change((store, done) => {
      store.put({ name: LOWERED, limits: wanted }).onsuccess = () => done(() => wanted);
    }, "settings");
  }

  /** Return the most that the answers so far may have cost any one attribute, as a fraction. */
  async spent() {
    return this.#change((store, done) => {
      store.getAll().onsuccess = ({ target: { result: past } }) =>
        done(() => {
          const accounts = past.flatMap((record) => record.charges);
          const costs = accounts.map((account) => {
            const charges = past.flatMap((record) => chargesTo([account], record));
            return total(charges.filter(([name]) => name === account[0]));
          });
          return largest(costs);
        });
    });
  }

  /** Return the same towards those who read released counts, { epsilon, delta }: both add up over studies. */
  async spentTowardsReaders() {
    return this.#change((store, done) => {
      store.getAll().onsuccess = ({ target: { result: past } }) =>
        done(() => {
          const all = past.flatMap(({ readers }) => readers);
          const sums = all.map(([account]) => {
            const own = all.filter(([name]) => name === account);
            return { epsilon: total(own), delta: total(own.map(([name, , delta]) => [name, delta])) };
          });
          const nothing = { epsilon: fraction(0n), delta: fraction(0n) };
          return sums.reduce((a, b) => (compare(a.epsilon, b.epsilon) < 0n ? b : a), nothing);
        });
    });
  }

  /** Return what is remembered of the study with this digest, { study, id, symbol, state, charges, wanted }, or null. */
  async recall(digest) {
    return this.#change((store, done) => {
      store.get(digest).onsuccess = ({ target }) => done(() => target.result ?? null);
    });
  }

  /** Return the answers that still have to be delivered. */
  async pending() {
    return this.#change((store, done) => {
      store.getAll().onsuccess = ({ target }) =>
        done(() => target.result.filter((record) => record.state === "pending").map(answerIn));
    });
  }

  /** Remember whether the person said to send an answer, so that a later visit may go on with it. */
  async markWanted(answer, wanted = true) {
    return this.#note(answer, { wanted });
  }

  /** Remember that the collector has an answer. */
  async markSent(sent) {
    return this.#note(sent, { state: "delivered" });
  }

  /** Remember that the collector refused an answer for good; what was delivered stays so. */
  async markRefused(sent) {
    return this.#note(sent, { state: "refused" });
  }

  #note(sent, news) {
    return this.#change((store, done) => {
      store.get(sent.study).onsuccess = ({ target: { result: found } }) =>
        done(() => {
          if (found?.id !== sent.id || found?.symbol !== sent.symbol) {
            throw new InvalidInput("answer", sent.id, "is not in this ledger");
          }
          const { moment, ...rest } = found; // once it is sent, nobody needs to know when it was to be
          const still = moment && !news.state ? { moment } : {};
          if (found.state !== "delivered") store.put({ ...rest, ...still, ...news });
        });
    });
  }

  /** Give an answer that was refused another ticket, and return it: the symbol stays, since it is drawn once. */
  async useTicket(refused, ticket) {
    checkTicket(ticket);
    return this.#change((store, done) => {
      store.get(refused.study).onsuccess = ({ target: { result: found } }) =>
        done(() => {
          if (found?.state !== "refused") throw new CannotAnswer("only an answer that was refused gets another ticket");
          store.put({ ...found, id: ticket, state: "pending", wanted: false });
          return answerIn({ ...found, id: ticket });
        });
    });
  }

  /** Return what was begun for a blind ticket with this ordinary one, or begin: stored before it is handed out. */
  async beginPass(study, ticket, begin) {
    const name = `pass ${study}`;
    return this.#change((store, done) => {
      store.get(name).onsuccess = ({ target: { result: found } }) =>
        done(() => {
          if (found?.ticket === ticket) return found.begun;
          const begun = begin();
          store.put({ name, ticket, begun });
          return begun;
        });
    }, "settings");
  }

  /** Keep the blind ticket for a study, and forget what would tie it to the ordinary one. */
  async keepToken(study, token) {
    return this.#change((store, done) => {
      store.put({ name: `pass ${study}`, token }).onsuccess = () => done(() => token);
    }, "settings");
  }

  /** Return the blind ticket for a study, or null. */
  async token(study) {
    return this.#change((store, done) => {
      store.get(`pass ${study}`).onsuccess = ({ target }) => done(() => target.result?.token ?? null);
    }, "settings");
  }

  /** Do everything or nothing; what `done` returns is handed out when it is stored. */
  async #change(work, name = "answers") {
    const database = await this.#open();
    try {
      return await new Promise((resolve, reject) => {
        const transaction = database.transaction(name, "readwrite", { durability: "strict" });
        let [result, problem] = [undefined, null];
        transaction.oncomplete = () => resolve(result);
        transaction.onabort = () => reject(problem ?? forgetful());
        work(transaction.objectStore(name), (finish) => {
          try {
            result = finish();
          } catch (error) {
            problem = error;
            transaction.abort();
          }
        });
      });
    } finally {
      database.close();
    }
  }

  #open() {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.#name, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("answers", { keyPath: "study" });
        request.result.createObjectStore("settings", { keyPath: "name" });
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error?.name === "VersionError" ? ofBefore() : forgetful());
      request.onblocked = () => reject(forgetful());
    }).catch((error) => {
      throw error instanceof FairgaugeError ? error : forgetful();
    });
  }
}

// A browser that cannot remember would answer again on the next visit.
const forgetful = () => new CannotAnswer("this browser does not let the page remember its answer", ["forgetful", {}]);
const ofBefore = () => new CannotAnswer(`what this browser remembers ${OF_BEFORE}`);
const answerIn = ({ study, id, symbol }) => ({ study, id, symbol });

/**
 * Return what an answer costs each attribute, the most that any question about it spends: [[name, epsilon]...].
 *
 * It depends on the study alone, and on nothing that a person has or lacks, nor on the form in which that is given.
 */
function chargesOf(study) {
  const costs = new Map();
  for (const { attribute, channel } of study.questions) {
    for (const { name } of factorsOf(attribute)) {
      const before = costs.get(name) ?? fraction(0n);
      costs.set(name, compare(before, channel.epsilon) < 0n ? channel.epsilon : before);
    }
  }
  return [...costs].map(([name, cost]) => [name, plain(cost)]);
}

/**
 * Return what a study that is released in batches promises towards its readers, computed here from its integers:
 * { draws, delta, epsilon, text }, where `text` is epsilon as a decimal, rounded up.
 *
 * This module has no dependencies, but for such studies it wants fairgauge-crowd.js beside it.
 */
export async function promised(study) {
  const { delta, draws } = study.release;
  const found = await import("./fairgauge-crowd.js").catch(() => {
    const text = "the study is released in batches, and fairgauge-crowd.js is not beside this client";
    throw new CannotAnswer(text, ["release", {}]);
  });
  const crowd = found.crowdOf(study, draws, { delta });
  // A double is a fraction with a power of two below it, so this is exact until it is rounded up.
  return { ...crowd, text: roundedUp(fraction(BigInt(Math.ceil(crowd.epsilon * 2 ** 60)), 1n << 60n), 12) };
}

/** Return what an answer costs towards readers: [[name, epsilon, delta]...]; without a crowd, what it costs at all. */
function towardsReaders(charges, crowd) {
  return charges.map(([name, cost]) =>
    crowd && atMost(decimal(crowd.text), cost) ? [name, crowd.text, crowd.delta] : [name, cost, "0"],
  );
}

/** What is spent unless somebody says otherwise: epsilon 4 on one study, and 8 on an attribute over a lifetime. */
export const LIMITS = Object.freeze({ study: "4", lifetime: "8" });
const LOWERED = "limits";

/** Return the limits that were given, and the usual ones for those that were not; null is no limit. */
function allLimits(limits) {
  for (const [name, limit] of Object.entries(limits)) {
    if (!Object.hasOwn(LIMITS, name)) throw new InvalidInput("limits", name, "must be study or lifetime");
    if (limit === null || limit === undefined) continue;
    if (typeof limit !== "string" || limit.length > LONGEST_DECIMAL || !/^[0-9]+(?:\.[0-9]+)?$/.test(limit)) {
      throw new InvalidInput(name, limit, 'must be a number from 0 up in quotes, such as "2.5"');
    }
  }
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  return { ...LIMITS, ...Object.fromEntries(given) };
}

/** Refuse a study of which one question, exactly computed, spends more than any one study may. */
export function checkStudyLimit(study, limit = LIMITS.study) {
  study.questions.forEach((question, index) => {
    if (limit === null || question.channel.within(limit)) return;
    const spent = roundedUp(question.channel.epsilon, 6);
    throw new NotPrivate(
      `${called(question, index)} spends epsilon ${spent}, and this device allows ${limit} a study`,
      ["study-limit", { spent, limit }],
    );
  });
}

/**
 * Refuse charges that would bring an attribute above its lifetime limit; both are lists of [name, epsilon].
 */
export function checkLifetime(charges, past, limit = LIMITS.lifetime) {
  if (limit === null) return;
  for (const [account, cost] of charges) {
    const met = past.filter(([name]) => name === account);
    const sum = add(total(met), decimal(cost));
    if (!atMost(sum, limit)) {
      const [before, after] = [total(met), sum].map((amount) => roundedUp(amount, 6));
      throw new CannotAnswer(
        `${account} has cost epsilon ${before} on this device; an answer would make it ${after}, ` +
          `and the limit is ${limit}`,
        ["lifetime", { before, after, limit }],
      );
    }
  }
}

/**
 * Refuse an answer about a group without an attribute's name that would bring all answers above the lifetime limit.
 *
 * Such a group is of whatever attribute a study names, so that a new name must not be a new budget.
 */
function checkUnnamed(charges, past, limit) {
  const before = past.reduce((sum, record) => add(sum, dearest(record.charges)), fraction(0n));
  const after = add(before, dearest(charges));
  if (limit === null || atMost(after, limit)) return;
  const shown = { before: roundedUp(before, 6), after: roundedUp(after, 6), limit };
  throw new CannotAnswer(
    `all answers have cost epsilon ${shown.before} on this device; an answer would make it ${shown.after}, and the ` +
      `limit is ${limit} for a group without its attribute's name`,
    ["lifetime", shown],
  );
}

/** Return what an answer of before cost these attributes: one without a name may have been about each of them. */
function chargesTo(charges, { unnamed, charges: before }) {
  return unnamed ? charges.map(([name]) => [name, plain(dearest(before))]) : before;
}

const largest = (amounts) => amounts.reduce((a, b) => (compare(a, b) < 0n ? b : a), fraction(0n));
const dearest = (charges) => largest(charges.map(([, cost]) => decimal(cost)));
const add = (a, b) => fraction(a.n * b.d + b.n * a.d, a.d * b.d);
const total = (charges) => charges.reduce((sum, [, cost]) => add(sum, decimal(cost)), fraction(0n));

// ---------------------------------------------------------------------------------------------------- delivery
const TRY_AGAIN = [408, 425, 429];
const NO = {
  401: "wants a permission that this page does not have",
  403: "does not accept the ticket",
  404: "does not know the study",
  409: "already has another answer with this id",
  410: "has closed the study",
};

/**
 * Fetch a blind ticket: show an ordinary one to the study's issuer, and get a signature that it cannot recognise.
 *
 * What it takes to ask again is in the ledger before anything is sent, so no ticket is lost.  Returns the token, which is
 * in the ledger too; `await tokenId(token)` is the `ticket` that `Ledger.answer` takes then.
 *
 * @param issuer The address of an issuer that the person names.  The name in the study is good where somebody compared the
 *   study's digest: else its collector may have written itself there.
 */
export async function fetchToken(ledger, study, ticket, { issuer = null, timeout = 20 } = {}) {
  const passes = await import("./fairgauge-passes.js");
  const kept = await ledger.token(study.digest);
  if (kept) return kept;
  if (ticket === null) throw new CannotAnswer("the study takes answers with a ticket only", ["ticket", {}]);
  checkTicket(ticket);
  if (issuer === null) throw unconfirmed(study);
  const key = await passes.readKey(study.issuer.key).catch(({ message }) => {
    throw new CannotAnswer(message, ["issuer", {}]);
  });
  const challenge = passes.challengeOf(study.issuer.name, study.digest);
  const { origin } = new URL(issuer);
  await checkSignsFor(study, issuer, timeout);
  const begun = await ledger.beginPass(study.digest, ticket, () => passes.beginPass(key));
  const request = {
    ...DISCREET,
    method: "POST",
    body: await passes.requestOf(begun, key, challenge),
    headers: { "Content-Type": "application/private-token-request", Authorization: `Bearer ${ticket}` },
    signal: AbortSignal.timeout(timeout * 1000),
  };
  const response = await fetch(`${issuer.replace(/\/$/, "")}/token-request`, request).catch(() => null);
  if (response === null) throw new CannotSend(`${origin} does not answer`, ["no-answer", { place: origin }]);
  const { status } = response;
  if ([400, 401, 403, 404, 409].includes(status)) {
    const text = `${origin} does not take the ticket (HTTP status ${status})`;
    throw new AnswerRefused(text, ["exchange-refused", { place: origin, status }]);
  }
  if (status !== 200) {
    const text = `${origin} is not ready to exchange the ticket (HTTP status ${status})`;
    throw new CannotSend(text, ["exchange-busy", { place: origin, status }]);
  }
  const signed = new Uint8Array(await response.arrayBuffer());
  const token = await passes.tokenOf(begun, key, challenge, signed).catch(() => {
    const text = `${origin} did not sign with the key that the study names; nothing was drawn`;
    throw new CannotAnswer(text, ["other-key", { place: origin }]);
  });
  return ledger.keepToken(study.digest, token);
}

/** Refuse a study that its issuer does not name: somebody may have made one for this browser alone. */
async function checkSignsFor(study, issuer, timeout) {
  const { origin } = new URL(issuer);
  const address = `${issuer.replace(/\/$/, "")}/.well-known/private-token-issuer-directory`;
  const request = { ...DISCREET, signal: AbortSignal.timeout(timeout * 1000) };
  const response = await fetch(address, request).catch(() => null);
  if (response === null) throw new CannotSend(`${origin} does not answer`, ["no-answer", { place: origin }]);
  const { studies } = response.ok ? await response.json().catch(() => ({})) : {};
  // An issuer's key is for one study: who names several may name everyone's own.
  if (Array.isArray(studies) && studies.length === 1 && studies[0] === study.digest) return;
  const text = `${origin} does not sign for this study, and for no other: somebody may have made it for you alone; nothing was drawn`;
  throw new CannotAnswer(text, ["other-key", { place: origin }]);
}

/** Return the id of the answer that a blind ticket lets in, which is the `ticket` that `Ledger.answer` takes. */
export const tokenId = async (token) => (await import("./fairgauge-passes.js")).answerId(token);

/**
 * Post an answer to {url}/studies/{digest}/answers until the collector has it: "accepted" or "duplicate".
 *
 * Every try sends the same bytes.  `token` is the blind ticket, where the study wants one.  With `relay`, an address, and
 * `gateway`, the key that the study names, it goes through that relay, and the collector does not see this address.  Before each further try it waits a random time, up to `first` seconds and twice as
 * long each time, at most `longest`; what the collector asks for with Retry-After comes on top, at most `longest` too.
 */
export async function send(drawn, url, { tries = 8, first = 1, longest = 300, timeout = 20, ...way } = {}) {
  checkApart("relay", way.relay, url);
  const ask = await asking(way);
  const base = new URL(url, globalThis.location?.href);
  const target = `${base.href.replace(/\/$/, "")}/studies/${drawn.study}/answers`;
  const request = { ...DISCREET, method: "POST", body: answerBytes(drawn) };
  request.headers = { "Content-Type": "application/json", Accept: "application/json" };
  const place = base.origin;
  for (let left = tries - 1, most = first; ; left -= 1, most *= 2) {
    let [asked, problem] = [0, new CannotSend(`${place} does not answer`, ["no-answer", { place }])];
    try {
      const response = await ask(target, { ...request, signal: AbortSignal.timeout(timeout * 1000) });
      const { status } = response;
      const receipt = [200, 201, 202].includes(status) ? (await response.json().catch(() => null))?.status : null;
      if (receipt === "accepted" || receipt === "duplicate") return receipt;
      if (status >= 400 && status < 500 && !TRY_AGAIN.includes(status)) {
        throw new AnswerRefused(
          `${place} ${NO[status] ?? "does not take the answer"} (HTTP status ${status})`,
          [NO[status] ? `refused-${status}` : "refused", { place, status }],
        );
      }
      const text = `${place} is not ready to take the answer (HTTP status ${status})`;
      problem = new CannotSend(text, ["busy", { place, status }]);
      asked = retryAfter(response.headers.get("Retry-After"));
    } catch (error) {
      if (error instanceof AnswerRefused) throw error;
    }
    if (left <= 0) throw problem;
    // Everyone was asked to wait equally long; pages that failed together must not come back together.
    const jitter = (Number(secureBits(ROW_BITS)) / 2 ** ROW_BITS) * Math.min(longest, most);
    await new Promise((resume) => setTimeout(resume, 1000 * (Math.min(longest, asked) + jitter)));
  }
}

/** Return what asks: fetch, or fetch through a relay, each with the blind ticket if there is one. */
async function asking({ token = null, relay = null, gateway = null }) {
  if (token === null && relay === null) return fetch;
  const { base64url } = await import("./fairgauge-passes.js");
  const shown = token === null ? {} : { Authorization: `PrivateToken token="${base64url(token)}"` };
  if (relay === null) return (url, { headers, ...more }) => fetch(url, { ...more, headers: { ...headers, ...shown } });
  const { askThrough, readConfig } = await import("./fairgauge-envelopes.js");
  const config = readConfig(gateway ?? "");
  return async (url, { method = "GET", body, headers, ...more }) => {
    const lower = Object.entries({ ...headers, ...shown }).map(([name, value]) => [name.toLowerCase(), value]);
    // Sorted, so that a request looks the same whichever client made it.
    const asked = { method, url, headers: Object.fromEntries(lower.sort()), content: body };
    const found = await askThrough(relay, config, asked, more);
    // What a relay itself says is not what the collector says: it can delay an answer, and never refuse it.
    return found ? new Response(found.content, found) : new Response(null, { status: 502 });
  };
}

function needsRelay() {
  const text = "the study has answers sent through a relay, so that the collector sees no addresses: give its address";
  return new CannotSend(text, ["relay", {}]);
}

/**
 * Return a uniform second of the epoch after this one, before the study closes; epochs are the same for everyone.
 *
 * Who sees when a device did something, and when an answer arrives, could tie the two together.
 */
export function nextMoment(now, { epoch, closes }, below = secureBelow) {
  const length = Number(epoch);
  const begins = (Math.floor(now / length) + 1) * length;
  const ends = Math.min(begins + length, closes === null ? Infinity : Date.parse(closes) / 1000);
  if (ends <= begins) {
    const text = `answers to this study are sent in the epoch after the one in which they are drawn, and it closes at ${closes}, before that begins; nothing was drawn`;
    throw new CannotAnswer(text);
  }
  return begins + below(ends - begins);
}

const shownMoment = (second) => `${new Date(1000 * second).toISOString().slice(0, 19)}Z`;

/**
 * Send an answer of a ledger, and remember there what became of it.
 *
 * One to a study that names a gateway goes through a relay, so that the collector does not see this address, and one to a
 * study with epochs not before its moment, which `recall` has; who sends it `straight` all the same says so to the person.
 */
export async function deliver(ledger, drawn, url, { straight = false, ...patience } = {}) {
  const kept = straight ? null : await ledger.recall(drawn.study);
  if (kept?.relayed && !patience.relay) throw needsRelay();
  if (kept?.moment && Date.now() < 1000 * kept.moment) {
    const text = `the answer waits until ${shownMoment(kept.moment)}, so that its moment tells nothing`;
    throw new CannotSend(text);
  }
  try {
    const token = await ledger.token(drawn.study);
    const receipt = await send(drawn, url, { token, ...patience });
    await ledger.markSent(drawn);
    return receipt;
  } catch (error) {
    if (error instanceof AnswerRefused) await ledger.markRefused(drawn);
    throw error;
  }
}

function retryAfter(header) {
  const text = (header ?? "").trim();
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return seconds > 0 ? seconds : 0;
}
