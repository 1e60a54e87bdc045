// The list of imports, kept up to date while some are under way, and the form of a new one.

import { call } from "./api.js";
import { h } from "./dom.js";
import { importForm } from "./import_form.js";
import { partsOf, say } from "./imports_frame.js";
import { duration, number, t } from "./language.js";
import { liveTable, withOlder } from "./polling.js";
import { projectChoice, projectName, projectNames } from "./project_choice.js";
import { stateOf } from "./runs_list.js";

/** @typedef {any} Import an import of the API (schema Import) */

/** Returns the address of what an import reads; a sync may follow all that a user of a service sees. @param {Import} one */
export function placeOf(one) {
  return one.source.uri || one.source.type;
}

/** Reports whether an import is not at its end. @param {Import} one */
export function isOpen(one) {
  return one.status === "running" || one.status === "paused";
}

/** Says how many objects an import has taken in, of how many. @param {Import} one */
export function countsOf(one) {
  const { discovered: all, published, skipped, failed, remaining } = one;
  return say(one.dry_run ? "imp.would" : "imp.counts", { all, published, skipped, failed, remaining }) + (one.vanished ? say("imp.vanished", { n: number(one.vanished) }) : "");
}

/** Says how fast an import is, and how long it takes still. @param {Import} one */
export function rateOf(one) {
  const rate = one.documents_per_second ? say("imp.rate", { n: number(one.documents_per_second, { maximumFractionDigits: 1 }) }) : "";
  return isOpen(one) && one.eta_seconds !== null && rate ? `${rate}, ${say("imp.eta", { time: duration(one.eta_seconds) })}` : rate;
}

export function openImports() {
  let names = new Map();
  const known = projectNames().then((found) => (names = found));
  const project = projectChoice("", () => table.restart());
  const plain = (/** @type {Import} */ one) => ({ ...one, events_url: "" }); // it differs with each answer
  const list = async (/** @type {string} */ cursor) => {
    const found = await call("list-imports", { query: { project_id: project.value, limit: 100, cursor } });
    return { ...found, data: found.data.map(plain) };
  };
  const table = liveTable({
    name: t("imports"),
    columns: [say("imp.source"), t("doc.status"), t("ask.project"), say("imp.objects"), say("imp.speed")].map((title) => ({ title })),
    load: (cursor) => known.then(() => list(cursor)),
    key: (one) => one.id,
    cells: (one) => [
      h("a", { href: "/imports/" + encodeURIComponent(one.id), "data-item": "" }, placeOf(one), one.sync_id && h("span", { class: "quiet" }, " ", say("sync.mark"))), [...stateOf(one), one.dry_run && say("imp.dry")],
      projectName(names, one.project_id), countsOf(one), rateOf(one),
    ],
    none: () => say("imp.none"),
  }, isOpen, (newest, items) => withOlder(newest, items, isOpen, (id) => call("get-import", { path: { id } }).then(plain)));
  return {
    title: t("imports"), stop: table.stop,
    element: h("div", { class: "padded documents" }, h("div", { class: "row" }, h("h1", {}, t("imports")), h("span", { class: "space" }), project), partsOf("imports"), importForm(), table.element),
  };
}
