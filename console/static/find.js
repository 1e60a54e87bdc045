// The field that finds words in a document.

import { fill, h } from "./dom.js";
import { t } from "./language.js";
import { find } from "./passages.js";

/** @typedef {import("./passages.js").Hit} Hit */

/**
 * Returns a search field with the way from hit to hit.
 * @param {() => Promise<import("./passages.js").Passage[]>} passages to look in
 * @param {(hit: Hit | null) => void} show is called with the hit to show; null = there is none
 */
export function findField(passages, show) {
  /** @type {Hit[]} */
  let hits = [];
  let at = 0;
  let turn = 0;
  const count = h("span", { class: "quiet", role: "status" });
  const go = (/** @type {number} */ to) => {
    at = hits.length ? (to + hits.length) % hits.length : 0;
    fill(count, field.value.trim() && (hits.length ? t("source.find.count", { n: at + 1, all: hits.length }) : t("source.find.none")));
    show(hits[at] ?? null);
  };
  const look = async () => {
    const now = ++turn;
    const all = await passages().catch(() => []);
    if (now !== turn) return;
    hits = find(all, field.value);
    go(0);
  };
  const field = h("input", { type: "search", "aria-label": t("source.find"), placeholder: t("source.find"), oninput: () => void look() });
  field.addEventListener("keydown", (e) => {
    if (e.key !== "Enter") return;
    e.preventDefault();
    go(at + (e.shiftKey ? -1 : 1));
  });
  return h("div", { class: "row find" }, field, count);
}
