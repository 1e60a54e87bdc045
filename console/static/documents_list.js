// The list of documents, kept up to date while documents are in work.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { addText } from "./document_add.js";
import { bulkActions } from "./documents_bulk.js";
import { documentFilters } from "./documents_filter.js";
import { h } from "./dom.js";
import { bytes, moment, number, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { polling } from "./polling.js";
import { filesOf, samples, uploads } from "./uploads.js";

/** @typedef {"pending" | "published" | "error" | "inactive" | "deleting"} Status */

/**
 * @typedef {object} Doc a document, as far as the list shows it (schema Document)
 * @property {string} id
 * @property {string} name
 * @property {string} externalId
 * @property {Status} status
 * @property {number} progress
 * @property {number} pageCount
 * @property {number} chunkCount
 * @property {number} bytes
 * @property {string} language
 * @property {string[]} [tags]
 * @property {string} updatedAt
 * @property {{code: string, message: string} | null} error
 * @property {{since: string, message: string}} [waiting]
 */

// Milliseconds between two looks at documents in work: at a few, and at the many of an import,
// which would keep the server busy.
const pace = 2000;
const calmPace = 10_000;
const few = 10;

/** Says how a document is. @param {Doc} doc */
export function statusOf(doc) {
  const words = h("span", { class: `state ${doc.status}` }, t(`doc.${doc.status}`));
  if (doc.status === "pending" && doc.waiting) return [words, " ", h("span", { class: "quiet" }, t("doc.waits", { since: moment(doc.waiting.since), message: doc.waiting.message }))];
  if (doc.status === "pending") return [words, " ", h("progress", { max: 1, value: doc.progress || null, "aria-label": t("doc.status") })];
  if (doc.error) return [words, " ", h("span", { class: "quiet" }, doc.error.message)];
  return [words];
}

/**
 * @param {URLSearchParams} asked the filters of the address
 * @returns {import("./router.js").Page}
 */
export function openDocuments(asked) {
  let busy = false; // many documents are in work
  let order = "";
  const filters = documentFilters(asked, () => table.restart());
  const picked = h("input", { type: "file", multiple: true, hidden: true, onchange: () => take(picked) });
  const folder = h("input", { type: "file", webkitdirectory: true, hidden: true, onchange: () => take(folder) });
  const sending = uploads(filters.project, () => void live.now());
  const query = () => ({ ...filters.query(), sort: order });
  /** @type {import("./paged_table.js").Table<Doc>} */
  const table = pagedTable({
    name: t("documents"),
    columns: [
      { title: t("doc.name"), order: "name" }, { title: t("doc.status") }, { title: t("doc.pages"), number: true }, { title: t("doc.passages"), number: true },
      { title: t("doc.size"), number: true, order: "size" }, { title: t("doc.language") }, { title: t("doc.tags") }, { title: t("doc.changed"), order: "updated" },
    ],
    sort: (by) => (order = by),
    load: (cursor) => call("list-documents", { query: { ...query(), limit: 100, cursor } }),
    key: (doc) => doc.id,
    cells: (doc) => [
      h("a", { href: "/documents/" + encodeURIComponent(doc.id), "data-item": "" }, doc.name || doc.externalId), statusOf(doc),
      doc.pageCount ? number(doc.pageCount) : "", number(doc.chunkCount), bytes(doc.bytes), doc.language, (doc.tags ?? []).join(", "), moment(doc.updatedAt),
    ],
    none: () => filters.any() ? t("doc.none.found") : [h("p", {}, t("doc.none")), actionButton(t("doc.samples"), async () => sending.add(await samples()))],
    loaded: () => live.plan(),
  });

  const take = (/** @type {HTMLInputElement} */ input) => {
    sending.add([...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    input.value = "";
  };
  /** Looks at the newest documents and at those in work, with one request for many rows. */
  const look = async () => {
    const [newest, working] = await Promise.all([
      call("list-documents", { query: { ...query(), limit: 50 } }),
      call("list-documents", { query: { status: "pending", limit: 100 } }),
    ]);
    const known = new Map(table.items().map((doc) => [doc.id, doc]));
    for (const doc of newest.data.reverse()) if (!order || known.has(doc.id)) table.put(doc, true);
    const seen = new Set(newest.data.map((/** @type {Doc} */ doc) => doc.id));
    const pending = new Set(working.data.map((/** @type {Doc} */ doc) => doc.id));
    for (const doc of working.data) if (known.has(doc.id)) table.put(doc);
    const left = working.next_cursor ? [] : [...known.values()].filter((doc) => doc.status === "pending" && !pending.has(doc.id) && !seen.has(doc.id));
    busy = pending.size + left.length > few;
    for (const doc of left.slice(0, few)) await call("get-document", { path: { id: doc.id } }).then((now) => table.put(now), () => table.drop(doc.id));
  };
  const live = polling(look, () => table.items().some((doc) => doc.status === "pending" || doc.status === "deleting"), () => busy ? calmPace : pace);
  const element = h("div", { class: "padded documents" },
    h("div", { class: "row" }, h("h1", {}, t("documents")), h("span", { class: "space" }),
      h("button", { type: "button", onclick: () => addText(filters.project(), () => void live.now()) }, t("doc.add")),
      h("button", { type: "button", onclick: () => folder.click() }, t("doc.folder")),
      h("button", { type: "button", class: "first", onclick: () => picked.click() }, t("doc.upload")), picked, folder),
    filters.element, bulkActions(filters, () => table.restart()), sending.element, table.element);
  element.addEventListener("dragover", (e) => {
    e.preventDefault();
    element.classList.add("dropping");
  });
  element.addEventListener("dragleave", () => element.classList.remove("dropping"));
  element.addEventListener("drop", async (e) => {
    e.preventDefault();
    element.classList.remove("dropping");
    if (e.dataTransfer) sending.add(await filesOf(e.dataTransfer));
  });
  return {
    title: t("documents"), element,
    stop: () => {
      table.stop();
      live.stop();
    },
  };
}
