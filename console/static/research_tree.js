// A research as a tree: plans, their questions with what was found, messages, and the report.

import { fill, h } from "./dom.js";
import { number, t } from "./language.js";
import { countersOf, named } from "./runs_list.js";

/** Says how a step stands. @param {any} step a researchUpdate */
function stepOf({ phase, status, found, notes, reason }) {
  if (found !== undefined) return t(phase === "web" ? "run.web" : "run.found", { n: number(found) });
  return notes === undefined ? [named(status), reason].filter(Boolean).join(": ") : t("run.notes", { n: number(notes) });
}

/** @param {{id: string, name: string}} doc */
function documentLink({ id, name }) {
  return h("a", { href: "/documents/" + encodeURIComponent(id) }, name);
}

/** @param {{url: string, title?: string}} page */
function pageLink({ url, title }) {
  return /^https?:/.test(url) ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, title || url) : title ?? url;
}

/** Returns a note with what it rests on. @param {{text: string, documents?: any[], pages?: string[]}} note */
function noteOf({ text, documents = [], pages = [] }) {
  const links = [...documents.map(documentLink), ...pages.map((url) => pageLink({ url }))];
  return h("li", { class: "note" }, text, " ", ...links.flatMap((one, i) => [i ? ", " : "(", one]), links.length ? ")" : "");
}

/** Returns the tree, and the function that takes the next researchUpdate. */
export function researchTree() {
  /** @type {Map<string, {label: HTMLElement, list: HTMLElement, steps: Record<string, string>}>} */
  const branches = new Map();
  const root = h("ul", { class: "tree", "aria-label": named("research") });
  const used = h("p", { class: "quiet" });
  let messages = 0;
  let budget = { calls: 0, tokens: 0 };

  const show = (/** @type {string} */ key, /** @type {string} */ parent, /** @type {string} */ text, /** @type {any} */ step = null) => {
    const one = branches.get(key) ?? { label: h("div"), list: h("ul"), steps: {} };
    if (!branches.has(key)) (branches.get(parent)?.list ?? root).append(h("li", {}, one.label, one.list));
    branches.set(key, one);
    if (step) one.steps[step.phase] = stepOf(step);
    fill(one.label, text, " ", h("span", { class: step?.status === "failed" ? "wrong" : "quiet" }, Object.values(one.steps).join(" · ")));
    one.list.append(...(step?.documents ?? []).map((/** @type {any} */ doc) => h("li", {}, documentLink(doc))), ...(step?.pages ?? []).map((/** @type {any} */ page) => h("li", {}, pageLink(page))),
      ...(step?.taken ?? []).map(noteOf), ...(step?.open ? [h("li", { class: "quiet" }, t("run.open", { text: step.open }))] : []));
  };
  const update = (/** @type {any} */ step) => {
    const { phase, round, question, section, text = "", usage } = step;
    if (question) show(`${round}.${question}`, `plan ${round}`, text, step);
    else if (section) show(`section ${section}`, "report", text, step);
    else if (phase === "plan") show(`plan ${round}`, "", t("run.plan", { n: round }), step);
    else if (phase === "outline") show("report", "", step.title || t("run.report"), step);
    else if (phase === "message") show(`message ${++messages}`, "", t("run.message", { text }));
    else if (phase === "budget") show("budget", "", t("run.used_up", { what: step.reason }));
    (step.questions ?? []).forEach((/** @type {string} */ one, /** @type {number} */ i) => show(`${round}.${i + 1}`, `plan ${round}`, one));
    (step.sections ?? []).forEach((/** @type {string} */ one, /** @type {number} */ i) => show(`section ${i + 1}`, "report", one));
    budget = step.budget ?? budget;
    if (usage) used.textContent = countersOf({ ...usage, calls_left: budget.calls - usage.model_calls, tokens_left: budget.tokens - usage.prompt_tokens - usage.completion_tokens });
  };
  return { update, element: h("section", {}, h("h2", {}, named("research")), used, root) };
}
