/** A study in the crowd: the second promise, computed on this device, and the check that an answer is under the seal. */
import { CannotSend, decimal, promised, roundedUp } from "./fairgauge-client.js";
import { NotSealed, askIncluded } from "./fairgauge-inclusion.js";
import { make } from "./take-part-visit.js";

/** Say what those who only read the study can learn, and what those who run it can. */
export async function describeCrowd(visit, study) {
  if (!study.release) return;
  const { words } = visit;
  const { draws, delta, epsilon, text } = await promised(study);
  const number = words.numeral((Math.ceil(100 * Math.exp(epsilon) * (1 + 1e-12)) / 100).toFixed(2));
  const factor = make("strong", {}, visit.say("privacy.factor", { number }));
  const small = words.numeral(delta);
  visit.get("crowd").replaceChildren(
    make("p", {}, ...visit.rich("crowd.readers", { draws, factor, delta: small })),
    ...(study.gateway ? [] : [make("p", {}, visit.say("crowd.runners"))]),
  );
  const parts = { epsilon: words.numeral(roundedUp(decimal(text), 6)), delta: small, draws };
  visit.get("checks").append(make("li", {}, visit.say("checks.crowd", parts)));
  visit.show("crowd");
}

/** Say what answers have cost towards readers, if that is less than what they have cost towards those who run studies. */
export async function spentTowardsReaders(visit) {
  const { epsilon, delta } = await visit.ledger.spentTowardsReaders();
  if (delta.n === 0n) return "";
  const shown = (amount, places) => visit.words.numeral(roundedUp(amount, places));
  return visit.say("limits.readers", { epsilon: shown(epsilon, 6), delta: shown(delta, 12) });
}

/** Return what an answer has cost towards readers, for the list of what is remembered; null without a crowd. */
export function remembered(visit, { readers = [] }) {
  const [, epsilon, delta] = readers.find(([, , small]) => small !== "0") ?? [];
  if (!delta) return null;
  return visit.say("memory.both", { number: visit.words.numeral(roundedUp(decimal(epsilon), 6)), delta: visit.words.numeral(delta) });
}

/** Let a person check that their answer is under the seal. */
export function offerProof(visit, study, answer) {
  const offered = Boolean(study.release);
  visit.show("proof", offered);
  if (!offered) return;
  visit.get("prove").onclick = async () => {
    visit.get("prove").disabled = true;
    visit.get("proved").textContent = await askIncluded(study, answer, visit.collector, { straight: true }).then(
      ({ answers, others }) => visit.say("thanks.proved", { answers, others }),
      (error) => {
        if (error instanceof NotSealed) return visit.say("thanks.not-sealed");
        return error instanceof CannotSend ? visit.explain(error) : visit.say("thanks.unproved");
      },
    );
    visit.get("prove").disabled = false;
  };
}
