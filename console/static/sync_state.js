// How a sync is, in words.

import { call } from "./api.js";
import { h } from "./dom.js";
import { say } from "./imports_frame.js";
import { moment, number } from "./language.js";
import { causeOf } from "./words/causes.js";

/** @typedef {any} Sync a sync of the API (schema SyncView) */

/** Reports whether a run of a sync is under way. @param {Sync} one */
export function isOpen(one) {
  return one.status === "running" || one.status === "waiting";
}

/** Returns how long a page waits until it looks again: runs also start by themselves. @param {boolean} busy */
export function paceOf(busy) {
  return busy ? 2000 : 15_000; // milliseconds
}

/** How long before its end a secret is marked, in milliseconds. */
const warning = 7 * 24 * 3600 * 1000;

/** Reports whether a secret expires soon. @param {string | null} ends */
export function endsSoon(ends) {
  return ends !== null && Date.parse(ends) - Date.now() < warning;
}

/** Says how a sync is, why, until when, and whether the secret of its connection expires soon. @param {Sync} one */
export function stateOf(one) {
  const why = one.status === "failed" ? causeOf(one.last_run.error) : one.waits_until ? say("sync.waits", { until: moment(one.waits_until) }) : "";
  return [h("span", { class: `state ${one.status}` }, say(`sync.${/** @type {"idle"} */ (one.status)}`)), " ", h("span", { class: "quiet" }, why),
    endsSoon(one.secret_ends) && h("p", { class: "wrong" }, say("sync.secret", { at: moment(one.secret_ends) }))];
}

/** Says what the last run of a sync did. @param {Sync} one */
export function countsOf(one) {
  const { published, skipped, failed, deleted, discovered } = one;
  return one.last_run ? say("sync.counts", { published: number(published), skipped: number(skipped), failed: number(failed), deleted: number(deleted), discovered: number(discovered) }) : "";
}

/** Returns the link to the page of a sync. @param {Sync} one */
export function linkTo(one) {
  return h("a", { href: "/syncs/" + encodeURIComponent(one.id), "data-item": "" }, one.place);
}

/** Reads a page of syncs, without what differs with each answer. @param {import("./api.js").Query} query */
export async function listSyncs(query) {
  const found = await call("list-syncs", { query });
  return { ...found, data: found.data.map((/** @type {Sync} */ one) => inList(one)) };
}

/** Returns a sync as lists show it. @param {Sync} one */
export function inList(one) {
  return { ...one, cursor_age: 0, failures: [] };
}
