// The test sets: all of them, and new ones from a file, from feedback and from documents.

import { actionForm } from "./action_form.js";
import { APIError, call } from "./api.js";
import { h } from "./dom.js";
import { labelled, parts, say } from "./evaluation_parts.js";
import { moment, number, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { preference } from "./preferences.js";
import { projectChoice, projectName, projectNames } from "./project_choice.js";
import { navigate } from "./router.js";
import { to } from "./routes_evaluations.js";

/** The media types of test sets in a text, by the endings of their files. */
const media = /** @type {Record<string, string>} */ ({ csv: "text/csv", jsonl: "application/x-ndjson", ndjson: "application/x-ndjson" });

/**
 * Returns the body and the query of a request with the questions of a file.
 * @param {File} file
 * @param {Record<string, string>} fields of a new test set
 */
export async function requestOf(file, fields) {
  const type = media[file.name.split(".").at(-1)?.toLowerCase() ?? ""];
  if (type) return { query: fields, body: new Blob([file], { type }) };
  const read = JSON.parse(await file.text());
  return { body: { ...fields, items: Array.isArray(read) ? read : read?.items } };
}

/** Returns a choice of one project. */
function oneProject() {
  const project = projectChoice(preference("project") || "default", () => {});
  project.options[0].remove(); // a test set is of one project
  return project;
}

/**
 * Returns a folded form that makes a test set, and opens it.
 * @param {string} title @param {string} hint @param {string} label
 * @param {() => Promise<any>} make
 * @param {...HTMLElement} fields
 */
function maker(title, hint, label, make, ...fields) {
  const form = actionForm(label, async () => navigate("/evaluations/sets/" + encodeURIComponent((await make()).id)), h("div", { class: "columns" }, ...fields));
  form.className = "import";
  return h("details", { class: "new" }, h("summary", {}, title), h("p", { class: "quiet" }, hint), form);
}

/** Returns the forms of new test sets. */
function makers() {
  const named = () => h("input", { maxlength: 500, autocomplete: "off" });
  const [uploaded, rated, generated] = [named(), named(), named()];
  const projects = [oneProject(), oneProject(), oneProject()];
  const file = fileField();
  const rating = h("select", {}, h("option", { value: "" }, say("set.rating.all")), h("option", { value: "down" }, say("set.rating.down")), h("option", { value: "up" }, say("set.rating.up")));
  const count = h("input", { type: "number", min: 1, max: 1000, value: 50, required: true });
  const tags = h("input", { maxlength: 1000, autocomplete: "off" });
  const model = h("input", { maxlength: 200, autocomplete: "off", placeholder: say("set.model.none") });
  const fieldsOf = (/** @type {number} */ at, /** @type {HTMLInputElement} */ name) => ({ project_id: projects[at].value, ...(name.value.trim() ? { name: name.value.trim() } : {}) });
  const head = (/** @type {number} */ at, /** @type {HTMLInputElement} */ name) => [labelled(t("ask.project"), projects[at]), labelled(t("doc.name"), name)];
  const upload = async () => {
    const chosen = /** @type {FileList} */ (file.files)[0];
    const fields = fieldsOf(0, uploaded);
    return call(to["add-test-set"], await readable(requestOf(chosen, { ...fields, name: fields.name ?? chosen.name })));
  };
  const listed = (/** @type {string} */ text) => text.split(",").map((one) => one.trim()).filter(Boolean);
  return [
    maker(say("set.upload"), say("set.upload.hint"), say("set.upload.button"), upload, ...head(0, uploaded), labelled(say("set.file"), file)),
    maker(say("set.feedback"), say("set.feedback.hint"), say("set.make"), () => call(to["make-test-set-from-feedback"], { body: { ...fieldsOf(1, rated), rating: rating.value || undefined } }),
      ...head(1, rated), labelled(say("set.rating"), rating)),
    maker(say("set.generate"), say("set.generate.hint"), say("set.make"), () => call(to["generate-test-set"], { body: { ...fieldsOf(2, generated), count: Number(count.value), filter: { tags: listed(tags.value) }, model: model.value.trim() || undefined } }),
      ...head(2, generated), labelled(say("set.count"), count), labelled(say("set.tags"), tags), labelled(say("set.model"), model)),
  ];
}

/** Returns the choice of a file of questions. */
export function fileField() {
  return h("input", { type: "file", required: true, accept: ".csv,.json,.jsonl,.ndjson" });
}

/**
 * Returns what a file has; a file that is no JSON is refused.
 * @template T
 * @param {Promise<T>} reading
 * @returns {Promise<T>}
 */
export function readable(reading) {
  return reading.catch((failure) => {
    throw failure instanceof APIError ? failure : new APIError(say("set.unreadable"), "malformed", 0);
  });
}

export function openTestSets() {
  let names = new Map();
  const known = projectNames().then((found) => (names = found));
  const project = projectChoice("", () => table.restart());
  const table = pagedTable({
    name: say("eval.sets"),
    columns: [{ title: t("doc.name") }, { title: t("ask.project") }, { title: say("eval.questions"), number: true }, { title: say("set.version"), number: true }, { title: t("doc.changed") }, { title: say("eval.start") }],
    load: (cursor) => known.then(() => call(to["list-test-sets"], { query: { project_id: project.value, limit: 100, cursor } })),
    key: (/** @type {any} a TestSetView */ set) => set.id,
    cells: (set) => [
      h("a", { href: "/evaluations/sets/" + encodeURIComponent(set.id), "data-item": "" }, set.name), projectName(names, set.project_id), number(set.count), number(set.version), moment(set.updated_at),
      h("a", { href: "/evaluations/new?set=" + encodeURIComponent(set.id), "aria-label": `${say("eval.start")}: ${set.name}` }, say("eval.start")),
    ],
    none: () => say("set.none"),
  });
  return {
    title: say("eval.sets"), stop: table.stop,
    element: h("div", { class: "padded documents" }, parts("sets"), h("div", { class: "row" }, h("h1", {}, say("eval.sets")), h("span", { class: "space" }), project), ...makers(), table.element),
  };
}
