// A test set that a model is making: how far it is, and which questions are not kept, and why.

import { confirm } from "./action.js";
import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { back, say } from "./evaluation_parts.js";
import { number, t } from "./language.js";
import { polling } from "./polling.js";
import { projectNames } from "./project_choice.js";
import { factList, originOf, stateOf } from "./runs_list.js";

/** @typedef {import("./runs_list.js").Run} Run */

/** Returns how many questions of a model are not kept, by the reason. @param {Record<string, number>} dropped */
export function droppedTable(dropped) {
  const rows = Object.entries(dropped).filter(([, count]) => count).sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => h("tr", {}, h("th", { scope: "row" }, say(`drop.${/** @type {"gone"} */ (reason)}`)), h("td", { class: "number" }, number(count))));
  if (!rows.length) return h("p", { class: "quiet" }, say("drop.none"));
  return h("table", { "aria-label": say("drop.title") }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, say("drop.title")), h("th", { scope: "col", class: "number" }, say("eval.questions")))), h("tbody", {}, ...rows));
}

/** Says how many questions were written and kept. @param {{kept: number, wanted: number, written: number}} progress */
export function madeOf({ kept, wanted, written }) {
  return say("made.counts", { kept: number(kept), wanted: number(wanted), written: number(written) });
}

/**
 * Shows the run that makes a test set. When it has made it, the address shows the test set.
 * @param {Run} run
 */
export async function openMaking(run) {
  const path = { run_id: run.id };
  const names = await projectNames();
  const [state, facts, dropped] = [h("div"), h("dl", { class: "facts" }), h("div")];
  const isOpen = () => run.status === "running";
  const draw = () => {
    const { progress } = run;
    fill(state, h("p", {}, ...stateOf(run)), isOpen() && h("progress", { max: progress.wanted || 1, value: progress.kept, "aria-label": say("made.kept") }), h("p", {}, madeOf(progress)));
    fill(facts, ...factList(originOf(run, names)), h("dt", {}, t("run.kind")), h("dd", {}, h("a", { href: "/runs/" + encodeURIComponent(run.id) }, run.id)), h("dt", {}, say("set.model")), h("dd", {}, progress.model));
    fill(dropped, droppedTable(progress.dropped));
    cancel.hidden = !isOpen();
    live.plan();
  };
  const look = async () => {
    run = await call("workspace-get-run", { path });
    if (run.status === "completed") dispatchEvent(new PopStateEvent("popstate")); // opens the address again
    else draw();
  };
  const live = polling(look, isOpen);
  const cancel = h("button", { type: "button", onclick: () => confirm({ title: t("run.cancel.title"), hint: say("made.cancel.hint"), label: t("run.cancel") }, () => call("workspace-cancel-run", { path }).then(look)) }, t("run.cancel"));
  draw();
  return {
    title: say("made.title"), stop: live.stop,
    element: h("div", { class: "padded document" }, back("/evaluations/sets", say("eval.sets")), h("div", { class: "row" }, h("h1", {}, say("made.title")), h("span", { class: "space" }), cancel), state, facts, h("h2", {}, say("drop.title")), dropped),
  };
}
