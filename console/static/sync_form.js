// The forms of a sync: of a new one, and of what can be changed later.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { nameOf, types, withoutRights } from "./connections.js";
import { fill, h } from "./dom.js";
import { labelled, linesOf, say } from "./imports_frame.js";
import { bytes, number, t } from "./language.js";
import { preference } from "./preferences.js";
import { projectChoice } from "./project_choice.js";
import { navigate } from "./router.js";

/** @typedef {import("./connections.js").Connection} Connection */
/** @typedef {import("./sync_state.js").Sync} Sync */

const times = ["5m", "15m", "1h", "6h", "24h", "168h"];

/**
 * Returns the fields that a sync has when it is made and later.
 * @param {Sync | null} saved null = a new one
 */
function settingsFields(saved) {
  const chosen = saved?.every ?? "1h";
  const every = h("select", { name: "every" }, ...[...new Set([...times, chosen])].map((one) => h("option", { selected: one === chosen }, one)));
  const lines = /** @type {const} */ (["include", "exclude", "tags"]).map((name) => h("textarea", { name, rows: 1, placeholder: name === "tags" ? "" : "reports/**/*.pdf" }, saved?.[name].join("\n") ?? ""));
  const vanished = h("input", { type: "checkbox", name: "remove_vanished", checked: saved?.remove_vanished ?? true, disabled: saved?.permissions === "mirror" });
  const element = h("div", { class: "import" }, h("div", { class: "columns" }, labelled(say("sync.every"), every), ...lines.map((one) => labelled(say(`imp.${/** @type {"tags"} */ (one.name)}`), one))),
    h("label", { class: "choice" }, vanished, say("sync.remove_vanished")));
  const value = () => {
    const [include, exclude, tags] = lines.map(linesOf);
    return { every: every.value, include, exclude, tags, remove_vanished: vanished.checked };
  };
  return { element, value, vanished };
}

/**
 * Returns the form of what can be changed of a sync, folded.
 * @param {Sync} saved
 * @param {(changed: Sync) => void} then
 */
export function changeForm(saved, then) {
  const fields = settingsFields(saved);
  const outcome = h("p", { role: "status", class: "quiet" });
  const save = actionButton(t("save"), async () => {
    const body = Object.fromEntries(Object.entries(fields.value()).filter(([name, now]) => JSON.stringify(now) !== JSON.stringify(saved[name])));
    const changed = Object.keys(body).length > 0;
    outcome.textContent = "";
    if (changed) then(saved = await call("patch-sync", { path: { id: saved.id }, body }));
    outcome.textContent = say(changed ? "sync.changed" : "sync.unchanged");
  }, { class: "first" });
  return h("details", { class: "new" }, h("summary", {}, say("sync.change")), fields.element, h("div", { class: "row" }, save, outcome));
}

/** Returns the form of a new sync, folded, and how it learns of the connections. */
export function syncForm() {
  /** @type {Connection[]} */
  let known = [];
  const connection = h("select", { name: "connection", required: true, onchange: () => choose() });
  const project = projectChoice(preference("project") || "default", () => {});
  project.options[0].remove(); // a sync is for one project
  const scope = h("div", { class: "columns" });
  const mirror = h("input", { type: "checkbox", name: "mirror", onchange: () => {
    fields.vanished.disabled = mirror.checked; // nobody would know who may see what is gone
    fields.vanished.checked ||= mirror.checked;
  } });
  const fields = settingsFields(null);
  const found = h("div", { class: "found", role: "status" });
  const choose = () => {
    const type = /** @type {keyof typeof types | undefined} */ (known.find((one) => one.id === connection.value)?.type);
    fill(found);
    mirror.disabled = withoutRights.has(type ?? "");
    mirror.checked &&= !mirror.disabled;
    fields.vanished.disabled = mirror.checked;
    fill(scope, ...(type ? types[type].scope : []).map((name) =>
      labelled(say(`sync.${name}`), h("input", { name, maxlength: 2048 }), say(/** @type {"sync.folder.drive"} */ (`sync.${name}.${type}`)))));
  };
  const place = () => ({
    scope: Object.fromEntries([...scope.querySelectorAll("input")].filter((one) => one.value.trim()).map((one) => [one.name, one.value.trim()])), permissions: mirror.checked ? "mirror" : "none",
  });
  const check = actionButton(say("imp.check"), async () => {
    if (!form.reportValidity()) return;
    const { include, exclude } = fields.value();
    fill(found);
    fill(found, ...previewOf(await call("check-connection", { path: { id: connection.value }, body: { ...place(), include, exclude } })));
  });
  const start = actionButton(say("sync.make"), async () => {
    if (form.reportValidity()) navigate("/syncs/" + (await call("add-sync", { body: { connection_id: connection.value, project_id: project.value || undefined, ...place(), ...fields.value() } })).id);
  }, { class: "first" });
  const form = h("form", { class: "import", onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    start.click();
  } }, h("div", { class: "columns" }, labelled(say("conn"), connection), labelled(t("ask.project"), project)), scope, fields.element,
    h("label", { class: "choice" }, mirror, say("sync.mirrored")), h("div", { class: "row" }, check, start), found);
  const element = h("details", { class: "new sync", hidden: true }, h("summary", {}, say("sync.new")), form);
  /** Shows these connections as the choice. @param {Connection[]} list @param {string} [chosen] */
  const offer = (list, chosen = connection.value) => {
    known = list;
    element.hidden = !list.length; // there is nothing to follow yet
    fill(connection, ...list.map((one) => h("option", { value: one.id, selected: one.id === chosen }, nameOf(one))));
    choose();
  };
  return { element, offer };
}

/** Returns what the first run would take in, or why the service refuses. @param {any} check (schema ConnectionCheck) */
export function previewOf({ ok, error, preview }) {
  if (!ok) return [h("p", { class: "state error" }, `${error.code}: ${error.message}`)];
  const { files, bytes: size, excluded, hidden, complete, examples, hidden_examples: unseen } = preview;
  const more = [excluded && say("sync.excluded", { n: number(excluded) }), hidden && say("sync.check.hidden", { n: number(hidden) })].filter(Boolean);
  return [h("p", { class: "state published" }, [say(complete ? "sync.found" : "sync.found.least", { files: number(files), bytes: bytes(size) }), ...more].join("; ")),
    paths(examples, files), unseen.length > 0 && h("p", {}, say("sync.check.hidden.list")), unseen.length > 0 && paths(unseen, hidden)];
}

/** Returns a list of the first paths of some. @param {string[]} first @param {number} all */
function paths(first, all) {
  return h("ul", { class: "quiet" }, ...first.map((path) => h("li", {}, path)), all > first.length && h("li", {}, "…"));
}
