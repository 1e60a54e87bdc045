// The list of documents, kept up to date while documents are in work.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { classificationChoice } from "./classification.js";
import { columnChoice } from "./columns.js";
import { addText } from "./document_add.js";
import { bulkActions } from "./documents_bulk.js";
import { documentFilters } from "./documents_filter.js";
import { h } from "./dom.js";
import { filesOf } from "./dropped.js";
import { bytes, languageName, moment, number, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { polling } from "./polling.js";
import { samples, uploads } from "./uploads.js";
import { causeOf } from "./words/causes.js";

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
 * @property {string} mediaType
 * @property {number} version
 * @property {string} createdAt
 * @property {string[]} [tags]
 * @property {string} updatedAt
 * @property {{code: string, message: string} | null} error
 * @property {{since: string, message: string}} [waiting]
 */

// Milliseconds between two looks at documents in work: at a few, and at the many of an import,
// which would keep the server busy.
const soon = 300; // after a file was sent
const pace = 2000;
const calmPace = 10_000;
const few = 10;
const many = 50; // documents of one request

const inWork = (/** @type {Doc} */ doc) => doc.status === "pending" || doc.status === "deleting";

/** Says how a document is. @param {Doc} doc */
export function statusOf(doc) {
  const words = h("span", { class: `state ${doc.status}` }, t(`doc.${doc.status}`));
  if (doc.status === "pending" && doc.waiting) return [words, " ", h("span", { class: "quiet" }, t("doc.waits", { since: moment(doc.waiting.since), message: causeOf(doc.waiting) }))];
  if (doc.status === "pending") return [words, " ", h("progress", { max: 1, value: doc.progress || null, "aria-label": t("doc.status") })];
  if (doc.error) return [words, " ", h("span", { class: "quiet" }, causeOf(doc.error))];
  return [words];
}

/**
 * Returns the columns of the list; those that are hidden at first are for who chooses them.
 * @returns {(import("./columns.js").Column & {number?: boolean, order?: string, cell: (doc: Doc) => import("./dom.js").Child | import("./dom.js").Child[]})[]}
 */
function columnsOf() {
  return [
    { title: t("doc.name"), order: "name", cell: (doc) => h("a", { href: "/documents/" + encodeURIComponent(doc.id), "data-item": "" }, doc.name || doc.externalId) },
    { title: t("doc.status"), cell: statusOf },
    { name: "pages", title: t("doc.pages"), number: true, cell: (doc) => doc.pageCount ? number(doc.pageCount) : "" },
    { name: "passages", title: t("doc.passages"), number: true, cell: (doc) => number(doc.chunkCount) },
    { name: "size", title: t("doc.size"), number: true, order: "size", cell: (doc) => bytes(doc.bytes) },
    { name: "type", title: t("doc.type"), hidden: true, cell: (doc) => doc.mediaType },
    { name: "language", title: t("doc.language"), cell: (doc) => languageName(doc.language) },
    { name: "tags", title: t("doc.tags"), cell: (doc) => (doc.tags ?? []).join(", ") },
    { name: "external", title: t("doc.external"), hidden: true, cell: (doc) => doc.externalId },
    { name: "version", title: t("doc.version.number"), number: true, hidden: true, cell: (doc) => number(doc.version) },
    { name: "added", title: t("doc.added"), hidden: true, cell: (doc) => moment(doc.createdAt) },
    { name: "changed", title: t("doc.changed"), order: "updated", cell: (doc) => moment(doc.updatedAt) },
  ];
}

/**
 * @param {URLSearchParams} asked the filters of the address
 * @returns {import("./router.js").Page}
 */
export function openDocuments(asked) {
  let busy = false; // many documents are in work
  let behind = false; // documents are missing in the list
  let order = "";
  const filters = documentFilters(asked, () => table.restart());
  const picked = h("input", { type: "file", multiple: true, hidden: true, onchange: () => take(picked) });
  const folder = h("input", { type: "file", webkitdirectory: true, hidden: true, onchange: () => take(folder) });
  const level = classificationChoice("", t("doc.classification.keep"), { "aria-label": t("doc.classification.upload"), title: t("doc.classification.upload") });
  const sending = uploads(filters.project, () => level.value, () => live.soon(busy ? calmPace : soon));
  const query = () => ({ ...filters.query(), sort: order });
  const columns = columnsOf();
  const choice = columnChoice(columns, () => table.redraw());
  /** @type {import("./paged_table.js").Table<Doc>} */
  const table = pagedTable({
    name: t("documents"),
    columns,
    sort: (by) => (order = by),
    load: (cursor) => call("list-documents", { query: { ...query(), limit: 100, cursor } }),
    key: (doc) => doc.id,
    cells: (doc) => columns.map((one) => one.cell(doc)),
    none: () => filters.any() ? t("doc.none.found") : [h("p", {}, t("doc.none")), actionButton(t("doc.samples"), async () => sending.add(await samples()))],
    loaded: () => live.plan(),
  });

  const take = (/** @type {HTMLInputElement} */ input) => {
    sending.add([...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    input.value = "";
  };
  /** Looks at the newest documents and at those of the list that are in work, with one request each. */
  const look = async () => {
    const working = table.items().filter(inWork).map((doc) => doc.id);
    busy = working.length > few;
    const asked = working.slice(0, many);
    const [newest, now] = await Promise.all([
      call("list-documents", { query: { ...query(), limit: 50 } }),
      asked.length ? call("list-documents", { query: { id: asked } }) : { data: [] },
    ]);
    const known = new Set(table.items().map((doc) => doc.id));
    if (!order) behind = !table.renew(newest);
    else for (const doc of newest.data) if (known.has(doc.id)) table.put(doc);
    for (const doc of now.data) table.put(doc);
    const there = new Set(now.data.map((/** @type {Doc} */ doc) => doc.id));
    for (const id of asked) if (!there.has(id)) table.drop(id);
  };
  const live = polling(look, () => behind || sending.busy() || table.items().some(inWork), () => busy ? calmPace : pace);
  const element = h("div", { class: "padded documents" },
    h("div", { class: "row" }, h("h1", {}, t("documents")), h("span", { class: "space" }), level,
      h("button", { type: "button", onclick: () => addText(filters.project(), () => void live.now()) }, t("doc.add")),
      h("button", { type: "button", onclick: () => folder.click() }, t("doc.folder")),
      h("button", { type: "button", class: "first", onclick: () => picked.click() }, t("doc.upload")), picked, folder),
    filters.element, h("div", { class: "row" }, bulkActions(filters, () => table.restart()), h("span", { class: "space" }), choice), sending.element, table.element);
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
