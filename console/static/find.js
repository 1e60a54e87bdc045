// The field that finds words in a document.

import { fill, h } from "./dom.js";
import { t } from "./language.js";
import { find, passagesOf } from "./passages.js";

/** @typedef {import("./passages.js").Hit} Hit */

const pause = 200; // milliseconds between the last letter and the search

/**
 * Returns a search field with the way from hit to hit.
 * @param {string} id of the document
 * @param {(hit: Hit | null) => void} show is called with the hit to show; null = there is none
 */
export function findField(id, show) {
  /** @type {Hit[]} */
  let hits = [];
  let cursor = /** @type {string | null} */ (null); // of the passages with further hits
  let at = 0;
  let turn = 0;
  let timer = 0;
  const count = h("span", { class: "quiet", role: "status" });
  /** Reads on until there is a further hit. @param {number} now */
  const further = async (now) => {
    for (const before = hits.length; cursor !== null && hits.length === before; ) {
      const found = await passagesOf(id, { q: field.value.trim(), limit: 100, cursor }).catch(() => ({ data: [], next_cursor: null }));
      if (now !== turn) return;
      hits.push(...find(found.data, field.value));
      cursor = found.next_cursor;
    }
  };
  const go = async (/** @type {number} */ to) => {
    const now = turn;
    if (to >= hits.length) await further(now);
    if (now !== turn) return;
    at = hits.length ? (to + hits.length) % hits.length : 0;
    const all = hits.length + (cursor === null ? "" : "+");
    fill(count, field.value.trim() && (hits.length ? t("source.find.count", { n: at + 1, all }) : t("source.find.none")));
    show(hits[at] ?? null);
  };
  const look = () => {
    clearTimeout(timer);
    turn++;
    hits = [];
    cursor = field.value.trim() ? "" : null;
    timer = setTimeout(() => void go(0), pause);
  };
  const field = h("input", { type: "search", maxlength: 200, "aria-label": t("source.find"), placeholder: t("source.find"), oninput: look });
  field.addEventListener("keydown", (e) => {
    if (e.key !== "Enter") return;
    e.preventDefault();
    void go(at + (e.shiftKey ? -1 : 1));
  });
  return h("div", { class: "row find" }, field, count);
}
