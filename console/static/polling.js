// Looks again and again at what is under way.

import { reasonOf } from "./api.js";
import { fill, h } from "./dom.js";
import { number, t } from "./language.js";
import { later } from "./later.js";
import { pagedTable } from "./paged_table.js";

const usual = 2000; // milliseconds between two looks

/**
 * Calls a function again and again while something is under way and the page can be seen.
 * @param {() => Promise<any>} look
 * @param {() => boolean} underWay
 * @param {() => number} [pace] milliseconds between two looks
 */
export function polling(look, underWay, pace = () => usual) {
  let planned = /** @type {(() => void) | null} */ (null); // stops the next look
  let stopped = false;
  const soon = (/** @type {number} */ wait) => {
    if (!stopped) planned ??= later(now, wait);
  };
  const plan = () => {
    if (underWay()) soon(pace());
  };
  const now = async () => {
    planned?.();
    planned = null;
    if (!document.hidden) await look().catch(reasonOf); // the next look tries again
    plan();
  };
  const stop = () => {
    stopped = true;
    planned?.();
  };
  return { plan, soon, now, stop };
}

const most = 3; // pages that one look reads
const single = 20; // rows that one look reads by themselves

/**
 * Returns a table of a list, newest first, whose rows stay up to date while some are under
 * way. A look reads pages until it meets a row that the table has. If more are new, the table
 * says so, and shows them when that is asked for.
 * @param {Omit<Parameters<typeof pagedTable<any>>[0], "loaded">} options
 * @param {(item: any) => boolean} underWay
 * @param {(newest: any[], items: any[]) => Promise<any[]>} look returns the rows that may have changed, newest first
 */
export function liveTable(options, underWay, look) {
  let turn = 0;
  const isNew = (/** @type {Set<string>} */ known) => (/** @type {any} */ one) => !known.has(options.key(one));
  const table = pagedTable({ ...options, loaded: () => live.plan() });
  const note = h("p", { role: "status", class: "row notice", hidden: true });
  const restart = () => {
    turn++;
    note.hidden = true;
    table.restart();
  };
  /** Returns the newest rows, and whether the others of the list follow them. @param {Set<string>} known */
  const newest = async (known) => {
    const rows = [];
    let cursor = /** @type {string | null} */ ("");
    for (let page = 0; page < most; page++) {
      const found = await options.load(cursor ?? "");
      rows.push(...found.data);
      cursor = found.next_cursor;
      if (!cursor || !found.data.every(isNew(known))) return { rows, follows: true };
    }
    return { rows, follows: false };
  };
  const live = polling(async () => {
    const now = turn;
    const items = table.items();
    const known = new Set(items.map(options.key));
    const { rows, follows } = await newest(known);
    const changed = await look(rows, items);
    if (now !== turn) return; // another list was asked for meanwhile
    if (!follows) {
      fill(note, t("table.new", { n: number(rows.length) }), h("button", { type: "button", onclick: restart }, t("table.reload")));
      note.hidden = false;
    }
    for (const one of changed.reverse()) if (note.hidden || !isNew(known)(one)) table.put(one, true);
  }, () => table.items().some(underWay));
  const stop = () => {
    turn++;
    table.stop();
    live.stop();
  };
  return { ...table, element: h("div", {}, note, table.element), restart, stop };
}

/**
 * Returns rows, and after them those under way that are not among them, as they are now.
 * @param {any[]} rows @param {any[]} items @param {(item: any) => boolean} underWay
 * @param {(id: string) => Promise<any>} read
 */
export async function withOlder(rows, items, underWay, read) {
  const there = new Set(rows.map(({ id }) => id));
  const older = items.filter((one) => underWay(one) && !there.has(one.id)).slice(0, single);
  return [...rows, ...await Promise.all(older.map((one) => read(one.id).catch(() => one)))];
}
