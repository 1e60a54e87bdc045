// The personal data that was found in the documents of a project, counted by kind.

import { attempt } from "./action.js";
import { call } from "./api.js";
import { tableWith } from "./checks.js";
import { fill, h } from "./dom.js";
import { inLanguage, number } from "./language.js";
import { privacy as words } from "./words/privacy.js";

/** @typedef {{document_id: string, name: string, total: number, entities: Record<string, number>}} Counted (schema CountedView) */

/** @type {(key: keyof typeof words, values?: Record<string, string | number>) => string} */
const t = (key, values) => inLanguage(words[key], values);

const shown = 100; // documents in the table, those with the most first

/** @param {any} project (schema ProjectView) */
export function privacy(project) {
  const mode = /** @type {"off" | "detect" | "redact" | "reject"} */ (project.privacy?.pii ?? "off");
  const state = h("p", { role: "status", class: "quiet" });
  const content = h("div");
  let stopped = false;
  void attempt(() => count(project.id, (all, ended) => {
    state.textContent = t(ended ? "privacy.read" : "privacy.reading", { n: number(all.length), found: number(all.filter((one) => one.total > 0).length) });
    if (ended) fill(content, ...tables(all, mode));
    return !stopped;
  }));
  const element = h("div", {}, h("p", {}, t(`privacy.${mode}`), " ", h("a", { href: `/projects/${encodeURIComponent(project.id)}/settings` }, t("privacy.change"))), state, content);
  return { element, stop: () => (stopped = true) };
}

/**
 * Reads what was found in all documents of a project.
 * @param {string} id
 * @param {(all: Counted[], ended: boolean) => boolean} read is called after each page, and returns whether to go on
 */
async function count(id, read) {
  /** @type {Counted[]} */
  const all = [];
  for (let cursor = ""; ;) {
    const found = await call("list-project-pii", { path: { id }, query: { limit: 100, cursor } });
    all.push(...found.data);
    cursor = found.next_cursor ?? "";
    if (!read(all, !cursor) || !cursor) return;
  }
}

/** Returns the table of the kinds, and that of the documents. @param {Counted[]} all @param {string} mode */
function tables(all, mode) {
  const found = all.filter((one) => one.total > 0).sort((a, b) => b.total - a.total);
  if (!found.length) return [h("p", { class: "empty quiet" }, t(mode === "off" ? "privacy.none.off" : "privacy.none"))];
  /** @type {Map<string, {places: number, documents: number}>} */
  const kinds = new Map();
  for (const { entities } of found) {
    for (const [name, n] of Object.entries(entities)) {
      const sum = kinds.get(name) ?? { places: 0, documents: 0 };
      kinds.set(name, { places: sum.places + n, documents: sum.documents + 1 });
    }
  }
  const byKind = [...kinds].sort(([, a], [, b]) => b.places - a.places);
  return [
    table(t("privacy.kinds"), [t("privacy.kind"), t("privacy.places"), t("privacy.documents")], byKind.map(([name, sum]) => [h("code", {}, name), number(sum.places), number(sum.documents)]), [1, 2]),
    table(t("privacy.documents"), [t("privacy.document"), t("privacy.places"), t("privacy.kinds")], found.slice(0, shown).map((one) => [
      h("a", { href: "/documents/" + encodeURIComponent(one.document_id) }, one.name || one.document_id), number(one.total), Object.keys(one.entities).sort().join(", ")]), [1]),
    found.length > shown && h("p", { class: "quiet" }, t("privacy.first", { n: number(shown), all: number(found.length) })),
  ];
}

/**
 * Returns a table with its title.
 * @param {string} title
 * @param {string[]} columns
 * @param {import("./dom.js").Child[][]} rows
 * @param {number[]} numbers the columns of numbers
 */
function table(title, columns, rows, numbers) {
  return h("section", {}, h("h2", {}, title), tableWith(title, columns, rows, (at) => numbers.includes(at)));
}
