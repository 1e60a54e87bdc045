// Two versions of a document side by side: the words that were removed and added.

import { actionButton } from "./action.js";
import { address, read, reasonOf } from "./api.js";
import { fill, h } from "./dom.js";
import { number, t } from "./language.js";
import { changesOf } from "./text_difference.js";

/** @typedef {import("./text_difference.js").Change} Change */

const onPage = 8000; // characters of changes

/**
 * Returns the choice of two versions of a document and their difference.
 * @param {string} id of the document
 */
export function versionCompare(id) {
  const earlier = h("select", { "aria-label": t("doc.compare.from") });
  const later = h("select", { "aria-label": t("doc.compare.to") });
  const place = h("div");
  const compare = async () => {
    try {
      const [before, after] = await Promise.all([textOf(id, earlier.value), textOf(id, later.value)]);
      showPages(place, changesOf(before, after));
    } catch (failure) {
      fill(place, h("p", { class: "wrong", role: "alert" }, reasonOf(failure)));
    }
  };
  const element = h("section", { hidden: true, "aria-label": t("doc.compare") }, h("h2", {}, t("doc.compare")),
    h("div", { class: "row" }, earlier, "→", later, actionButton(t("try.button"), compare)), place);
  let offered = "";
  /** Offers the versions that were published. @param {{version: number, status: string}[]} list newest first */
  const offer = (list) => {
    const numbers = list.filter((one) => ["published", "inactive"].includes(one.status)).map((one) => one.version);
    element.hidden = numbers.length < 2;
    if (offered === numbers.join()) return; // what was chosen stays
    offered = numbers.join();
    [earlier, later].forEach((one, i) => fill(one, ...numbers.map((n, at) => h("option", { value: n, selected: at === 1 - i }, t("doc.version", { n })))));
  };
  return { element, offer };
}

/** Returns the text of a version, as Markdown. @param {string} id @param {string} version */
async function textOf(id, version) {
  return (await read(address("get-document-parsed", { id }, { format: "markdown", version }))).text();
}

/**
 * Shows the changes, page by page.
 * @param {HTMLElement} place
 * @param {Change[]} changes
 */
function showPages(place, changes) {
  const pages = pagesOf(changes.flatMap(pieces));
  const list = h("ol", { class: "changes", "aria-label": t("doc.compare") });
  const where = h("span", { role: "status" });
  let page = 0;
  const turn = (/** @type {number} */ by) => {
    page += by;
    fill(list, ...pages[page].map((one) => h("li", {}, h("span", { class: "quiet" }, t("doc.line", { n: number(one.line) })), h("div", {},
      one.before && h("p", { class: "quiet" }, one.before), h("p", {}, ...one.parts.map(elementOf)), one.after && h("p", { class: "quiet" }, one.after)))));
    where.textContent = t("doc.compare.page", { n: number(page + 1), all: number(pages.length) });
    previous.disabled = page === 0;
    next.disabled = page === pages.length - 1;
  };
  const previous = h("button", { type: "button", "aria-label": t("doc.page.previous"), onclick: () => turn(-1) }, "‹");
  const next = h("button", { type: "button", "aria-label": t("doc.page.next"), onclick: () => turn(1) }, "›");
  if (!changes.length) return fill(place, h("p", { role: "status" }, t("doc.compare.same")));
  fill(place, h("p", { class: "quiet", role: "status" }, t("doc.compare.found", { n: number(changes.length) })), list, pages.length > 1 && h("div", { class: "row" }, previous, where, next));
  turn(0);
}

/** @param {import("./text_difference.js").Part} part */
function elementOf({ kind, items }) {
  const text = items.join("");
  return kind === "same" ? text : h(kind === "added" ? "ins" : "del", {}, text);
}

/** Returns a change as changes that fit on a page. @param {Change} change @returns {Change[]} */
function pieces(change) {
  /** @type {Change[]} */
  const found = [{ ...change, parts: [] }];
  let size = 0;
  for (const { kind, items } of change.parts) {
    const text = items.join("");
    for (let at = 0; at < text.length; at += onPage) {
      const some = text.slice(at, at + onPage);
      if (size + some.length > onPage && size > 0) {
        found.push({ ...change, before: "", parts: [] });
        size = 0;
      }
      size += some.length;
      found[found.length - 1].parts.push({ kind, items: [some] });
    }
  }
  found.slice(0, -1).forEach((one) => (one.after = ""));
  return found;
}

/** @param {Change[]} changes each no longer than a page @returns {Change[][]} */
function pagesOf(changes) {
  /** @type {Change[][]} */
  const pages = [];
  let size = onPage;
  for (const one of changes) {
    const length = one.parts.reduce((sum, { items }) => sum + items[0].length * items.length, 0);
    if (size + length > onPage) {
      pages.push([]);
      size = 0;
    }
    size += length;
    pages[pages.length - 1].push(one);
  }
  return pages;
}
