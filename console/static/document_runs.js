// What happened to a document: its runs, each with its timeline.

import { address, call, reasonOf } from "./api.js";
import { fill, h } from "./dom.js";
import { follow } from "./events.js";
import { moment, t } from "./language.js";
import { named, stateOf } from "./runs_list.js";
import { timeline } from "./timeline.js";

/** @typedef {import("./runs_list.js").Run} Run */

/**
 * Returns the section of a document's runs, newest first; the newest is open.
 * @param {string} id of the document
 */
export function documentRuns(id) {
  /** @type {Map<string, () => void>} */
  const known = new Map(); // what stops to follow a run, by its id
  let cursor = /** @type {string | null} */ ("");
  const list = h("div");
  const more = h("button", { type: "button", class: "plain", hidden: true, onclick: () => void further() }, t("more"));
  const element = h("section", { class: "happened", "aria-label": t("doc.happened"), hidden: true }, h("h2", {}, t("doc.happened")), list, more);

  const part = (/** @type {Run} */ run, /** @type {boolean} */ open) => {
    const { element: shown, follow: begin, stop } = runPart(run);
    known.set(run.id, stop);
    shown.addEventListener("toggle", begin, { once: true });
    shown.open = open;
    return shown;
  };
  /** @returns {Promise<{data: Run[], next_cursor: string | null}>} */
  const read = (/** @type {string} */ from) =>
    call("list-runs", { query: { document_id: id, limit: 20, cursor: from } }).catch(() => ({ data: [], next_cursor: null })); // the page is there without them
  const fresh = (/** @type {Run[]} */ runs) => runs.filter((run) => !known.has(run.id));
  /** Shows runs that have begun since. */
  const look = async () => {
    const found = await read("");
    if (known.size === 0) cursor = found.next_cursor;
    list.prepend(...fresh(found.data).map((run, i) => part(run, i === 0)));
    element.hidden = known.size === 0;
    more.hidden = cursor === null;
  };
  const further = async () => {
    const found = await read(cursor ?? "");
    list.append(...fresh(found.data).map((run) => part(run, false)));
    cursor = found.next_cursor;
    more.hidden = cursor === null;
  };
  return { element, look, stop: () => known.forEach((stop) => stop()) };
}

/** Returns a run, folded, which reads its events once it is opened. @param {Run} run */
function runPart(run) {
  let stop = () => {};
  const lines = timeline(run.id);
  const note = h("p", { class: "lost", role: "status" });
  const state = h("span", {}, ...stateOf(run));
  const element = h("details", { class: "run" },
    h("summary", {}, named(run.kind), " · ", moment(run.created_at), " · ", state), h("p", {}, h("a", { href: "/runs/" + encodeURIComponent(run.id) }, t("run.link"))), note, lines.element);
  const begin = () => {
    stop = follow(address("workspace-run-events", { run_id: run.id }, { compact: "true" }), 0, {
      event: (name, data) => {
        lines.add(name, data);
        if (name === "runEnded") fill(state, ...stateOf(data));
        if (name === "runEnded" || name === "error") void call("workspace-get-run", { path: { run_id: run.id } }).then(({ ended_at: at }) => lines.close(at), () => {}); // the lines are there without it
        if (name === "error") fill(state, ...stateOf({ status: data.code === "canceled" ? "canceled" : "failed", error: data }));
      },
      state: (now) => (note.textContent = now === "lost" ? t("run.lost") : ""),
      failed: (failure) => (note.textContent = reasonOf(failure)),
    });
  };
  return { element, follow: begin, stop: () => stop() };
}
