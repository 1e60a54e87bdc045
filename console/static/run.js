// A run: its state with the cause, what can be done about it, and what happened in it.

import { actionButton, confirm } from "./action.js";
import { address, call, reasonOf } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { follow } from "./events.js";
import { moment, t } from "./language.js";
import { polling } from "./polling.js";
import { projectNames } from "./project_choice.js";
import { runSteps } from "./run_steps.js";
import { researchTree } from "./research_tree.js";
import { countersOf, factList, named, originOf, stageName, stateOf } from "./runs_list.js";
import { timeline } from "./timeline.js";

/** @typedef {import("./runs_list.js").Run} Run */

/** @param {string} id */
export async function openRun(id) {
  const path = { run_id: id };
  /** @type {Run} */
  let run = await call("workspace-get-run", { path });
  const names = await projectNames();
  let paused = false;
  const state = h("p", { role: "status" });
  const facts = h("dl", { class: "facts" });
  const note = h("p", { class: "lost", role: "status" });
  const lines = timeline(id);
  const tree = run.kind === "research" ? researchTree() : null;
  const look = async () => {
    run = await call("workspace-get-run", { path });
    draw();
  };
  const control = controls(id, look);
  const draw = () => {
    paused = run.progress ? run.progress.paused === true : paused;
    fill(state, ...stateOf(paused && run.status === "running" ? { ...run, status: "paused" } : run));
    fill(facts, ...factsOf(run, names));
    control.allow(run, paused);
    lines.close(run.ended_at);
    live.plan();
  };
  const live = polling(look, () => run.status === "running");
  const stop = follow(address("workspace-run-events", path, { compact: "true" }), 0, {
    event: (name, data) => {
      lines.add(name, data);
      if (name === "importUpdate") paused = data.status === "paused";
      else if (name !== "researchUpdate") return;
      else {
        tree?.update(data);
        if (data.phase === "pause") paused = data.status === "started";
      }
      draw();
    },
    state: (now) => (note.textContent = now === "lost" ? t("run.lost") : ""),
    failed: (failure) => (note.textContent = reasonOf(failure)),
  });
  draw();
  const steps = runSteps(id, () => run.status === "running");
  return {
    title: `${named(run.kind)} ${id.slice(0, 8)}`,
    element: h("div", { class: "padded document" }, h("p", {}, h("a", { href: "/runs" }, "‹ ", t("runs"))),
      h("div", { class: "row" }, h("h1", {}, named(run.kind)), h("span", { class: "space" }), ...control.buttons), run.question && h("blockquote", {}, run.question), state, facts, tree?.element, control.steer, note, steps.element, lines.element),
    stop: () => {
      stop();
      live.stop();
      steps.stop();
    },
  };
}

/** Returns what can be done about a run. @param {string} id @param {() => Promise<void>} look */
function controls(id, look) {
  const path = { run_id: id };
  const act = (/** @type {"workspace-pause-run" | "workspace-resume-run" | "workspace-cancel-run"} */ what) => () => call(what, { path }).then(look);
  const pause = actionButton(t("doc.pause"), act("workspace-pause-run"));
  const resume = actionButton(t("run.resume"), act("workspace-resume-run"), { class: "first" });
  const cancel = h("button", { type: "button", onclick: () => confirm({ title: t("run.cancel.title"), hint: t("run.cancel.hint"), label: t("run.cancel") }, act("workspace-cancel-run")) }, t("run.cancel"));
  const field = h("input", { name: "message", maxlength: 4000, "aria-label": t("run.steer"), placeholder: t("run.steer") });
  const send = actionButton(t("run.send"), async () => {
    if (!field.value.trim()) return field.focus();
    await call("workspace-steer-run", { path, body: { text: field.value } });
    field.value = "";
    announce(t("run.sent"));
  });
  const steer = h("form", { class: "row steer", onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    send.click();
  } }, field, send);
  const allow = (/** @type {Run} */ run, /** @type {boolean} */ paused) => {
    const open = run.status === "running";
    const pausable = open && ["research", "import", "reindex"].includes(run.kind);
    pause.hidden = !pausable || paused;
    resume.hidden = !pausable || !paused;
    cancel.hidden = !open || run.kind.startsWith("remove");
    steer.hidden = !open || !["query", "research"].includes(run.kind);
  };
  return { buttons: [resume, pause, cancel], steer, allow };
}

/** @param {Run} run @param {Map<string, string>} names of projects */
function factsOf(run, names) {
  const link = (/** @type {string} */ page, /** @type {string} */ id) => id && h("a", { href: `/${page}/${encodeURIComponent(id)}` }, id);
  return factList([
    ...originOf(run, names), ["run.progress", stageName(run.stage) || countersOf(run.progress)], ["run.usage", countersOf(run.usage)],
    ["run.error", run.error && [run.error.code, run.error.detail, run.error.retry_at && t("run.next", { at: moment(run.error.retry_at) })].filter(Boolean).join(" · ")],
    ["run.document", link("documents", run.document_id)], ["run.import", link("imports", run.import_id)], ["run.conversation", link("ask", run.conversation_id)],
  ]);
}
