// The field that finds projects by their names, where there are more than a choice shows.

import { announce, h } from "./dom.js";
import { t } from "./language.js";

/** @typedef {import("./project_choice.js").Project} Project */

const pause = 200; // milliseconds between the last letter and the search

/**
 * @param {(query: import("./api.js").Query) => Promise<{data: Project[], next_cursor: string | null}>} list
 * @param {(found: Project[]) => void} offer
 */
export function projectFind(list, offer) {
  let timer = 0;
  let turn = 0;
  const look = async () => {
    const now = ++turn;
    /** @type {Project[]} */
    const all = [];
    for (let cursor = /** @type {string | null} */ (""); cursor !== null && all.length < 100; ) {
      const found = await list({ q: field.value.trim(), cursor }).catch(() => null); // it is looked for again with the next letter
      if (!found || now !== turn) return;
      all.push(...found.data);
      cursor = found.next_cursor ?? null;
    }
    offer(all);
    announce(t("project.found", { n: all.length }));
  };
  const field = h("input", { type: "search", class: "finds", maxlength: 200, "aria-label": t("project.find"), placeholder: t("project.find"), oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), pause);
  } });
  field.addEventListener("keydown", (e) => {
    if (e.key === "Enter") e.preventDefault(); // it would send the form
  });
  return field;
}
