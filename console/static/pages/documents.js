// The pages of documents: all of them, and one.

import { openDocument } from "../document.js";
import { openDocuments } from "../documents_list.js";

/** @type {import("../router.js").Open} */
export function open([id], query) {
  return id ? openDocument(id, query) : openDocuments(query);
}
