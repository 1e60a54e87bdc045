// The versions of a document, and a document as it was read.

import { address, call, read, reasonOf } from "./api.js";
import { fill, h } from "./dom.js";
import { moment, t } from "./language.js";
import { blocks, plain, render } from "./markdown.js";
import { causeOf } from "./words/causes.js";

/** @typedef {any} Version (schema VersionView) */

/**
 * Returns the list of versions.
 * @param {string} id of the document
 * @param {(list: Version[]) => void} found is called with them
 */
export async function versions(id, found) {
  /** @type {{data: Version[]}} */
  const list = await call("list-document-versions", { path: { id }, query: { limit: 20 } }).catch(() => ({ data: [] }));
  found(list.data);
  return [h("h2", {}, t("doc.versions")), h("ul", {}, ...list.data.map((one) =>
    h("li", {}, [t("doc.version", { n: one.version }), moment(one.created_at), t(`doc.${/** @type {"published"} */ (one.status)}`), one.published ? t("doc.readers") : "", causeOf(one.error)].filter(Boolean).join(" · "),
      one.run_id && [" · ", h("a", { href: "/runs/" + encodeURIComponent(one.run_id) }, t("run.link"))])))];
}

/**
 * Returns a folded view of a document as it was read.
 * @param {string} id
 */
export function parsedView(id) {
  const place = h("div", { class: "text" });
  const element = h("details", { class: "parsed", ontoggle: async () => {
    if (!element.open || place.childElementCount) return;
    try {
      fill(place, ...blocks(await parsed(id)).map((block) => render(block, plain)));
    } catch (failure) {
      fill(place, h("p", { class: "wrong" }, reasonOf(failure)));
    }
  } }, h("summary", {}, t("doc.parsed")), place);
  return element;
}

/** Returns a document as it was read, as Markdown. @param {string} id */
async function parsed(id) {
  return (await read(address("get-document-parsed", { id }, { format: "markdown" }))).text();
}
