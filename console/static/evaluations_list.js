// The list of evaluations, kept up to date while some are under way.

import { call } from "./api.js";
import { h } from "./dom.js";
import { parts, say } from "./evaluation_parts.js";
import { moment, number, t } from "./language.js";
import { liveTable, withOlder } from "./polling.js";
import { projectChoice, projectName, projectNames } from "./project_choice.js";
import { to } from "./routes_evaluations.js";
import { stateOf } from "./runs_list.js";

/** @typedef {import("./evaluation_parts.js").Evaluation} Evaluation */

/** Reports whether an evaluation is not at its end. @param {Evaluation} one */
export function isOpen(one) {
  return one.status === "running" || one.status === "paused";
}

/** Says how many answers of an evaluation are judged. @param {Evaluation} one */
export function judgedOf({ progress: { judged, total, failed } }) {
  return say("eval.counts", { judged: number(judged), total: number(total), failed: number(failed) });
}

/** Shows the mean of a measure. @param {Evaluation} one @param {string} measure */
function meanOf(one, measure) {
  return one.scores[measure] ? number(one.scores[measure].mean, { maximumFractionDigits: 2 }) : "";
}

export function openEvaluations() {
  let names = new Map();
  const known = projectNames().then((found) => (names = found));
  const project = projectChoice("", () => table.restart());
  const plain = (/** @type {Evaluation} */ one) => ({ ...one, events_url: "" }); // it differs with each answer
  const list = async (/** @type {string} */ cursor) => {
    const found = await call(to["list-evaluations"], { query: { project_id: project.value, limit: 100, cursor } });
    return { ...found, data: found.data.map(plain) };
  };
  const table = liveTable({
    name: t("evaluations"),
    columns: [{ title: say("eval.set") }, { title: t("doc.status") }, { title: t("ask.project") }, { title: say("eval.progress") }, { title: say("eval.score"), number: true }, { title: say("eval.context"), number: true },
      { title: say("eval.faithfulness"), number: true }, { title: t("run.started") }],
    load: (cursor) => known.then(() => list(cursor)),
    key: (one) => one.id,
    cells: (one) => [
      h("a", { href: "/evaluations/" + encodeURIComponent(one.id), "data-item": "" }, one.test_set_name, h("span", { class: "quiet" }, " ", one.id.slice(0, 8)), one.configurations > 1 && h("span", { class: "quiet" }, ` · ${say("cell.count", { n: number(one.configurations) })}`)), stateOf(one),
      projectName(names, one.project_id), judgedOf(one), meanOf(one, "score"), meanOf(one, "context"), meanOf(one, "faithfulness"), moment(one.created_at),
    ],
    none: () => say("eval.none"),
  }, isOpen, (newest, items) => withOlder(newest, items, isOpen, (id) => call(to["get-evaluation"], { path: { evaluation: id }, query: { limit: 1 } }).then(plain)));
  return {
    title: t("evaluations"), stop: table.stop,
    element: h("div", { class: "padded documents" }, parts("evaluations"), h("div", { class: "row" }, h("h1", {}, t("evaluations")), h("span", { class: "space" }), h("a", { class: "button first", href: "/evaluations/new" }, say("eval.new")),
      h("a", { class: "button", href: "/evaluations/compare" }, say("eval.compare")), project), table.element),
  };
}
