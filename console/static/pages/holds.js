// The legal holds of a workspace: all of them, and one with its documents.

import { accessPage, accessTabs } from "../access_frame.js";
import { call, may } from "../api.js";
import { h } from "../dom.js";
import { liftHold, placeHold } from "../hold_form.js";
import { moment, number, t as common } from "../language.js";
import { pagedTable } from "../paged_table.js";
import { projectNames } from "../project_choice.js";
import { documentLink, documentNames, documentsAtOnce, makerOf, t } from "../rights.js";
import { navigate, rename } from "../router.js";

/**
 * @typedef {object} Hold (schema HoldView)
 * @property {string} id
 * @property {string} name
 * @property {string} reason
 * @property {{project_id?: string, tags?: string[], conditions?: any[]} | null} filter
 * @property {number} documents
 * @property {string} created_at
 * @property {string} created_by
 * @property {string | null} lifted_at
 * @property {string | null} lifted_by
 * @property {string | null} lift_reason
 */

/** @type {import("../router.js").Open} */
export function open([id], asked) {
  return id ? openHold(id) : openHolds(asked);
}

/** Says whether a hold keeps its documents. @param {Hold} hold */
function stateOf({ lifted_at: lifted }) {
  return lifted ? h("span", { class: "state" }, t("hold.lifted", { at: moment(lifted) })) : h("span", { class: "state published" }, t("hold.holds"));
}

/** Says which documents a hold takes. @param {Hold["filter"]} filter @param {Map<string, string>} projects */
function filterOf(filter, projects) {
  if (!filter) return h("span", { class: "quiet" }, t("hold.filter.none"));
  const parts = [
    filter.project_id && t("hold.filter.project", { name: projects.get(filter.project_id) ?? filter.project_id }),
    filter.tags?.length && t("hold.filter.tags", { names: filter.tags.join(", ") }),
    filter.conditions?.length && filter.conditions.map(({ field, type, value }) => `${field} ${type} ${JSON.stringify(value)}`).join(", "),
  ];
  return parts.filter(Boolean).join("; ");
}

/** @param {URLSearchParams} asked */
async function openHolds(asked) {
  const projects = await projectNames();
  const active = h("input", { type: "checkbox", checked: asked.get("active") === "true", onchange: () => {
    rename("/holds" + (active.checked ? "?active=true" : ""));
    table.restart();
  } });
  const table = pagedTable({
    name: t("hold.all"),
    columns: [{ title: t("hold.title") }, { title: t("hold.state") }, { title: t("hold.documents"), number: true }, { title: t("hold.filter") }, { title: t("hold.placed.at") }, { title: t("hold.reason") }, { title: common("actions") }],
    load: (cursor) => call("list-holds", { query: { active: active.checked, limit: 100, cursor } }),
    key: (/** @type {Hold} */ hold) => hold.id,
    cells: (hold) => [h("a", { href: "/holds/" + encodeURIComponent(hold.id), "data-item": "" }, hold.name), stateOf(hold), number(hold.documents), filterOf(hold.filter, projects),
      [moment(hold.created_at), h("div", { class: "quiet" }, t("hold.by", { name: makerOf(hold.created_by) }))], hold.reason,
      !hold.lifted_at && may("holds.write") && h("button", { type: "button", "aria-label": `${t("hold.lift")}: ${hold.name}`, onclick: () => liftHold(hold, table.restart) }, t("hold.lift"))],
    none: () => t("hold.none"),
  });
  const add = may("holds.write") && h("button", { type: "button", class: "first", onclick: () => placeHold(table.restart) }, t("hold.place"));
  return {
    title: common("access"), stop: table.stop,
    element: accessPage("holds", [h("label", { class: "choice" }, active, t("hold.active")), add], h("p", { class: "quiet" }, t("hold.hint")), h("div", { class: "full" }, table.element)),
  };
}

/** @param {string} id */
async function openHold(id) {
  /** @type {[Hold, Map<string, string>]} */
  const [hold, projects] = await Promise.all([call("get-hold", { path: { id } }), projectNames()]);
  const names = /** @type {Map<string, string>} */ (new Map());
  const table = pagedTable({
    name: t("hold.documents"), columns: [{ title: t("hold.documents") }],
    load: async (cursor) => {
      const found = await call("list-held-documents", { path: { id }, query: { limit: documentsAtOnce, cursor } });
      for (const [document, name] of await documentNames(found.data)) names.set(document, name);
      return found;
    },
    key: (/** @type {string} */ document) => document,
    cells: (document) => [documentLink(document, names)],
    none: () => t("hold.nothing"),
  });
  const facts = /** @type {[string, import("../dom.js").Child][]} */ ([
    [t("hold.state"), stateOf(hold)], [t("hold.reason"), hold.reason], [t("hold.filter"), filterOf(hold.filter, projects)],
    [t("hold.placed.at"), `${moment(hold.created_at)} ${t("hold.by", { name: makerOf(hold.created_by) })}`],
  ]);
  const element = h("div", { class: "padded document rights" }, h("h1", {}, common("access")), accessTabs("holds"),
    h("div", { class: "row" }, h("h2", {}, hold.name), h("span", { class: "space" }),
      !hold.lifted_at && may("holds.write") && h("button", { type: "button", onclick: () => liftHold(hold, () => navigate("/holds/" + encodeURIComponent(id))) }, t("hold.lift"))),
    h("dl", { class: "facts" }, ...facts.flatMap(([word, value]) => [h("dt", {}, word), h("dd", {}, value)])),
    hold.lifted_by && h("p", {}, t("hold.lift.why", { name: makerOf(hold.lifted_by), reason: hold.lift_reason ?? "" })), table.element);
  return { title: hold.name, element, stop: table.stop };
}
