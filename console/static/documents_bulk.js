// What is done with all documents that a filter chooses.

import { actionButton, confirm, showFailure } from "./action.js";
import { call } from "./api.js";
import { announce, h } from "./dom.js";
import { number, t } from "./language.js";

/**
 * Returns the buttons that act on all documents of the list, after a look at how many these are.
 * @param {import("./documents_filter.js").Filters} filters
 * @param {() => void} done
 */
export function bulkActions(filters, done) {
  const act = (/** @type {"retry-documents" | "reingest-documents" | "remove-documents"} */ route, /** @type {string} */ label, /** @type {string} */ hint) => actionButton(label, async () => {
    const filter = filters.selection();
    if (!filter) return showFailure(t("doc.bulk.filter"));
    const { matched } = await call(route, { body: { filter, dry_run: true } });
    if (!matched) return showFailure(t("doc.bulk.none"));
    const word = route === "remove-documents" ? String(matched) : undefined;
    confirm({ title: t("doc.bulk.title", { action: label, n: number(matched) }), hint, label, word }, async () => {
      const { started, refused } = await call(route, { body: { filter } });
      announce(t("doc.bulk.started", { n: started }));
      if (refused.length) showFailure(t("doc.bulk.refused", { n: number(refused.length), code: [...new Set(refused.map((/** @type {any} */ one) => one.code))].join(", ") }));
      done();
    });
  });
  return h("details", { class: "bulk" }, h("summary", {}, t("doc.bulk")), h("div", { class: "row" },
    act("retry-documents", t("doc.retry"), t("doc.bulk.retry")), act("reingest-documents", t("doc.reingest"), t("doc.bulk.reingest")), act("remove-documents", t("doc.remove"), t("doc.bulk.remove"))));
}
