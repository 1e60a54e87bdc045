// An evaluation: its progress, its scores with their intervals, and its answers with the reasons
// of the judge and the scores of people.

import { actionButton, attempt, confirm } from "./action.js";
import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { answerTo, measures, say, scores as grades, short } from "./evaluation_parts.js";
import { isOpen, judgedOf } from "./evaluations_list.js";
import { experimentTable } from "./experiment.js";
import { number, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { polling } from "./polling.js";
import { projectNames } from "./project_choice.js";
import { to } from "./routes_evaluations.js";
import { factList, originOf, stateOf } from "./runs_list.js";

/** @typedef {import("./evaluation_parts.js").Evaluation} Evaluation */

/** Returns the elements of facts that are known. @param {[import("./evaluation_parts.js").Word, any][]} facts */
const ownFacts = (facts) => facts.filter(([, value]) => value).flatMap(([word, value]) => [h("dt", {}, say(word)), h("dd", {}, value)]);

/** @param {{mean: number, low: number, high: number}} estimate */
const between = ({ low, high }) => `${short(low)} – ${short(high)}`;

/** Returns how well the judge agrees with people on a measure. @param {Evaluation} one @param {string} measure */
function kappaOf(one, measure) {
  const agreement = measure === "score" ? one.agreement : measure === "context" ? one.context_agreement : null;
  return agreement ? `${short(agreement.kappa.mean)} (${between(agreement.kappa)})` : "";
}

/** Returns the scores as a table. @param {Evaluation} one */
function scoresOf(one) {
  const titles = /** @type {const} */ (["eval.measure", "eval.mean", "eval.interval", "eval.questions", "eval.kappa"]);
  const rows = measures.filter((name) => one.scores[name]).map((name) => {
    const estimate = one.scores[name];
    return h("tr", {}, h("th", { scope: "row" }, say(`eval.${name}`)), ...[short(estimate.mean), between(estimate), number(estimate.n), kappaOf(one, name)].map((value, i) => h("td", { class: "number", "data-label": say(titles[i + 1]) }, value)));
  });
  if (!rows.length) return "";
  return h("table", { class: "cards", "aria-label": say("eval.measure") }, h("thead", {}, h("tr", {}, ...titles.map((word, i) => h("th", { scope: "col", class: i > 0 && "number" }, say(word))))), h("tbody", {}, ...rows));
}

/** Returns the choice of a person's score. @param {string} evaluation @param {any} item @param {() => void} changed */
function reviewOf(evaluation, item, changed) {
  if (item.state !== "judged" && item.state !== "failed") return "";
  const own = item.reviews.find((/** @type {any} */ one) => one.own);
  const choice = h("select", { "aria-label": `${say("eval.review")}: ${item.question}` }, ...["", ...grades.map(String)].map((value) => h("option", { value, selected: value === String(own?.score ?? "") }, value)));
  choice.onchange = () => void attempt(async () => {
    if (choice.value === "") return;
    await call(to["review-evaluation-item"], { path: { evaluation, item: item.id }, query: { repeat: item.repeat, cell: item.cell }, body: { score: Number(choice.value) } });
    changed();
  });
  return choice;
}

/** @param {string} id */
export async function openEvaluation(id) {
  const path = { evaluation: id };
  /** @type {Evaluation} */
  let one = await call(to["get-evaluation"], { path, query: { limit: 1 } });
  const names = await projectNames();
  const state = h("div");
  const facts = h("dl", { class: "facts" });
  const scores = h("div");
  const cell = h("select", { "aria-label": say("cell.configuration"), onchange: () => items.restart() }, ...Array.from({ length: one.configurations }, (_, at) => h("option", { value: at + 1 }, say("compare.cell", { n: number(at + 1) }))));
  const applied = h("div");
  const items = pagedTable({
    name: say("eval.items"),
    columns: [{ title: say("eval.item") }, { title: say("eval.score"), number: true }, { title: say("eval.context"), number: true }, { title: say("eval.faithfulness"), number: true }, { title: say("eval.reason") }, { title: say("eval.review") }],
    load: async (cursor) => {
      const page = await call(to["get-evaluation"], { path, query: { limit: 50, cursor, cell: one.configurations > 1 && cell.value } });
      return { data: page.items ?? [], next_cursor: page.next_cursor ?? null };
    },
    key: (/** @type {any} */ item) => String(item.number),
    cells: (item) => [
      [h("details", {}, h("summary", {}, item.question), answerTo(item), item.reference && h("p", { class: "quiet" }, `${say("eval.reference")}: ${item.reference}`),
        item.run_id && h("p", {}, h("a", { href: "/runs/" + encodeURIComponent(item.run_id) }, item.run_id)))],
      short(item.score), short(item.context), short(item.faithfulness), item.error ? `${item.error.code}: ${item.error.message}` : item.reason ?? "", reviewOf(id, item, () => void look()),
    ],
    none: () => say("eval.none.items"),
  });
  const act = (/** @type {"pause-evaluation" | "resume-evaluation" | "cancel-evaluation"} */ what) => () => call(to[what], { path }).then(look);
  const pause = actionButton(t("doc.pause"), act("pause-evaluation"));
  const resume = actionButton(t("run.resume"), act("resume-evaluation"), { class: "first" });
  const cancel = h("button", { type: "button", onclick: () => confirm({ title: say("eval.cancel.title"), hint: say("eval.cancel.hint"), label: say("eval.cancel") }, act("cancel-evaluation")) }, say("eval.cancel"));
  const review = h("a", { class: "button", href: `/evaluations/${encodeURIComponent(id)}/review` }, say("eval.review.page"));
  const calibrate = h("a", { class: "button", href: `/evaluations/${encodeURIComponent(id)}/calibration` }, say("calib.button"));
  const compare = h("a", { class: "button", href: `/evaluations/compare?b=${encodeURIComponent(id)}` }, say("eval.compare"));
  const done = () => fill(applied, h("p", { class: "notice", role: "status" }, say("use.done"), " ", h("a", { href: "/projects/" + encodeURIComponent(one.project_id) }, t("project.settings"))));
  const draw = () => {
    const { total, judged, failed } = one.progress;
    fill(state, h("p", {}, ...stateOf(one)), isOpen(one) && h("progress", { max: total || 1, value: judged + failed, "aria-label": say("eval.progress") }), h("p", {}, judgedOf(one)), ...one.warnings.map((/** @type {string} */ warning) => h("p", {}, warning)));
    fill(facts, ...factList([...originOf(one, names), ["run.kind", h("a", { href: "/runs/" + encodeURIComponent(one.run_id) }, one.run_id)]]),
      ...ownFacts([["eval.set", `${one.test_set_name} (${one.test_set_version})`], ["eval.judge", one.judge], ["calib.rubric", one.rubric && `${one.rubric.version} (${one.rubric.hash})`], ["eval.kappa", one.cells && kappaOf(one, "score")]]));
    fill(scores, one.cells ? experimentTable(one, done) : scoresOf(one));
    review.hidden = calibrate.hidden = one.progress.judged === 0;
    compare.hidden = !one.ended_at;
    pause.hidden = one.status !== "running";
    resume.hidden = one.status !== "paused";
    cancel.hidden = !isOpen(one);
    live.plan();
  };
  const look = async () => {
    const before = one.progress.judged + one.progress.failed;
    one = await call(to["get-evaluation"], { path, query: { limit: 1 } });
    if (one.progress.judged + one.progress.failed !== before && !isOpen(one)) items.restart();
    draw();
  };
  const live = polling(look, () => isOpen(one));
  draw();
  return {
    title: one.test_set_name,
    element: h("div", { class: "padded document" }, h("p", {}, h("a", { href: "/evaluations" }, "‹ ", t("evaluations"))),
      h("div", { class: "row" }, h("h1", {}, one.test_set_name), h("span", { class: "space" }), review, calibrate, compare, resume, pause, cancel), state, facts, applied, scores, h("div", { class: "row" }, h("h2", {}, say("eval.items")), h("span", { class: "space" }), one.configurations > 1 && cell), items.element),
    stop: () => {
      items.stop();
      live.stop();
    },
  };
}
