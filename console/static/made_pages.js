// The pages of office documents that were read without pages: they are made when somebody
// wants to see them.

import { call } from "./api.js";
import { t } from "./language.js";
import { words } from "./words/table.js";

/** @typedef {{data: {page_number: number}[], unavailable: {code: string, message: string} | null}} PageList (schema PageListView) */

/**
 * Returns the pages of a document, which may take seconds.
 * @param {string} id
 * @returns {Promise<PageList>}
 */
export function pagesOf(id) {
  return call("list-document-pages", { path: { id } });
}

/**
 * Returns why a document has no pages, in one sentence; "" = its format has none, or it has.
 * @param {PageList} list
 */
export function reasonWithout({ unavailable }) {
  if (!unavailable) return "";
  const key = /** @type {import("./language.js").Word} */ (`pages.${unavailable.code}`);
  return t("pages.none", { why: key in words ? t(key) : unavailable.message });
}
