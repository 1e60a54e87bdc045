// The list of documents: filled as it is scrolled, and kept up to date while documents are
// in work.

import { call } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { bytes, moment, number, t } from "./language.js";
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
  /** @type {Map<string, {doc: Doc, row: HTMLTableRowElement}>} */
  const shown = new Map();
  let cursor = /** @type {string | null} */ ("");
  let turn = 0;
  let timer = 0;
  const status = h("select", { "aria-label": t("doc.status"), onchange: () => restart() }, h("option", { value: "" }, t("doc.every")),
    ...(/** @type {Status[]} */ (["published", "pending", "error", "inactive", "deleting"])).map((one) => h("option", { value: one }, t(`doc.${one}`))));
  const named = h("input", { type: "search", "aria-label": t("doc.find"), placeholder: t("doc.find"), onchange: () => restart() });
  const project = projectChoice("", () => restart());
  const picked = h("input", { type: "file", multiple: true, hidden: true, onchange: () => take(picked) });
  const folder = h("input", { type: "file", webkitdirectory: true, hidden: true, onchange: () => take(folder) });
  const body = h("tbody", { "data-list": "" });
  const table = h("table", { class: "wide", "aria-label": t("documents") },
    h("thead", {}, h("tr", {}, ...(/** @type {const} */ (["name", "status", "pages", "passages", "size", "changed"])).map((one) => h("th", { scope: "col", class: ["pages", "passages", "size"].includes(one) && "number" }, t(`doc.${one}`))))), body);
  const none = h("p", { class: "empty quiet", hidden: true });
  const end = h("div", { class: "end" });
  const sending = uploads(() => project.value, () => void look());

  const take = (/** @type {HTMLInputElement} */ input) => {
    sending.add([...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    input.value = "";
  };
  const rowOf = (/** @type {Doc} */ doc) => {
    const cells = [
      h("a", { href: "/documents/" + encodeURIComponent(doc.id), "data-item": "" }, doc.name || doc.externalId), statusOf(doc),
      doc.pageCount ? number(doc.pageCount) : "", number(doc.chunkCount), bytes(doc.bytes), moment(doc.updatedAt),
    ];
    return h("tr", {}, ...cells.map((cell, i) => h("td", { class: i > 1 && i < 5 && "number" }, cell)));
  };
  const put = (/** @type {Doc} */ doc, first = false) => {
    const earlier = shown.get(doc.id);
    if (earlier && JSON.stringify(earlier.doc) === JSON.stringify(doc)) return;
    const row = rowOf(doc);
    if (earlier) earlier.row.replaceWith(row);
    else if (first) body.prepend(row);
    else body.append(row);
    shown.set(doc.id, { doc, row });
  };
  const query = () => ({ status: status.value, named: named.value, project_id: project.value });
  const further = async () => {
    if (cursor === null) return;
    const [from, now] = [cursor, ++turn];
    const found = await call("list-documents", { query: { ...query(), limit: 100, cursor: from } }).catch(() => null);
    if (now !== turn) return;
    for (const doc of found?.data ?? []) put(doc);
    cursor = found?.next_cursor ?? null;
    none.textContent = t(query().status || query().named ? "doc.none.found" : "doc.none");
    none.hidden = shown.size > 0;
    watch();
    if (cursor !== null) { // it tells again if the end is still in sight
      seen.unobserve(end);
      seen.observe(end);
    }
  };
  const seen = new IntersectionObserver((found) => {
    if (found.some((one) => one.isIntersecting)) void further();
  });
  const restart = () => {
    shown.clear();
    fill(body);
    cursor = "";
    void further();
  };
  /** Looks at the newest documents and at those in work, with one request for many rows. */
  const look = async () => {
    const [newest, working] = await Promise.all([
      call("list-documents", { query: { ...query(), limit: 50 } }),
      call("list-documents", { query: { status: "pending", limit: 500 } }),
    ]).catch(() => [null, null]);
    if (!newest) return watch();
    for (const doc of newest.data.reverse()) put(doc, true);
    const pending = new Set(working.data.map((/** @type {Doc} */ doc) => doc.id));
    for (const doc of working.data) if (shown.has(doc.id)) put(doc);
    const left = [...shown.values()].filter(({ doc }) => doc.status === "pending" && !pending.has(doc.id)).slice(0, 20);
    for (const { doc } of left) await call("get-document", { path: { id: doc.id } }).then(put, () => shown.get(doc.id)?.row.remove());
    none.hidden = shown.size > 0;
    watch();
  };
  const watch = () => {
    clearTimeout(timer);
    if ([...shown.values()].some(({ doc }) => doc.status === "pending" || doc.status === "deleting")) timer = setTimeout(look, pace);
  };
  const retryFailed = async () => {
    const answer = await call("retry-documents", { body: { filter: { status: "error", projectId: project.value || undefined } } });
    announce(t("doc.retried", { n: answer.started }));
    restart();
  };
  const element = h("div", { class: "padded documents" },
    h("div", { class: "row" }, h("h1", {}, t("documents")), h("span", { class: "space" }), named, status, project,
      h("button", { type: "button", onclick: retryFailed }, t("doc.retry.failed")),
      h("button", { type: "button", onclick: () => folder.click() }, t("doc.folder")),
      h("button", { type: "button", class: "first", onclick: () => picked.click() }, t("doc.upload")), picked, folder),
    sending.element, h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("documents") }, table), none, end);
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
  seen.observe(end);
  return {
    title: t("documents"), element,
    stop: () => {
      turn++;
      seen.disconnect();
      clearTimeout(timer);
    },
  };
}
