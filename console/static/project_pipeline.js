// Tries a step of the pipeline of a project on one document or question.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { duration, inLanguage } from "./language.js";
import { pipeline as words } from "./words/pipeline.js";

/** @typedef {keyof typeof words} Word */

/** @type {(key: Word, values?: Record<string, string>) => string} */
const w = (key, values) => inLanguage(words[key], values);

/** The step that the form begins with, if the project has none. */
const example = { at: "before_prompt", code: { language: "python", source: "import json, sys\n\ngiven = json.load(sys.stdin)\njson.dump({\"instructions\": \"Answer in one sentence.\"}, sys.stdout)\n" }, timeout: 10 };

/** @param {any} project (schema ProjectView) */
export function pipeline(project) {
  /** @type {any[]} */
  const steps = project.pipeline ?? [];
  const step = h("textarea", { id: "try-step", rows: 12, class: "code" });
  const chosen = h("select", { id: "try-saved", onchange: () => (step.value = shown(steps[Number(chosen.value)])) }, ...steps.map((one, i) => h("option", { value: i }, one.name || `${one.at} ${i + 1}`)));
  step.value = shown(steps[0] ?? example);
  const id = h("input", { id: "try-document" });
  const question = h("input", { id: "try-question" });
  const answer = h("textarea", { id: "try-answer", rows: 3 });
  const result = h("div", { role: "status" });
  const run = async () => {
    fill(result);
    const body = { step: JSON.parse(step.value), ...given("document_id", id.value), ...given("question", question.value), ...given("answer", answer.value) };
    fill(result, ...resultOf(await call("try-pipeline-step", { path: { id: project.id }, body })));
  };
  const labelled = (/** @type {Word} */ name, /** @type {HTMLElement} */ of, /** @type {Word | null} */ help = null) => h("div", { class: "field" }, h("label", { for: of.id }, w(name)), of, help && h("p", { class: "quiet" }, w(help)));
  const element = h("div", { class: "fields" }, h("p", { class: "quiet" }, w("hint"), " ", h("a", { href: `/projects/${encodeURIComponent(project.id)}/settings` }, w("settings"))),
    steps.length > 0 ? labelled("saved", chosen) : h("p", {}, w("none")),
    labelled("step", step), labelled("document", id, "document.help"), labelled("question", question, "question.help"), labelled("answer", answer, "answer.help"),
    h("div", { class: "row saves" }, actionButton(w("try"), run, { class: "first" })), result);
  return { element };
}

/** @param {any} value */
const shown = (value) => JSON.stringify(value ?? null, null, 2);

/** Returns a field of a body that is not empty. @param {string} name @param {string} value */
const given = (name, value) => (value.trim() ? { [name]: value.trim() } : {});

/** Returns what a step was sent and what it answered. @param {any} tried (schema StepTried) */
function resultOf(tried) {
  const block = (/** @type {Word} */ name, /** @type {any} */ value) => h("details", { open: name === "answered" }, h("summary", {}, w(name)), h("pre", { class: "code", tabindex: 0, role: "group", "aria-label": w(name) }, shown(value)));
  return [
    h("p", { class: tried.error ? "wrong" : "notice" }, tried.error ? w("failed", { message: tried.error.message }) : w(tried.changed ? "changed" : "unchanged")),
    h("p", { class: "quiet" }, w("took", { time: duration(tried.seconds), version: tried.version })),
    block("answered", tried.output), block("sent", tried.input),
  ];
}
