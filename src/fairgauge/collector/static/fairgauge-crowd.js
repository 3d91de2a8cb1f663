/**
 * fairgauge-crowd.js: what released counts with secret draws reveal about one person at most, computed in a browser.
 *
 *   import { crowdOf } from "./fairgauge-crowd.js";
 *   const { epsilon } = crowdOf(study, 1000, { delta: "1e-8" });
 *
 * It is the certified bound of fairgauge.crowd in Python: the two share test vectors.  Doubles pick epsilon and t; the
 * bound itself is computed from the study's integers, as BigInt in units of 2^-BITS, with every operation rounded
 * upward.  So a number that comes out here may be a digit larger than Python's, and is never too small.
 *
 * Apache-2.0.  No dependencies but fairgauge-client.js beside it.
 */
import { InvalidInput, NotPrivate } from "./fairgauge-client.js";

const ROW_SUM = 1n << 53n;
const BITS = 160n;
const ONE = 1n << BITS;
const LARGEST_EXPONENT = 600;
const NOTHING = 1e-15;
const LARGEST_T = 1e12;
const LARGEST_PART = 40n; // exp(-e^epsilon 40) has digits left in 2^-BITS for every epsilon that devices allow
const LARGEST_WHOLE = 1000n;
const MOST_DRAWS = 1e12;

/**
 * Return what counts of a study with so many secret draws promise a person: { draws, delta, epsilon }.
 *
 * @param study As `loadStudy` gives it.
 * @param draws How many secret draws the collector adds to each batch.
 * @param delta A decimal in a string; 1e-8 unless given.
 */
export function crowdOf(study, draws, { delta = "1e-8" } = {}) {
  if (!Number.isSafeInteger(draws) || draws < 1 || draws > MOST_DRAWS) {
    throw new InvalidInput("draws", draws, `must be an integer from 1 to ${MOST_DRAWS}`);
  }
  const wanted = parsed(delta);
  if (wanted === null || wanted.n === 0n || wanted.n >= wanted.d) {
    throw new InvalidInput("delta", delta, "must be above 0 and below 1");
  }
  const channels = study.tables.map(([{ channel }]) => channel); // one draw for each table, however many questions
  if (channels.some(({ loss }) => loss === null)) {
    throw new NotPrivate("a symbol excludes an input, and no crowd hides that");
  }
  const largest = channels.map(({ epsilon }) => epsilon).reduce((a, b) => (a.n * b.d < b.n * a.d ? b : a));
  const most = roundedUpToDouble(largest);
  const blankets = channels.map(({ table }) => blanketOf(table));
  const epsilon = most === 0 ? 0 : smallestEpsilon(blankets, draws, wanted, most);
  return { draws, delta, epsilon };
}

/** Return the fraction that a decimal such as "0.5" or "1e-8" is; null if it is none, or negative. */
function parsed(text) {
  const match = /^(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(String(text));
  if (!match) return null;
  const power = Number(match[3] ?? "0") - (match[2] ?? "").length;
  const n = BigInt(match[1] + (match[2] ?? ""));
  return power < 0 ? { n, d: 10n ** BigInt(-power) } : { n: n * 10n ** BigInt(power), d: 1n };
}

/** Return the least double that is not below a fraction whose denominator is a power of ten. */
function roundedUpToDouble({ n, d }) {
  const nearest = Number(`${n}e-${d.toString().length - 1}`);
  const { n: top, d: bottom } = exactly(nearest);
  return top * d < n * bottom ? next(nearest) : nearest;
}

/** Return the double after one that is above 0. */
function next(x) {
  const bits = new BigUint64Array(new Float64Array([x]).buffer);
  bits[0] += 1n;
  return new Float64Array(bits.buffer)[0];
}

/** Return the fraction that a double from 0 up is. */
function exactly(x) {
  let d = 1n;
  let scaled = x;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    d *= 2n;
  }
  return { n: BigInt(scaled), d };
}

// ----------------------------------------------------------------------------------------------------- blanket
/** Return the different rows of a table, symbols with equal ratios merged, and the least weight of each column. */
function blanketOf(table) {
  const merged = new Map();
  for (let j = 0; j < table[0].length; j += 1) {
    const column = table.map((row) => row[j]);
    if (column.every((weight) => weight === 0n)) continue;
    const scale = column.reduce(gcd);
    const key = column.map((weight) => weight / scale).join();
    merged.set(key, (merged.get(key) ?? column.map(() => 0n)).map((weight, i) => weight + column[i]));
  }
  const columns = [...merged.values()];
  const rows = new Map(table.map((_, i) => [columns.map((column) => column[i]).join(), columns.map((column) => column[i])]));
  return { rows: [...rows.values()], least: columns.map((column) => column.reduce((a, b) => (a < b ? a : b))) };
}

/** Return the weight of several tables' blankets together. */
function weightOf(blankets) {
  return blankets.reduce((sum, { least }) => least.reduce((a, b) => a + b, sum), 0n);
}

function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

// ------------------------------------------------------------------------------------------------- certificate
const up = (n, d) => (n + d - 1n) / d; // for n from 0 up
const timesUp = (a, b) => (a * b + ONE - 1n) >> BITS;

/** Return an upper bound of 2^BITS * exp(n / d): by a series for n / (d 2^k), which is then squared k times. */
function expUp(n, d) {
  if (n < 0n) return up(ONE * ONE, expDown(-n, d));
  let halvings = 0n;
  while (n > d << halvings) halvings += 1n;
  const x = up(n << BITS, d << halvings); // from 0 to 1
  let [sum, term] = [ONE, ONE];
  for (let k = 1n; term > 1n; k += 1n) {
    term = up(timesUp(term, x), k);
    sum += term;
  }
  sum += 2n; // what follows the last term is less than that term
  for (let k = 0n; k < halvings; k += 1n) sum = timesUp(sum, sum);
  return sum;
}

/** Return a lower bound of 2^BITS * exp(n / d), for n from 0 up. */
function expDown(n, d) {
  let halvings = 0n;
  while (n > d << halvings) halvings += 1n;
  const x = (n << BITS) / (d << halvings);
  let [sum, term] = [ONE, ONE];
  for (let k = 1n; term > 0n; k += 1n) {
    term = ((term * x) >> BITS) / k;
    sum += term;
  }
  for (let k = 0n; k < halvings; k += 1n) sum = (sum * sum) >> BITS;
  return sum;
}

/** Tell whether exponents are so large that a product of their two parts would lose its digits, or never end. */
const isSteep = (rows, least, tn, td) =>
  rows.some((row) => row.some((weight, j) => tn * weight > LARGEST_PART * td * least[j]));

/** Return what sums up a pair of rows, in units of 2^-2BITS: an exponential is a part for x times a part for y. */
function inParts(rows, least, { tn, td, factor }) {
  const own = rows.map((row) => row.map((weight, j) => least[j] * expUp(tn * weight, td * least[j])));
  const other = rows.map((row) => row.map((weight, j) => expUp(-(tn * factor * weight), (td * least[j]) << BITS)));
  return (x, y) => own[x].reduce((sum, rise, j) => sum + rise * other[y][j], 0n);
}

/** Return the same, from the whole exponents: with few draws t is large, and they are small though their parts are not. */
function eachPair(rows, least, { tn, td, factor }) {
  return (x, y) =>
    least.reduce((sum, weight, j) => {
      const [n, d] = [tn * ((rows[x][j] << BITS) - factor * rows[y][j]), (td * weight) << BITS];
      if (n > LARGEST_WHOLE * d) return sum + (weight << (4n * BITS)); // far beyond any delta
      return sum + ((weight * (-n > LARGEST_WHOLE * d ? 1n : expUp(n, d))) << BITS);
    }, 0n);
}

/** Tell whether the bound at epsilon and t, both doubles, is at most delta; and each question's worst pair of rows. */
function certify(blankets, draws, epsilon, t, delta) {
  const { n: tn, d: td } = exactly(t);
  const { n: en, d: ed } = exactly(epsilon);
  const factor = expDown(en, ed);
  const worst = blankets.map(({ rows, least }) => {
    const valueOf = (isSteep(rows, least, tn, td) ? eachPair : inParts)(rows, least, { tn, td, factor });
    let found = { value: -1n, pair: null };
    rows.forEach((_, x) =>
      rows.forEach((_, y) => {
        const value = valueOf(x, y);
        if (value > found.value) found = { value, pair: [x, y] };
      }),
    );
    return found;
  });
  const total = worst.reduce((sum, { value }) => sum + value, 0n);
  const weight = weightOf(blankets);
  const mean = up(total, weight << BITS); // m in units of 2^-BITS
  const n = BigInt(draws) + 1n;
  // weight / whole * mean^n / (e t n) <= delta, with everything on the side where rounding up is safe.
  const bound = powerUp(mean, n);
  const whole = BigInt(blankets.length) * ROW_SUM;
  const allowed = expDown(1n, 1n) * tn * n * delta.n * whole;
  return { enough: bound !== null && weight * bound * td * delta.d <= allowed, pairs: worst.map(({ pair }) => pair) };
}

/** Tell whether the bound of counts with so many draws at epsilon and t, both doubles, is at most delta, a decimal. */
export function isCertified(study, draws, epsilon, t, delta) {
  const blankets = study.tables.map(([{ channel }]) => blanketOf(channel.table));
  return certify(blankets, draws, epsilon, t, parsed(delta)).enough;
}

/** Return base^exponent, rounded up, in units of 2^-BITS; null if it is far above 1. */
function powerUp(base, exponent) {
  let result = ONE;
  for (; exponent; exponent >>= 1n) {
    if (exponent & 1n) result = timesUp(result, base);
    base = timesUp(base, base);
    if (base > ONE << 4096n || result > ONE << 4096n) return null;
  }
  return result;
}

// ------------------------------------------------------------------------------------------------------ search
/** Return the smallest epsilon, to five digits, that the bound certifies; at most `most`. */
function smallestEpsilon(blankets, draws, delta, most) {
  const pairs = blankets.map((blanket) => new Map([widest(blanket)].map((pair) => [pair.join(), pair])));
  const weight = weightOf(blankets);
  const part = Number(weight) / (blankets.length * Number(ROW_SUM));
  const aim = Math.log(Number((delta.n * 10n ** 60n) / delta.d)) - 60 * Math.LN10 - Math.log(part);
  for (let before = 0; ; ) {
    const laws = blankets.map((blanket, q) => [...pairs[q].values()].map((pair) => lawOf(blanket, pair, weight)));
    const found = leastEpsilon(laws, draws, aim, most);
    const epsilon = found === null ? most : Math.max(fiveDigitsUp(found), before);
    if (epsilon >= most) return most;
    const t = bestT(laws, draws, epsilon);
    const { enough, pairs: worst } = certify(blankets, draws, epsilon, t, delta);
    if (enough) return epsilon;
    if (worst.every((pair, q) => pairs[q].has(pair.join()))) before = fiveDigitsUp(next(next(epsilon)));
    worst.forEach((pair, q) => pairs[q].set(pair.join(), pair));
  }
}

/** Return a number rounded up to five digits. */
function fiveDigitsUp(x) {
  const rounded = Number(x.toPrecision(5));
  if (rounded >= x) return rounded;
  const [digits, power] = x.toExponential(4).split("e");
  return Number(`${(Number(digits.replace(".", "")) + 1).toString()}e${Number(power) - 4}`);
}

function leastEpsilon(laws, draws, aim, most) {
  const enough = (epsilon) => logBound(laws, draws, epsilon, bestT(laws, draws, epsilon)) <= aim;
  if (!enough(most)) return null;
  let [low, high] = [0, most];
  while (high - low > 1e-9 * high) {
    const middle = (low + high) / 2;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function bestT(laws, draws, epsilon) {
  let [low, high] = [1 / Math.sqrt(draws + 1), 1 / Math.sqrt(draws + 1)];
  while (slope(laws, draws, epsilon, low) > 0) low /= 4;
  while (high < LARGEST_T && slope(laws, draws, epsilon, high) < 0) high *= 4;
  for (let i = 0; i < 40; i += 1) {
    const middle = Math.sqrt(low * high);
    if (slope(laws, draws, epsilon, middle) > 0) high = middle;
    else low = middle;
  }
  return Math.sqrt(low * high);
}

function logBound(laws, draws, epsilon, t) {
  // At the local epsilon all exponents are negative, and m is nothing for a large t.
  const above = Math.max(moment(laws, epsilon, t)[0], -1 + NOTHING);
  return (draws + 1) * Math.log1p(above) - Math.log(t) - 1 - Math.log(draws + 1);
}

function slope(laws, draws, epsilon, t) {
  const [above, rising] = moment(laws, epsilon, t);
  return above === Infinity ? Infinity : (draws + 1) * t * rising - (1 + above);
}

/** Return m - 1 and its slope in t: sums over the questions of the worst pair's. */
function moment(laws, epsilon, t) {
  const factor = Math.exp(epsilon);
  const worst = laws.map((own) => own.map((law) => pairMoment(law, factor, t)).reduce((a, b) => (b[0] > a[0] ? b : a)));
  return [0, 1].map((part) => worst.reduce((sum, found) => sum + found[part], 0));
}

function pairMoment(law, factor, t) {
  let [above, rising] = [0, 0];
  for (const [weight, own, other] of law) {
    const rise = own - factor * other;
    if (t * rise > LARGEST_EXPONENT) return [Infinity, Infinity];
    const grown = Math.expm1(t * rise);
    above += weight * grown;
    rising += weight * rise * (grown + 1);
  }
  return [above, rising];
}

function lawOf({ rows, least }, [x, y], weight) {
  return least.map((low, j) => [
    Number(low) / Number(weight),
    Number(rows[x][j]) / Number(low),
    Number(rows[y][j]) / Number(low),
  ]);
}

function widest({ rows, least }) {
  let [farthest, pair] = [-1, null];
  const scaled = rows.map((row) => row.map((weight, j) => Number(weight) / Math.sqrt(Number(least[j]))));
  scaled.forEach((a, x) =>
    scaled.forEach((b, y) => {
      const far = a.reduce((sum, value, j) => sum + (value - b[j]) ** 2, 0);
      if (far > farthest) [farthest, pair] = [far, [x, y]];
    }),
  );
  return pair;
}
