// The list of imports, kept up to date while some are under way, and the form of a new one.

import { call } from "./api.js";
import { h } from "./dom.js";
import { importForm } from "./import_form.js";
import { duration, number, t } from "./language.js";
import { liveTable } from "./polling.js";
import { projectChoice, projectName, projectNames } from "./project_choice.js";
import { stateOf } from "./runs_list.js";

/** @typedef {any} Import an import of the API (schema Import) */

/** Reports whether an import is not at its end. @param {Import} one */
export function isOpen(one) {
  return one.status === "running" || one.status === "paused";
}

/** Says how many objects an import has taken in, of how many. @param {Import} one */
export function countsOf(one) {
  const { discovered: all, published, skipped, failed, remaining } = one;
  return t(one.dry_run ? "imp.would" : "imp.counts", { all, published, skipped, failed, remaining }) + (one.vanished ? t("imp.vanished", { n: number(one.vanished) }) : "");
}

/** Says how fast an import is, and how long it takes still. @param {Import} one */
export function rateOf(one) {
  const rate = one.documents_per_second ? t("imp.rate", { n: number(one.documents_per_second, { maximumFractionDigits: 1 }) }) : "";
  return isOpen(one) && one.eta_seconds !== null && rate ? `${rate}, ${t("imp.eta", { time: duration(one.eta_seconds) })}` : rate;
}

export function openImports() {
  let names = new Map();
  const known = projectNames().then((found) => (names = found));
  const project = projectChoice("", () => table.restart());
  const list = async (/** @type {object} */ more) => {
    const found = await call("list-imports", { query: { project_id: project.value, ...more } });
    return { ...found, data: found.data.map((/** @type {Import} */ one) => ({ ...one, events_url: "" })) }; // it differs with each answer
  };
  const table = liveTable({
    name: t("imports"),
    columns: (/** @type {const} */ (["imp.source", "doc.status", "ask.project", "imp.objects", "imp.speed"])).map((one) => ({ title: t(one) })),
    load: (cursor) => known.then(() => list({ limit: 100, cursor })),
    key: (one) => one.id,
    cells: (one) => [
      h("a", { href: "/imports/" + encodeURIComponent(one.id), "data-item": "" }, one.source.uri), [...stateOf(one), one.dry_run && t("imp.dry")],
      projectName(names, one.project_id), countsOf(one), rateOf(one),
    ],
    none: () => t("imp.none"),
  }, isOpen, async () => (await list({ limit: 100 })).data);
  return {
    title: t("imports"), stop: table.stop,
    element: h("div", { class: "padded documents" }, h("div", { class: "row" }, h("h1", {}, t("imports")), h("span", { class: "space" }), project), importForm(), table.element),
  };
}
