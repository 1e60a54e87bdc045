// The syncs that need somebody, for the page of operations.

import { smallTable } from "./checks.js";
import { h } from "./dom.js";
import { say } from "./imports_frame.js";
import { moment, number } from "./language.js";
import { endsSoon, linkTo, listSyncs, stateOf } from "./sync_state.js";

/** @typedef {import("./sync_state.js").Sync} Sync */

/**
 * Returns the section about syncs; null if there is none, or the key may not read them.
 * @returns {Promise<HTMLElement | null>}
 */
export async function syncsSection() {
  const all = await listSyncs({ limit: 100 }).then((found) => found.data, () => []);
  if (!all.length) return null;
  const rows = all.filter(needsSomebody).map((/** @type {Sync} */ one) => [
    linkTo(one), [...stateOf(one), one.failed > 0 && h("p", { class: "quiet" }, say("sync.files.failed", { n: number(one.failed) }))], one.last_run ? moment(one.last_run.started_at) : "",
  ]);
  return h("section", {}, h("h2", {}, say("syncs")), rows.length
    ? smallTable(say("syncs"), [say("sync.place"), say("conn.state"), say("sync.last")], rows) : h("p", { class: "quiet" }, say("sync.all_well", { n: number(all.length) })));
}

/** Reports whether the last run of a sync failed, waits, or left files out, or its secret expires soon. @param {Sync} one */
function needsSomebody(one) {
  return one.status === "failed" || one.status === "waiting" || one.failed > 0 || endsSoon(one.secret_ends);
}
