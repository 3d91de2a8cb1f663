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
import { offerProof, remembered } from "./take-part-crowd.js";
import { ticketField } from "./take-part-fields.js";
import { make } from "./take-part-visit.js";

const PATIENCE = { tries: 3, first: 1, longest: 20 };
const WAITS = { first: 5, longest: 120 }; // seconds between rounds of tries, while the page is open

/** Show the very bytes of an answer, and let the person send them. */
export function review(visit, study, answer, record) {
  const { state } = record;
  const bytes = answerBytes(answer);
  visit.get("bytes").textContent = new TextDecoder().decode(bytes);
  const [title, text, more] = texts(visit, study, bytes.length)[state];
  visit.get("ready-title").textContent = title;
  visit.get("ready-text").textContent = text;
  visit.get("ready-more").textContent = more;
  const code = (value) => make("code", { dir: "ltr" }, value);
  const kept = {
    study: code(answer.study),
    id: code(answer.id),
    symbol: code(String(answer.symbol)),
    cost: visit.say("memory.epsilon", { number: visit.words.numeral(roundedUp(study.epsilon, 6)) }),
    readers: remembered(visit, record),
    state: visit.say(`memory.${state}`),
  };
  const told = Object.entries(kept).filter(([, value]) => value !== null);
  const lines = told.map(([name, value]) => [
    make("dt", {}, visit.say(`memory.${name}`)),
    make("dd", {}, value),
  ]);
  visit.get("memory").replaceChildren(...lines.flat());
  visit.show("send-buttons", state === "pending");
  visit.show("rather-not", state === "pending");
  visit.show("stop", false);
  thank(visit, study, answer, state === "delivered");
  const again = state === "refused" && study.admission === "tickets";
  visit.show("again", again);
  if (again) offerTicket(visit, study, answer);
  visit.get("send").onclick = () => submit(visit, study, answer);
  visit.get("status").replaceChildren();
  visit.show("ready");
}

/** Let a person whose ticket was refused give another one; the symbol stays the same. */
function offerTicket(visit, study, answer) {
  const field = ticketField(visit.words, "");
  visit.get("again-field").replaceChildren(field.element);
  visit.get("again").onsubmit = async (event) => {
    event.preventDefault();
    if (!field.check()) return field.focus();
    const renewed = await visit.ledger.useTicket(answer, field.read());
    visit.get("sending").textContent = "";
    review(visit, study, renewed, await visit.ledger.recall(study.digest));
    visit.get("ready-title").focus();
  };
}

/** Return title, text and small print for each state of an answer. */
function texts(visit, { admission, gateway, epoch }, count) {
  const id = visit.say(admission === "tickets" ? "ready.ticket" : "ready.random");
  const blind = admission === "blind"; // then the ticket goes along, beside these bytes
  // What a study asks for so that nobody can tell whose an answer is, a page of the collector's cannot do: it says so.
  const more = gateway || epoch ? [visit.say("ready.more"), visit.say("ready.at-once")] : [visit.say("ready.more")];
  return {
    pending: [
      visit.say("ready.title"),
      blind ? visit.say("ready.text-blind") : visit.say("ready.text", { count, id }),
      more.join(" "),
    ],
    delivered: [visit.say("thanks.title"), visit.say(blind ? "thanks.text-blind" : "thanks.text"), ""],
    refused: [visit.say("refused.title"), visit.say("refused.text"), ""],
  };
}

// ------------------------------------------------------------------------------------------------- sending it
/** Send an answer until the collector has it or refuses it, for as long as the page is open. */
export async function submit(visit, study, answer) {
  if (visit.sending) return;
  visit.sending = true;
  await visit.ledger.markWanted(answer); // another visit goes on with it
  for (let wait = WAITS.first; ; wait = Math.min(2 * wait, WAITS.longest)) {
    visit.get("send").disabled = true;
    visit.show("rather-not", false);
    visit.show("stop", false);
    visit.get("sending").textContent = visit.say("sending.now");
    const problem = await deliver(visit.ledger, answer, visit.collector, { ...PATIENCE, straight: true }).then(
      () => null,
      (error) => error,
    );
    visit.get("send").disabled = false;
    visit.get("sending").replaceChildren(...(problem ? told(visit, problem) : []));
    if (!(problem instanceof CannotSend) || problem instanceof AnswerRefused) break;
    visit.show("stop");
    if (!(await nextMoment(visit, wait))) {
      await visit.ledger.markWanted(answer, false);
      visit.get("sending").textContent = visit.say("sending.stopped");
      break;
    }
  }
  visit.sending = false;
  const record = await visit.ledger.recall(study.digest);
  if (record.state === "delivered") visit.tell("sent");
  review(visit, study, answer, record);
  visit.get("ready-title").focus();
}

function told(visit, problem) {
  if (problem instanceof AnswerRefused) return [visit.explain(problem)];
  if (!navigator.onLine) return [visit.say("sending.offline"), " ", visit.say("sending.waits")];
  const text = problem instanceof FairgaugeError ? visit.explain(problem) : visit.say("sending.failed");
  return [text, " ", visit.say("sending.waits")];
}

/** Wait some seconds, less if the network comes back or the button is pressed; false if the person says to stop. */
function nextMoment(visit, seconds) {
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
    visit.get("send").addEventListener("click", () => end(true), { signal });
    visit.get("stop").addEventListener("click", () => end(false), { signal });
  });
}

// -------------------------------------------------------------------------------------------- that it is counted
/** Say where the results are and how to check that this answer is counted, once it is. */
async function thank(visit, study, answer, counted) {
  visit.show("counted", counted);
  visit.show("results", false);
  if (!counted) return;
  visit.get("recheck").onclick = () => recheck(visit, answer);
  offerProof(visit, study, answer);
  const found = await studyStatus(study, visit.collector, { straight: true }).catch(() => null);
  const open = found?.results === "public";
  const here = new URL(`studies/${study.digest}`, visit.collector);
  const results = make("a", { href: visit.results(here) }, visit.say("thanks.results-link"));
  visit.get("results").replaceChildren(...visit.rich("thanks.results", { link: results }));
  visit.show("results", open);
  const id = make("code", { dir: "ltr" }, answer.id);
  const link = make("a", { href: `${here.href}/export` }, visit.say("thanks.list-link"));
  const key = open && !["tickets", "blind"].includes(study.admission) ? "thanks.list" : "thanks.no-list";
  visit.get("counted-list").replaceChildren(...(study.release ? [] : visit.rich(key, { link, id })));
}

/** Send the same bytes once more: whoever has counted them says so, and counts nothing twice. */
async function recheck(visit, answer) {
  visit.get("recheck").disabled = true;
  const said = await send(answer, visit.collector, { tries: 1, token: await visit.ledger.token(answer.study) }).then(
    (receipt) => [visit.say(receipt === "duplicate" ? "thanks.yes" : "thanks.missing")],
    (error) => {
      const reason = visit.explain(error);
      return error instanceof AnswerRefused ? visit.rich("thanks.no", { reason }) : [reason];
    },
  );
  visit.get("rechecked").replaceChildren(...said);
  visit.get("recheck").disabled = false;
}
