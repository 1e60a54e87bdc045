// The legal holds that keep a document, and the grants that name it.

import { removal } from "./action_form.js";
import { call, may } from "./api.js";
import { smallTable } from "./checks.js";
import { fill, h } from "./dom.js";
import { addGrant } from "./grant_form.js";
import { placeHold } from "./hold_form.js";
import { t as common } from "./language.js";
import { grantCells } from "./pages/grants.js";
import { projectNames } from "./project_choice.js";
import { t } from "./rights.js";

/**
 * Returns the section of a document's holds and grants.
 * @param {any} doc (schema Document)
 * @param {() => void} changed is called when a hold was placed
 */
export async function documentRights(doc, changed) {
  const holds = h("div");
  const grants = h("div");
  const readHolds = async () => fill(holds, ...await holdsOf(doc));
  const readGrants = async () => fill(grants, ...await grantsOf(doc, readGrants));
  await Promise.all([may("holds.read") && readHolds(), may("grants.read") && readGrants()]);
  const title = { id: doc.id, name: doc.name || doc.externalId };
  const held = () => {
    void readHolds();
    changed();
  };
  return h("section", { class: "rights" }, h("h2", {}, t("rights.title")), holds, grants, h("div", { class: "row" },
    may("grants.write") && h("button", { type: "button", onclick: () => addGrant(() => void readGrants(), title) }, t("rights.grant")),
    may("holds.write") && h("button", { type: "button", onclick: () => placeHold(held, [doc.id]) }, t("hold.place"))));
}

/** Returns the holds that keep a document, by their names. @param {any} doc */
async function holdsOf(doc) {
  const found = await call("list-holds", { query: { document_id: doc.id, active: true, limit: 100 } });
  if (!found.data.length) return [h("p", { class: "quiet" }, t(doc.legalHold ? "rights.holds.mark" : "rights.holds.none"))];
  return [h("p", {}, t("rights.holds")), h("ul", {}, ...found.data.map((/** @type {any} */ hold) => h("li", {}, h("a", { href: "/holds/" + encodeURIComponent(hold.id) }, hold.name), ": ", hold.reason)))];
}

/** Returns the table of the grants on a document, and links to those on its tags. @param {any} doc @param {() => Promise<void>} changed */
async function grantsOf(doc, changed) {
  const [found, projects] = await Promise.all([call("list-grants", { query: { document_id: doc.id, limit: 100 } }), projectNames()]);
  const names = { documents: /** @type {Map<string, string>} */ (new Map()), projects };
  const rows = found.data.map((/** @type {import("./pages/grants.js").Grant} */ grant) => {
    const cells = grantCells(grant, names).filter((_, i) => i !== 2); // it is this document
    const end = may("grants.write") && removal(t("grant.remove"), grant.subject.user ?? grant.subject.group ?? grant.subject.project ?? "", async () => {
      await call("delete-grant", { path: { id: grant.id } });
      await changed();
    }, { hint: t("grant.remove.hint") });
    return [...cells, end];
  });
  const titles = [t("grant.effect"), t("grant.subject"), t("grant.reason"), t("grant.ends"), t("grant.by"), common("actions")];
  const tags = /** @type {string[]} */ (doc.tags ?? []);
  return [
    rows.length ? smallTable(t("rights.title"), titles, rows) : h("p", { class: "quiet" }, t("rights.grants.none")),
    tags.length > 0 && h("p", {}, t("rights.tags"), ...tags.flatMap((tag) => [" ", h("a", { href: "/grants?" + new URLSearchParams({ tag }) }, tag)])),
  ];
}
