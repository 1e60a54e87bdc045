// What pages of grants and legal holds have in common: their words, and names for ids.

import { APIError, call } from "./api.js";
import { h } from "./dom.js";
import { inLanguage } from "./language.js";
import { rights as words } from "./words/rights.js";

/** Returns the words of a key of grants and holds. @type {(key: keyof typeof words, values?: Record<string, string | number>) => string} */
export const t = (key, values) => inLanguage(words[key], values);

/** Documents of one request, as the API allows them. */
export const documentsAtOnce = 100;

/**
 * Returns the names of documents by their ids. A document that is gone, or above the clearance of
 * the reader, has none.
 * @param {string[]} ids at most documentsAtOnce
 * @returns {Promise<Map<string, string>>}
 */
export async function documentNames(ids) {
  if (!ids.length) return new Map();
  const found = await call("list-documents", { query: { id: ids, limit: documentsAtOnce } }).catch(() => ({ data: [] })); // ids are shown then
  return new Map(found.data.map((/** @type {any} */ doc) => [doc.id, doc.name || doc.externalId]));
}

/**
 * Returns the id of the document that somebody means by its id, external id or name.
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function documentNamed(name) {
  /** @type {{id: string, externalId: string}[]} */
  const found = (await call("list-documents", { query: { named: name, limit: 2 } })).data;
  const exact = found.find((one) => one.id === name || one.externalId === name) ?? (found.length === 1 ? found[0] : undefined);
  if (!exact) throw new APIError(t(found.length ? "named.many" : "named.none", { name }), "not_found", 404);
  return exact.id;
}

/** Says who made something. @param {string} owner u: and a user, x: and a customer, or k: and the id of a key */
export function makerOf(owner) {
  const name = owner.slice(2);
  return owner.startsWith("k:") ? t("grant.key", { id: name.slice(0, 8) }) : name;
}

/** Returns a link to a document. @param {string} id @param {Map<string, string>} names */
export function documentLink(id, names) {
  return h("a", { href: "/documents/" + encodeURIComponent(id) }, names.get(id) ?? id);
}
