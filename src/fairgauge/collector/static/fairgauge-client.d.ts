/** Types of fairgauge-client.js, and of fairgauge-study.js, which has all of it and the custom element. */

/** An exact fraction. */
export interface Fraction {
  n: bigint;
  d: bigint;
}

/** A plain decimal in a string, such as "0.25". */
export type Decimal = string;

/** What one person has: a group for each attribute, and a value for each metric; null is missing. */
export interface Profile {
  group: string | null | Record<string, string | null>;
  values: Record<string, Value | null>;
}

/** A decimal in a string, a number (which counts as the decimal that it prints as), a BigInt, or `ratio(83, 100)`. */
export type Value = string | number | bigint | Ratio;
export interface Ratio {
  readonly part: bigint;
  readonly whole: bigint;
}

/** What is sent, and all of it. */
export interface Answer {
  study: string;
  id: string;
  symbol: number;
}

export type State = "pending" | "delivered" | "refused";

/** What a ledger remembers of an answer. */
export interface Kept extends Answer {
  state: State;
  charges: [attribute: string, epsilon: Decimal][];
  readers: [attribute: string, epsilon: Decimal, delta: Decimal][];
  wanted?: boolean;
  relayed?: boolean;
  moment?: number; // the second from which it may be sent, until it is
}

/** Decimals in strings; null is no limit. */
export interface Limits {
  study?: Decimal | null;
  lifetime?: Decimal | null;
}

export interface Metric {
  name: string;
  low: Decimal;
  high: Decimal;
  help?: string | null;
  better?: "lower" | null;
  unit?: string | null;
}

export interface Attribute {
  name: string;
  groups: string[];
  help?: string | null;
  shares?: Decimal[] | null;
  cross?: Attribute[];
}

export interface Question {
  metric: Metric;
  attribute: Attribute;
  target: "gap" | "means";
  design: string;
  epsilon: Decimal;
  channel: Channel;
}

/** A study that was checked; what it does not say is null. */
export interface Study {
  readonly format: 1;
  readonly title: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly questions: Question[];
  readonly tables: Question[][];
  readonly metrics: Metric[];
  readonly attributes: Attribute[];
  readonly offsets: number[];
  readonly opens: string | null;
  readonly closes: string | null;
  readonly contact: string | null;
  readonly language?: string | null;
  readonly purpose?: string | null;
  readonly operator?: string | null;
  readonly retention?: number | null;
  readonly admission: "open" | "tickets" | "blind" | null;
  readonly issuer?: { name: string; key: string } | null;
  readonly gateway?: string | null;
  readonly release?: { batch: number; delta: Decimal; draws: number } | null;
  /** The exact epsilon, rounded up at its 50th digit. */
  readonly epsilon: Fraction;
  /** By how much an answer can change anyone's odds at most; null in a study for sites. */
  readonly loss: Fraction | null;
  readonly translations?: Record<string, Record<string, string>> | null;
}

export interface Status {
  status: "not open yet" | "open" | "closed" | "sealed";
  results: "public" | "readers";
}

export interface Patience {
  tries?: number;
  first?: number;
  longest?: number;
  timeout?: number;
  relay?: string | null;
  gateway?: string | null;
  token?: Uint8Array | null;
}

/** Texts of errors are in English; `said` is for a page that has words in other languages. */
export class FairgaugeError extends Error {
  constructor(message: string, said?: [name: string, parts: Record<string, string | number>] | null);
  said: [name: string, parts: Record<string, string | number>] | null;
}
export class InvalidInput extends FairgaugeError {
  constructor(field: string, value: unknown, rule: string, said?: FairgaugeError["said"]);
  field: string;
  rule: string;
}
export class BadStudy extends InvalidInput {}
export class BadTable extends InvalidInput {}
export class NotPrivate extends FairgaugeError {}
export class CannotAnswer extends FairgaugeError {}
export class CannotSend extends FairgaugeError {}
export class AnswerRefused extends CannotSend {}

export function decimal(text: Decimal): Fraction;
export function atMost(amount: Fraction, limit: Decimal): boolean;
export function ratio(part: number | bigint | string, whole: number | bigint | string): Ratio;
export function logBound(high: bigint, low: bigint): Fraction;
export function plain(amount: Fraction): Decimal;
export function roundedUp(amount: Fraction, places: number): Decimal;
export function secureBits(count: number): bigint;
export function secureBelow(limit: number, bits?: (count: number) => bigint): number;

export class Channel {
  constructor(table: bigint[][], levels: bigint[], groups: number, abstain: boolean, further?: bigint[][]);
  readonly table: bigint[][];
  readonly levels: bigint[];
  readonly groups: number;
  readonly abstain: boolean;
  readonly axes: bigint[][];
  readonly symbols: number;
  readonly loss: Fraction | null;
  readonly epsilon: Fraction | null;
  within(epsilon: Decimal): boolean;
  draw(group: number | null, positions: (Fraction | null)[], bits?: (count: number) => bigint): number;
}

export function parseStudy(bytes: Uint8Array, admission?: string | null): Promise<Study>;
export function loadStudy(
  source: string | URL | Uint8Array,
  options?: { digest?: string | null; timeout?: number; relay?: string | null },
): Promise<Study>;
export function studyStatus(
  study: Pick<Study, "digest"> & { gateway?: string | null },
  url: string,
  options?: { timeout?: number; relay?: string | null; straight?: boolean },
): Promise<Status>;
export function factorsOf(attribute: Attribute): Attribute[];
export function textsOf(study: Study): Record<string, string>;
export function spoken(study: Study, wanted: Iterable<string>): [tag: string | null, texts: Record<string, string>];

export function answerBytes(answer: Answer): Uint8Array;
export function position(metric: Metric, value: Value): Fraction;
export function nearest(metric: Metric, value: unknown): Fraction | null;
export function answer(
  study: Study,
  profile: Profile,
  options?: { limits?: Pick<Limits, "study">; ticket?: string | null; bits?: (count: number) => bigint },
): Answer;
export function checkAble(study: Study, ticket: string | null): void;

/** What this browser answered, and what that cost: an IndexedDB of this site. */
export class Ledger {
  constructor(name?: string);
  answer(
    study: Study,
    profile: Profile,
    options?: { limits?: Limits; ticket?: string | null; straight?: boolean },
  ): Promise<Answer>;
  limits(): Promise<{ study: Decimal | null; lifetime: Decimal | null }>;
  lower(limits: Limits): Promise<{ study: Decimal; lifetime: Decimal }>;
  spent(): Promise<Fraction>;
  spentTowardsReaders(): Promise<{ epsilon: Fraction; delta: Fraction }>;
  recall(digest: string): Promise<Kept | null>;
  pending(): Promise<Answer[]>;
  markWanted(answer: Answer, wanted?: boolean): Promise<void>;
  markSent(answer: Answer): Promise<void>;
  markRefused(answer: Answer): Promise<void>;
  useTicket(refused: Answer, ticket: string): Promise<Answer>;
  beginPass<T>(study: string, ticket: string, begin: () => T): Promise<T>;
  keepToken(study: string, token: Uint8Array): Promise<Uint8Array>;
  token(study: string): Promise<Uint8Array | null>;
}

/** What a study that is released in batches promises towards its readers. */
export function promised(study: Study): Promise<{
  draws: number;
  delta: Decimal;
  epsilon: number;
  text: Decimal;
}>;

export const LIMITS: Readonly<{ study: Decimal; lifetime: Decimal }>;
export function checkStudyLimit(study: Study, limit?: Decimal | null): void;
export function checkLifetime(charges: Kept["charges"], past: Kept["charges"], limit?: Decimal | null): void;

export function fetchToken(
  ledger: Ledger,
  study: Study,
  ticket: string | null,
  options?: { issuer?: string; timeout?: number },
): Promise<Uint8Array>;
export function nextMoment(
  now: number,
  study: { epoch: bigint | number | null; closes: string | null },
  below?: (limit: number) => number,
): number;
export function tokenId(token: Uint8Array): Promise<string>;
export function send(drawn: Answer, url: string, patience?: Patience): Promise<"accepted" | "duplicate">;
export function deliver(
  ledger: Ledger,
  drawn: Answer,
  url: string,
  patience?: Patience & { straight?: boolean },
): Promise<"accepted" | "duplicate">;

/** `<fairgauge-study src="https://collector.example/studies/1f0c…">`; in fairgauge-study.js only. */
export class FairgaugeStudy extends HTMLElement {}

declare global {
  interface HTMLElementTagNameMap {
    "fairgauge-study": FairgaugeStudy;
  }
  interface HTMLElementEventMap {
    "fairgauge-loaded": CustomEvent<{ study: string; title: string }>;
    "fairgauge-sent": CustomEvent<{ study: string }>;
  }
}
