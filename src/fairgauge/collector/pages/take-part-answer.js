/** What leaves the device: shown, sent until the collector has it, and how to check that it is counted. */
import {
  AnswerRefused,
  CannotSend,
  FairgaugeError,
  answerBytes,
  deliver,
  roundedUp,
  secureBits,
  send,
  studyStatus,
} from "./fairgauge-client.js";
import { collector, get, ledger, make, sentence, show, ticketField } from "./take-part-fields.js";

const PATIENCE = { tries: 3, first: 1, longest: 20 };
const WAITS = { first: 5, longest: 120 }; // seconds between rounds of tries, while the page is open

const STATES = { pending: "not sent yet", delivered: "sent and counted", refused: "refused by the collector" };

/** Show the very bytes of an answer, and let the person send them. */
export function review(study, answer, { state }) {
  const bytes = answerBytes(answer);
  get("bytes").textContent = new TextDecoder().decode(bytes);
  const [title, text, more] = words(study, bytes.length)[state];
  get("ready-title").textContent = title;
  get("ready-text").textContent = text;
  get("ready-more").textContent = more;
  const kept = {
    study: answer.study,
    id: answer.id,
    symbol: String(answer.symbol),
    cost: `epsilon ${roundedUp(study.epsilon, 6)}`,
    state: STATES[state],
  };
  const lines = Object.entries(kept).map(([name, value]) => [
    make("dt", {}, name),
    make("dd", {}, make("code", {}, value)),
  ]);
  get("memory").replaceChildren(...lines.flat());
  show("send-buttons", state === "pending");
  show("rather-not", state === "pending");
  show("stop", false);
  thank(study, answer, state === "delivered");
  show("again", state === "refused" && study.admission === "tickets");
  if (!get("again").hidden) offerTicket(study, answer);
  get("send").onclick = () => submit(study, answer);
  get("status").replaceChildren();
  show("ready");
}

/** Let a person whose ticket was refused give another one; the symbol stays the same. */
function offerTicket(study, answer) {
  const field = ticketField("");
  get("again-field").replaceChildren(field.element);
  get("again").onsubmit = async (event) => {
    event.preventDefault();
    if (!field.check()) return field.focus();
    const renewed = await ledger.useTicket(answer, field.read());
    get("sending").textContent = "";
    review(study, renewed, await ledger.recall(study.digest));
    get("ready-title").focus();
  };
}

/** Return title, text and small print for each state of an answer. */
function words({ admission }, size) {
  const id =
    admission === "tickets" ? "your ticket" : "a random number that keeps your answer from being counted twice";
  return {
    pending: [
      "This is what will leave your device",
      `These ${size} bytes and nothing else: the study’s name, ${id}, and the symbol. Your group and your number ` +
        "are not in them.",
      "As with every page that you open, the collector’s computer sees your network address and your browser’s name " +
        "while you send it. The symbol was drawn once and is stored in this browser: sending it again, or another " +
        "visit, sends the same one.",
    ],
    delivered: ["Thank you. You have taken part.", "Your answer is counted. These bytes are all that was sent:", ""],
    refused: [
      "The collector did not take it",
      "Your browser keeps the answer and will not draw another one. These bytes were sent:",
      "",
    ],
  };
}

// ------------------------------------------------------------------------------------------------- sending it
let sending = false;

/** Send an answer until the collector has it or refuses it, for as long as the page is open. */
export async function submit(study, answer) {
  if (sending) return;
  sending = true;
  await ledger.markWanted(answer); // another visit goes on with it
  for (let wait = WAITS.first; ; wait = Math.min(2 * wait, WAITS.longest)) {
    get("send").disabled = true;
    show("rather-not", false);
    show("stop", false);
    get("sending").textContent = "Sending…";
    const problem = await deliver(ledger, answer, collector, PATIENCE).then(
      () => null,
      (error) => error,
    );
    get("send").disabled = false;
    get("sending").textContent = problem ? told(problem) : "";
    if (!(problem instanceof CannotSend) || problem instanceof AnswerRefused) break;
    show("stop");
    if (!(await nextMoment(wait))) {
      await ledger.markWanted(answer, false);
      get("sending").textContent = "This page has stopped trying.";
      break;
    }
  }
  sending = false;
  review(study, answer, await ledger.recall(study.digest));
  get("ready-title").focus();
}

function told(problem) {
  const text = problem instanceof FairgaugeError ? sentence(problem.message) : "It could not be sent.";
  if (problem instanceof AnswerRefused) return text;
  return (
    `${text} Your answer is kept here. This page sends it by itself as soon as that works; if you close it, it is ` +
    "sent when you open it again."
  );
}

/** Wait some seconds, less if the network comes back or the button is pressed; false if the person says to stop. */
function nextMoment(seconds) {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = (goOn) => {
      clearTimeout(timer);
      over.abort();
      resolve(goOn);
    };
    // Pages that failed together must not come back together.
    const chance = Number(secureBits(53)) / 2 ** 53;
    const timer = setTimeout(() => end(true), 1000 * seconds * (0.5 + chance));
    const { signal } = over;
    addEventListener("online", () => end(true), { signal });
    get("send").addEventListener("click", () => end(true), { signal });
    get("stop").addEventListener("click", () => end(false), { signal });
  });
}

// -------------------------------------------------------------------------------------------- that it is counted
/** Say where the results are and how to check that this answer is counted, once it is. */
async function thank(study, answer, counted) {
  show("counted", counted);
  show("results", false);
  if (!counted) return;
  get("recheck").onclick = () => recheck(answer);
  const found = await studyStatus(study, collector).catch(() => null);
  const open = found?.results === "public";
  const here = new URL(`studies/${study.digest}`, collector);
  get("results").replaceChildren("See ", make("a", { href: here.href }, "what all answers say so far"), ".");
  show("results", open);
  const own = make("code", {}, answer.id);
  const everything = make("a", { href: `${here.href}/export` }, "list of all answers");
  const text =
    open && study.admission !== "tickets"
      ? ["Or look it up: the ", everything, " has a line for each answer that is counted. Yours has the id ", own, "."]
      : ["The list of all answers is not public. Whoever runs the study can look for the id ", own, " in it."];
  get("counted-list").replaceChildren(...text);
}

/** Send the same bytes once more: whoever has counted them says so, and counts nothing twice. */
async function recheck(answer) {
  get("recheck").disabled = true;
  const said = await send(answer, collector, { tries: 1 }).then(
    (receipt) =>
      receipt === "duplicate"
        ? "Yes: the collector has counted exactly these bytes, once."
        : "It was missing. The collector has counted it now.",
    (error) => (error instanceof AnswerRefused ? `No. ${sentence(error.message)}` : sentence(error.message)),
  );
  get("rechecked").textContent = said;
  get("recheck").disabled = false;
}
