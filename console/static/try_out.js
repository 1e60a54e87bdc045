// A question with two configurations side by side: their answers, and the passages of each.

import { actionForm } from "./action_form.js";
import { liveAnswer } from "./answer.js";
import { APIError, call } from "./api.js";
import { fill, h } from "./dom.js";
import { number, t } from "./language.js";
import { schemaForm, schemas } from "./schema_form.js";

/** @typedef {import("./sources.js").Source} Source */
/** @typedef {{id: string, name: string, href: string, text: string, ranks: (number | undefined)[]}} Passage */

const settings = ["ai.model", "ai.retrieval.strategy", "ai.retrieval.numberOfChunks", "ai.retrieval.reranker", "ai.retrieval.preset", "ai.prompt"];

/** @param {any} project (schema ProjectView) */
export async function tryOut(project) {
  const form = schemaForm(await schemas(), "ProjectConfig", {}, settings, []);
  const question = h("textarea", { required: true, maxlength: 32000, rows: 2, "aria-label": t("ask.question"), placeholder: t("ask.placeholder") });
  const results = h("div", { class: "reader" });
  /** @type {(() => void)[]} */
  let running = [];
  const ask = (text = question.value) => {
    question.value = text;
    asking.requestSubmit();
  };
  const stop = () => running.splice(0).forEach((end) => end());
  const compare = async () => {
    const override = form.change();
    if (!override) return;
    const body = { text: question.value, projectId: project.id, stream: true };
    const changed = await call("query", { body: { ...body, projectConfigOverride: override } }).catch((failure) => {
      if (!(failure instanceof APIError && form.refuse(failure.fields))) throw failure;
    });
    if (!changed) return;
    const saved = await call("query", { body });
    stop();
    const columns = [saved, changed].map(({ runId }, i) => answerColumn(runId, i, running, ask));
    fill(results, ...columns.map((one) => one.element));
    const lists = await Promise.all([{}, override].map((settings) => passagesOf(body.text, project.id, settings)));
    columns.forEach((one, i) => one.show(lists[i], new Set(lists[1 - i].map((passage) => passage.id))));
  };
  const asking = actionForm(t("try.button"), compare, question);
  asking.onreset = (e) => e.preventDefault(); // the question stays for the next try
  const element = h("div", {}, h("p", { class: "quiet" }, t("try.hint")), asking, h("details", { class: "fields", open: true }, h("summary", {}, t("try.changed")), form.element), results);
  return { element, stop };
}

/** @param {string} doc @param {string} chunk */
function addressOf(doc, chunk) {
  return `/documents/${encodeURIComponent(doc)}?chunk=${encodeURIComponent(chunk)}`;
}

/** @param {string} run @param {number} i 0 = the saved configuration @param {(() => void)[]} running @param {(text?: string) => void} ask */
function answerColumn(run, i, running, ask) {
  const name = t(i ? "try.changed" : "try.saved");
  const list = h("div");
  const show = (/** @type {Source[]} */ sources, /** @type {number} */ at) => void open(addressOf(sources[at].documentId, sources[at].chunkId), "_blank", "noopener");
  const live = liveAnswer(run, { show, ask, again: () => ask(), started: () => {}, added: () => {}, ended: () => {} }, false);
  running.push(live.stop);
  return {
    element: h("section", { "aria-label": name }, h("h2", {}, name), live.element, list),
    show: (/** @type {Passage[]} */ passages, /** @type {Set<string>} */ others) => fill(list, tableOf(passages, others)),
  };
}

/**
 * Returns the passages that a configuration finds, with their ranks.
 * @param {string} text
 * @param {string} projectId
 * @param {any} projectConfigOverride
 * @returns {Promise<Passage[]>}
 */
async function passagesOf(text, projectId, projectConfigOverride) {
  const found = await call("retrieve-context", { query: { explain: true }, body: { text, projectId, projectConfigOverride } });
  return found.chunks.map((/** @type {any} */ one) => ({
    id: one.id, name: one.documentName, href: addressOf(one.documentId, one.id), text: one.content,
    ranks: [one.explain.dense?.rank, one.explain.bm25?.rank, one.explain.fused, one.explain.rerank],
  }));
}

/** @param {Passage[]} passages @param {Set<string>} others the passages of the other configuration */
function tableOf(passages, others) {
  const legs = /** @type {const} */ (["try.dense", "try.bm25", "try.fused", "try.rerank"]);
  return [h("p", { class: "quiet" }, t("try.different", { n: passages.filter((one) => !others.has(one.id)).length, all: passages.length })),
    h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("doc.passages") }, h("table", { class: "small" },
      h("thead", {}, h("tr", {}, ...["#", t("doc.passages"), ...legs.map((one) => t(one))].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, ...passages.map((one, i) => h("tr", {}, h("td", { class: "number", "data-label": "#" }, i + 1),
        h("td", {}, h("a", { href: one.href, target: "_blank", title: one.text }, one.name), " ", !others.has(one.id) && h("mark", {}, t("try.only"))),
        ...legs.map((name, leg) => h("td", { class: "number", "data-label": t(name) }, typeof one.ranks[leg] === "number" ? number(/** @type {number} */ (one.ranks[leg]), { maximumFractionDigits: 3 }) : "–")))))))];
}
