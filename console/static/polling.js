// Looks again and again at what is under way.

import { reasonOf } from "./api.js";
import { pagedTable } from "./paged_table.js";

const usual = 2000; // milliseconds between two looks

/**
 * Calls a function again and again while something is under way and the page can be seen.
 * @param {() => Promise<any>} look
 * @param {() => boolean} underWay
 * @param {() => number} [pace] milliseconds between two looks
 */
export function polling(look, underWay, pace = () => usual) {
  let timer = 0; // 0 = no look is planned
  let stopped = false;
  const soon = (/** @type {number} */ wait) => {
    if (!stopped && !timer) timer = setTimeout(now, wait);
  };
  const plan = () => {
    if (underWay()) soon(pace());
  };
  const now = async () => {
    clearTimeout(timer);
    timer = 0;
    if (!document.hidden) await look().catch(reasonOf); // the next look tries again
    plan();
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return { plan, soon, now, stop };
}

/**
 * Returns a table whose rows stay up to date while some are under way.
 * @param {Omit<Parameters<typeof pagedTable<any>>[0], "loaded">} options
 * @param {(item: any) => boolean} underWay
 * @param {(items: any[]) => Promise<any[]>} look returns rows that may have changed, newest first
 */
export function liveTable(options, underWay, look) {
  const table = pagedTable({ ...options, loaded: () => live.plan() });
  const live = polling(async () => {
    for (const one of (await look(table.items())).reverse()) table.put(one, true);
  }, () => table.items().some(underWay));
  const stop = () => {
    table.stop();
    live.stop();
  };
  return { ...table, stop };
}
