// The settings of a project.

import { actionButton, confirm } from "./action.js";
import { APIError, call, reasonOf } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { t } from "./language.js";
import { schemaForm, schemas } from "./schema_form.js";

/** The settings that are changed most. */
const first = ["name", "ai.prompt", "ai.model", "ai.temperature", "ai.retrieval.preset", "ai.retrieval.strategy", "ai.retrieval.numberOfChunks", "ai.retrieval.reranker"];

/** @param {any} project (schema ProjectView) */
export async function settings(project) {
  const all = await schemas();
  const path = { id: project.id };
  let form = schemaForm(all, "ProjectChange", project, first, ["ai", "tools", "limits"]);
  const fields = h("div", {}, form.element);
  const state = h("p", { role: "status", class: "quiet" });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const outdated = h("div");
  const look = async () => {
    const found = await call("reindex-project", { path, query: { dry_run: true } }).catch(() => ({ matched: 0 })); // who may not is not told
    fill(outdated, found.matched > 0 && h("p", { class: "row notice" }, t("project.outdated", { n: found.matched }),
      h("button", { type: "button", onclick: () => reindex(found.matched) }, t("project.reindex"))));
  };
  const reindex = (/** @type {number} */ n) => confirm({ title: t("project.reindex"), hint: t("project.reindex.hint", { n }), label: t("project.reindex") }, async () => {
    await call("reindex-project", { path });
    fill(outdated, h("p", { class: "notice", role: "status" }, t("project.reindexing"), " ", h("a", { href: "/documents" }, t("documents"))));
  });
  const save = async () => {
    state.textContent = wrong.textContent = "";
    const change = form.change();
    if (!change || !Object.keys(change).length) return;
    try {
      const saved = await call("patch-project", { path, body: change });
      form = schemaForm(all, "ProjectChange", saved, first, ["ai", "tools", "limits"]);
      const open = fields.querySelector("details")?.open;
      fill(fields, form.element);
      for (const one of fields.querySelectorAll("details")) one.open = open === true;
      state.textContent = [t("form.saved"), ...(saved.notices ?? []).map((/** @type {any} */ one) => one.message)].join("\n");
      announce(t("form.saved"));
      await look();
    } catch (failure) {
      if (!(failure instanceof APIError && form.refuse(failure.fields))) wrong.textContent = reasonOf(failure);
    }
  };
  await look();
  const element = h("form", { novalidate: true, onsubmit: (/** @type {Event} */ e) => e.preventDefault() }, outdated, fields, wrong, state,
    h("div", { class: "row saves" }, actionButton(t("form.save"), save, { class: "first", type: "submit" })));
  return { element };
}
