// A table of a long list: its rows are asked for as it is scrolled, and only the rows near
// the window exist.

import { reasonOf } from "./api.js";
import { fill, h, keepFocus } from "./dom.js";
import { t } from "./language.js";

/**
 * @template T
 * @typedef {object} Block the rows of one answer of the API
 * @property {T[]} items
 * @property {HTMLTableSectionElement} body
 * @property {boolean} shown whether the rows of the items exist
 */

/**
 * @template T
 * @typedef {object} Table
 * @property {HTMLElement} element
 * @property {() => void} restart begins the list anew, after a change of its filter
 * @property {(item: T, first?: boolean) => void} put shows an item as it is now; a new one at the end, or first
 * @property {(found: {data: T[], next_cursor: string | null}) => boolean} renew shows the first rows as they are now; false = others are missing behind them, and the reader is further down
 * @property {(key: string) => void} drop
 * @property {() => T[]} items that were loaded
 * @property {() => void} redraw after other columns were hidden
 * @property {() => void} stop
 */

/**
 * Returns a table of a list of the API.
 * @template T
 * @param {object} options
 * @param {string} options.name for screen readers
 * @param {{title: string, number?: boolean, order?: string, hidden?: boolean}[]} options.columns order: the one that a click on the title asks for
 * @param {(order: string) => void} [options.sort] is called with it
 * @param {(cursor: string) => Promise<{data: T[], next_cursor: string | null}>} options.load
 * @param {(item: T) => string} options.key
 * @param {(item: T) => (import("./dom.js").Child | import("./dom.js").Child[])[]} options.cells
 * @param {() => import("./dom.js").Child | import("./dom.js").Child[]} options.none what is shown in place of an empty list
 * @param {() => void} [options.loaded] is called when more items are there
 * @returns {Table<T>}
 */
export function pagedTable({ name, columns, load, key, cells, none, loaded, sort }) {
  /** @type {Block<T>[]} */
  let blocks = [];
  /** @type {Map<string, Block<T>>} */
  const places = new Map();
  let cursor = /** @type {string | null} */ ("");
  let turn = 0;
  let ordered = "";
  const titles = h("tr");
  const table = h("table", { class: "wide", "aria-label": name, "data-list": "" }, h("thead", {}, titles));
  const drawTitles = () => fill(titles, columns.filter((one) => !one.hidden).map(({ title, number, order: by }) =>
    h("th", { scope: "col", class: number && "number", "aria-sort": by !== undefined && by === ordered && (by === "name" ? "ascending" : "descending") },
      by === undefined ? title : h("button", { type: "button", class: "plain sort", onclick: () => order(by) }, title))));
  drawTitles();
  const order = (/** @type {string} */ by) => {
    ordered = by;
    drawTitles();
    [...titles.querySelectorAll("button")].find((one) => one.closest("[aria-sort]"))?.focus();
    sort?.(by);
    restart();
  };
  const empty = h("div", { class: "empty quiet", hidden: true });
  const end = h("div", { class: "end" });
  const problem = h("p", { class: "wrong", role: "alert" });

  const rowOf = (/** @type {T} */ item) => h("tr", {}, ...cells(item).map((cell, i) => !columns[i].hidden && h("td", { class: columns[i].number && "number", "data-label": columns[i].title || false }, cell)));
  const draw = (/** @type {Block<T>} */ block) => {
    fill(block.body, ...block.items.map(rowOf));
    block.shown = true;
  };
  const hide = (/** @type {Block<T>} */ block) => {
    if (!block.shown || block.body.contains(document.activeElement)) return;
    const space = h("td", { colspan: columns.length });
    space.style.height = `${block.body.getBoundingClientRect().height}px`;
    fill(block.body, h("tr", { "aria-hidden": true }, space));
    block.shown = false;
  };
  const near = new IntersectionObserver((found) => {
    for (const one of found) {
      const block = blocks.find(({ body }) => body === one.target);
      if (block && one.isIntersecting && !block.shown) draw(block);
      else if (block && !one.isIntersecting) hide(block);
    }
  }, { root: document.querySelector("main"), rootMargin: "2000px 0px" });
  const addBlock = (/** @type {T[]} */ items) => {
    /** @type {Block<T>} */
    const block = { items, body: h("tbody"), shown: false };
    for (const item of items) places.set(key(item), block);
    blocks.push(block);
    table.append(block.body);
    draw(block);
    near.observe(block.body);
    return block;
  };
  const put = (/** @type {T} */ item, first = false) => {
    const block = places.get(key(item));
    if (!block) {
      const into = (first ? blocks[0] : blocks.at(-1)) ?? addBlock([]);
      places.set(key(item), into);
      if (first) into.items.unshift(item);
      else into.items.push(item);
      if (into.shown && first) into.body.prepend(rowOf(item));
      else if (into.shown) into.body.append(rowOf(item));
    } else {
      const at = block.items.findIndex((one) => key(one) === key(item));
      if (JSON.stringify(block.items[at]) === JSON.stringify(item)) return;
      block.items[at] = item;
      if (block.shown) {
        const row = rowOf(item);
        keepFocus(block.body.rows[at], () => (block.body.rows[at].replaceWith(row), row));
      }
    }
    empty.hidden = places.size > 0;
  };
  const drop = (/** @type {string} */ gone) => {
    const block = places.get(gone);
    if (!block) return;
    const at = block.items.findIndex((one) => key(one) === gone);
    block.items.splice(at, 1);
    if (block.shown) block.body.rows[at].remove();
    places.delete(gone);
    empty.hidden = places.size > 0;
  };
  const take = (/** @type {{data: T[], next_cursor: string | null}} */ found) => {
    cursor = found.next_cursor ?? null;
    problem.textContent = "";
    const fresh = found.data.filter((item) => !places.has(key(item)));
    if (fresh.length) addBlock(fresh);
    fill(empty, none());
    empty.hidden = places.size > 0;
    loaded?.();
  };
  const further = async () => {
    if (cursor === null) return;
    const now = ++turn;
    table.ariaBusy = "true";
    try {
      const found = await load(cursor);
      if (now !== turn) return;
      take(found);
    } catch (failure) {
      if (now !== turn) return;
      fill(problem, reasonOf(failure), " ", h("button", { type: "button", onclick: () => void further() }, t("retry")));
      return;
    } finally {
      if (now === turn) table.ariaBusy = null;
    }
    watchEnd();
  };
  const watchEnd = () => {
    if (cursor === null) return;
    seen.unobserve(end); // it tells again if the end is still in sight
    seen.observe(end);
  };
  const seen = new IntersectionObserver((found) => {
    if (found.some((one) => one.isIntersecting)) void further();
  });
  const clear = () => {
    turn++;
    for (const { body } of blocks) {
      near.unobserve(body);
      body.remove();
    }
    blocks = [];
    places.clear();
    empty.hidden = true;
  };
  const restart = () => {
    clear();
    cursor = "";
    void further();
  };
  const renew = (/** @type {{data: T[], next_cursor: string | null}} */ found) => {
    if (!found.next_cursor || found.data.some((item) => places.has(key(item)))) {
      for (const item of found.data.toReversed()) put(item, true);
      return true;
    }
    if (table.getBoundingClientRect().top < -innerHeight) return false;
    clear();
    take(found);
    watchEnd();
    return true;
  };
  const redraw = () => {
    drawTitles();
    for (const block of blocks) if (block.shown) draw(block);
  };
  seen.observe(end);
  return {
    element: h("div", {}, h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": name }, table), empty, problem, end),
    restart, put, renew, drop, redraw,
    items: () => blocks.flatMap(({ items }) => items),
    stop: () => {
      turn++;
      seen.disconnect();
      near.disconnect();
    },
  };
}
