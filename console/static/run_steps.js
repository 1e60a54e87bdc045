// The steps of a run: model calls with their seconds and tokens, attempts, and waits.

import { call } from "./api.js";
import { smallTable } from "./checks.js";
import { fill, h } from "./dom.js";
import { duration, language, moment, number, t } from "./language.js";
import { polling } from "./polling.js";
import { named } from "./runs_list.js";
import { stepName } from "./words/steps.js";

const pace = 5000; // milliseconds between two looks; each reads the history of the workflow

/**
 * Returns the steps of a run, which are up to date until it has ended.
 * @param {string} id
 * @param {() => boolean} underWay whether the run is
 */
export function runSteps(id, underWay) {
  const shown = h("section", { class: "steps", hidden: true });
  let ended = false; // the last look was behind the end of the run
  const look = async () => {
    ended = !underWay();
    const { data } = await call("list-run-steps", { path: { run_id: id } });
    shown.hidden = data.length === 0;
    fill(shown, h("h2", {}, t("run.steps")), smallTable(t("run.steps"), [t("run.step"), t("doc.status"), t("run.attempts"), t("run.seconds"), t("run.tokens.in"), t("run.tokens.out")], data.map(rowOf), 4));
  };
  const live = polling(look, () => !ended, () => pace);
  void live.now();
  return { element: shown, stop: live.stop };
}

/** @param {any} step of the API (schema RunStep) */
function rowOf(step) {
  const waits = step.seconds - step.last_seconds;
  const cause = [step.code, step.next_at && t("run.next", { at: moment(step.next_at) }), step.attempts > 1 && t("run.before", { took: duration(waits) })].filter(Boolean).join(" · ");
  return [
    stepName(step.name, language()), [h("span", { class: `state ${step.status}` }, named(step.status)), " ", cause && h("span", { class: "quiet" }, cause)], number(step.attempts),
    duration(step.seconds), step.usage ? number(step.usage.prompt_tokens + (step.usage.embedding_tokens ?? 0)) : "", step.usage?.completion_tokens ? number(step.usage.completion_tokens) : "",
  ];
}
