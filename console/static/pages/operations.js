// What cairn doctor says, as a page: the checks of the server, and the documents that need
// somebody.

import { actionButton } from "../action.js";
import { call } from "../api.js";
import { failedTable, staleDocuments, waitingTable } from "../causes.js";
import { checkRows, machineTable, modelRows, smallTable } from "../checks.js";
import { fill, h } from "../dom.js";
import { readHealth } from "../health.js";
import { number } from "../language.js";
import { t } from "../operations_words.js";
import { polling } from "../polling.js";
import { syncsSection } from "../syncs_health.js";

/** @typedef {import("../health.js").Health} Health */
/** @typedef {import("../causes.js").Summary} Summary */

const pace = 5000; // milliseconds between two looks while something is under way

/** @type {import("../router.js").Open} */
export async function open() {
  let busy = false;
  const done = h("p", { role: "status", class: "quiet" });
  const content = h("div");
  const machine = h("section");
  const readMachine = async () => {
    const table = await machineTable();
    if (table) fill(machine, h("h2", {}, t("ops.machine")), h("p", { class: "quiet" }, t("ops.machine.hint")), table);
  };
  const read = async (always = true) => {
    const [health, summary, syncs] = await Promise.all([readHealth(), call("get-document-summary"), syncsSection()]);
    if (always || !content.querySelector("a:focus, button:focus")) fill(content, ...sections(health, summary, then), syncs);
    busy = underWay(health, summary);
    live.plan();
  };
  const live = polling(() => read(false), () => busy, () => pace);
  /** @type {import("../causes.js").Then} */
  const then = (act) => async () => {
    const said = await act();
    done.textContent = typeof said === "string" ? said : t("ops.begun");
    await read();
    content.querySelector("h2")?.focus(); // the button is gone
  };
  await Promise.all([read(), readMachine()]);
  const element = h("div", { class: "padded operations" },
    h("div", { class: "row" }, h("h1", {}, t("operations")), h("span", { class: "space" }), h("a", { class: "button", href: "/audit" }, t("to.audit")), h("a", { class: "button", href: "/usage" }, t("usage")), actionButton(t("ops.again"), () => Promise.all([read(), readMachine()]))),
    done, content, machine);
  return { title: t("operations"), element, stop: live.stop };
}

/** @param {Health} health @param {Summary} summary */
function underWay({ state, queues }, summary) {
  return state.status !== "ready" || queues.some((one) => one.tasks > 0) || (summary.by_status.pending ?? 0) > 0 || (state.staleEmbeddings ?? []).some((one) => one.reindexing);
}

/**
 * @param {Health} health
 * @param {Summary} summary
 * @param {import("../causes.js").Then} then
 */
function sections(health, summary, then) {
  const busy = health.queues.filter((one) => one.tasks > 0);
  const models = modelRows(health.state);
  const statuses = /** @type {const} */ (["published", "pending", "error", "inactive", "deleting"]).filter((one) => summary.by_status[one]);
  return [
    h("h2", { tabindex: -1 }, t("ops.checks")), smallTable(t("ops.checks"), [t("ops.check"), t("ops.state"), t("ops.found")], checkRows(health, then)),
    h("h2", {}, t("ops.models")), models.length
      ? smallTable(t("ops.models"), [t("ops.endpoint"), t("ops.last")], models) : h("p", { class: "quiet" }, t("ops.models.none")),
    h("h2", {}, t("ops.failed")), failedTable(summary, then),
    h("h2", {}, t("ops.waiting")), waitingTable(summary, then),
    h("h2", {}, t("ops.stale.title")), staleDocuments(health.state, then),
    h("h2", {}, t("documents")), statuses.length
      ? h("ul", { class: "counts" }, ...statuses.map((one) => h("li", { class: `state ${one}` }, `${number(summary.by_status[one])} ${t(`doc.${one}`)}`))) : h("p", { class: "quiet" }, t("ops.no.documents")),
    h("h2", {}, t("ops.queues")), busy.length
      ? smallTable(t("ops.queues"), [t("ops.queue"), t("ops.tasks")], busy.map((one) => [one.name, number(one.tasks)]), 1) : h("p", { class: "quiet" }, t("ops.queues.empty", { n: number(health.queues.length) })),
  ];
}
