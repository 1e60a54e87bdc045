// A test set: its questions in each of its versions.

import { actionForm, removal } from "./action_form.js";
import { APIError, call } from "./api.js";
import { fill, h } from "./dom.js";
import { back, labelled, say } from "./evaluation_parts.js";
import { moment, number, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { projectName, projectNames } from "./project_choice.js";
import { navigate } from "./router.js";
import { to } from "./routes_evaluations.js";
import { droppedTable, madeOf, openMaking } from "./test_set_making.js";
import { fileField, readable, requestOf } from "./test_sets.js";

/** Shows the pages that an item expects. @param {any[]} pages */
function pagesOf(pages) {
  return pages.map((one) => (typeof one === "object" ? `${one.document} ${one.page}` : String(one)));
}

/** Returns the run that is making a test set; it fails with the failure to read the set if there is none. @param {string} id @param {unknown} failure */
async function makerOf(id, failure) {
  const run = failure instanceof APIError && failure.status === 404 && await call("workspace-get-run", { path: { run_id: id } }).catch(() => null);
  if (run?.kind !== "generate") throw failure;
  return run;
}

/** Opens a test set, or the run that is making it. @param {string} id */
export async function openTestSet(id) {
  const path = { test_set: id };
  /** @type {any} */
  let set;
  try {
    set = await call(to["get-test-set"], { path, query: { limit: 1 } });
  } catch (failure) {
    return openMaking(await makerOf(id, failure));
  }
  const names = await projectNames();
  const facts = h("dl", { class: "facts" });
  const version = h("select", { "aria-label": say("set.version"), onchange: () => items.restart() });
  const items = pagedTable({
    name: say("eval.questions"),
    columns: [{ title: say("eval.item") }, { title: say("eval.reference") }, { title: say("set.expected") }, { title: say("set.kind") }, { title: t("doc.tags") }],
    load: async (cursor) => {
      const page = await call(to["get-test-set"], { path, query: { limit: 100, cursor, version: version.value } });
      return { data: page.items, next_cursor: page.next_cursor };
    },
    key: (/** @type {any} */ item) => item.id,
    cells: (item) => [item.question, item.reference ?? "", [...(item.expected_documents ?? []), ...pagesOf(item.expected_pages ?? [])].join(", "), item.kind ?? "", (item.tags ?? []).join(", ")],
    none: () => say("eval.none.items"),
  });
  const draw = () => {
    fill(facts, h("dt", {}, t("ask.project")), h("dd", {}, projectName(names, set.project_id)), h("dt", {}, say("eval.questions")), h("dd", {}, number(set.count)), h("dt", {}, t("doc.changed")), h("dd", {}, moment(set.updated_at)));
    fill(version, ...Array.from({ length: set.version }, (_, at) => h("option", { value: set.version - at }, say("set.version.n", { n: number(set.version - at) }))));
  };
  const file = fileField();
  const replace = actionForm(say("set.upload.button"), async () => {
    set = await call(to["patch-test-set"], { path, ...await readable(requestOf(/** @type {FileList} */ (file.files)[0], {})) });
    draw();
    items.restart();
  }, labelled(say("set.file"), file));
  const remove = removal(say("set.remove"), set.name, async () => {
    await call(to["delete-test-set"], { path });
    navigate("/evaluations/sets");
  }, { hint: say("set.remove.hint") });
  draw();
  return {
    title: set.name, stop: items.stop,
    element: h("div", { class: "padded document full questions" }, back("/evaluations/sets", say("eval.sets")),
      h("div", { class: "row" }, h("h1", {}, set.name), h("span", { class: "space" }), h("a", { class: "button first", href: "/evaluations/new?set=" + encodeURIComponent(id) }, say("eval.start")), remove), facts,
      set.generated && h("details", { class: "new" }, h("summary", {}, say("made.by", { model: set.generated.model })), h("p", {}, madeOf(set.generated)), droppedTable(set.generated.dropped)),
      h("details", { class: "new" }, h("summary", {}, say("set.replace")), h("p", { class: "quiet" }, say("set.replace.hint")), replace),
      h("div", { class: "row" }, h("h2", {}, say("eval.questions")), h("span", { class: "space" }), version), items.element),
  };
}
