// The list of documents, kept up to date while documents are in work.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { announce, h } from "./dom.js";
import { bytes, moment, number, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { projectChoice } from "./project_choice.js";
import { filesOf, uploads } from "./uploads.js";

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
 * @property {string} updatedAt
 * @property {{code: string, message: string} | null} error
 * @property {{since: string, message: string}} [waiting]
 */

const pace = 2000; // milliseconds between two looks at documents in work

/** Says how a document is. @param {Doc} doc */
export function statusOf(doc) {
  const words = h("span", { class: `state ${doc.status}` }, t(`doc.${doc.status}`));
  if (doc.status === "pending" && doc.waiting) return [words, " ", h("span", { class: "quiet" }, t("doc.waits", { since: moment(doc.waiting.since), message: doc.waiting.message }))];
  if (doc.status === "pending") return [words, " ", h("progress", { max: 1, value: doc.progress || null, "aria-label": t("doc.status") })];
  if (doc.error) return [words, " ", h("span", { class: "quiet" }, doc.error.message)];
  return [words];
}

/** @returns {import("./router.js").Page} */
export function openDocuments() {
  let timer = 0;
  const status = h("select", { "aria-label": t("doc.status"), onchange: () => table.restart() }, h("option", { value: "" }, t("doc.every")),
    ...(/** @type {Status[]} */ (["published", "pending", "error", "inactive", "deleting"])).map((one) => h("option", { value: one }, t(`doc.${one}`))));
  const named = h("input", { type: "search", "aria-label": t("doc.find"), placeholder: t("doc.find"), onchange: () => table.restart() });
  const project = projectChoice("", () => table.restart());
  const picked = h("input", { type: "file", multiple: true, hidden: true, onchange: () => take(picked) });
  const folder = h("input", { type: "file", webkitdirectory: true, hidden: true, onchange: () => take(folder) });
  const sending = uploads(() => project.value, () => void look());
  const query = () => ({ status: status.value, named: named.value, project_id: project.value });
  const numbers = ["pages", "passages", "size"];
  /** @type {import("./paged_table.js").Table<Doc>} */
  const table = pagedTable({
    name: t("documents"),
    columns: (/** @type {const} */ (["name", "status", "pages", "passages", "size", "changed"])).map((one) => ({ title: t(`doc.${one}`), number: numbers.includes(one) })),
    load: (cursor) => call("list-documents", { query: { ...query(), limit: 100, cursor } }),
    key: (doc) => doc.id,
    cells: (doc) => [
      h("a", { href: "/documents/" + encodeURIComponent(doc.id), "data-item": "" }, doc.name || doc.externalId), statusOf(doc),
      doc.pageCount ? number(doc.pageCount) : "", number(doc.chunkCount), bytes(doc.bytes), moment(doc.updatedAt),
    ],
    none: () => t(query().status || query().named ? "doc.none.found" : "doc.none"),
    loaded: () => watch(),
  });

  const take = (/** @type {HTMLInputElement} */ input) => {
    sending.add([...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    input.value = "";
  };
  /** Looks at the newest documents and at those in work, with one request for many rows. */
  const look = async () => {
    const [newest, working] = await Promise.all([
      call("list-documents", { query: { ...query(), limit: 50 } }),
      call("list-documents", { query: { status: "pending", limit: 500 } }),
    ]).catch(() => [null, null]);
    if (!newest) return watch();
    for (const doc of newest.data.reverse()) table.put(doc, true);
    const pending = new Set(working.data.map((/** @type {Doc} */ doc) => doc.id));
    const known = new Map(table.items().map((doc) => [doc.id, doc]));
    for (const doc of working.data) if (known.has(doc.id)) table.put(doc);
    const left = [...known.values()].filter((doc) => doc.status === "pending" && !pending.has(doc.id)).slice(0, 20);
    for (const doc of left) await call("get-document", { path: { id: doc.id } }).then((now) => table.put(now), () => table.drop(doc.id));
    watch();
  };
  const watch = () => {
    clearTimeout(timer);
    if (table.items().some((doc) => doc.status === "pending" || doc.status === "deleting")) timer = setTimeout(look, pace);
  };
  const retryFailed = async () => {
    const answer = await call("retry-documents", { body: { filter: { status: "error", projectId: project.value || undefined } } });
    announce(t("doc.retried", { n: answer.started }));
    table.restart();
  };
  const element = h("div", { class: "padded documents" },
    h("div", { class: "row" }, h("h1", {}, t("documents")), h("span", { class: "space" }), named, status, project,
      actionButton(t("doc.retry.failed"), retryFailed),
      h("button", { type: "button", onclick: () => folder.click() }, t("doc.folder")),
      h("button", { type: "button", class: "first", onclick: () => picked.click() }, t("doc.upload")), picked, folder),
    sending.element, table.element);
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
      clearTimeout(timer);
    },
  };
}
