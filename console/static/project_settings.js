// The settings of a project.

import { actionButton } from "./action.js";
import { removal } from "./action_form.js";
import { APIError, call, reasonOf } from "./api.js";
import { changedNotice, differences, settingsOf, wasChanged } from "./changed_meanwhile.js";
import { fill, h } from "./dom.js";
import { t } from "./language.js";
import { schemaForm, schemas } from "./schema_form.js";

/** The settings that are changed most. */
const first = ["name", "ai.prompt", "ai.model", "ai.temperature", "ai.retrieval.preset", "ai.retrieval.strategy", "ai.retrieval.numberOfChunks", "ai.retrieval.reranker"];

const parts = ["ai", "tools", "limits", "privacy", "retention", "pipeline"];

/** @param {any} project (schema ProjectView) */
export async function settings(project) {
  const all = await schemas();
  const path = { id: project.id };
  let known = project; // as it was read last
  let form = schemaForm(all, "ProjectChange", project, first, parts);
  const fields = h("div", {}, form.element);
  const state = h("p", { role: "status", class: "quiet" });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const outdated = h("div");
  const meanwhile = h("div");
  const look = async () => {
    const { matched: n } = await call("reindex-project", { path, query: { dry_run: true } }).catch(() => ({ matched: 0 })); // who may not is not told
    const hint = t("project.outdated", { n });
    fill(outdated, n > 0 && h("p", { class: "row notice" }, hint, removal(t("project.reindex"), project.name, async () => {
      await call("reindex-project", { path });
      fill(outdated, h("p", { class: "notice", role: "status" }, t("doc.bulk.started", { n }), " ", h("a", { href: "/documents" }, t("documents"))));
    }, { hint })));
  };
  const save = async () => {
    state.textContent = wrong.textContent = "";
    fill(meanwhile);
    const change = form.change();
    if (!change || !Object.keys(change).length) return;
    try {
      const saved = await call("patch-project", { path, body: change, match: known.updatedAt });
      known = saved;
      form = schemaForm(all, "ProjectChange", saved, first, parts, fields.querySelector("details")?.open);
      fill(fields, form.element);
      state.textContent = [t("form.saved"), ...(saved.notices ?? []).map((/** @type {any} */ one) => one.message)].join("\n");
      await look();
    } catch (failure) {
      if (wasChanged(failure)) {
        const before = known;
        known = await call("get-project", { path });
        fill(meanwhile, changedNotice(differences(settingsOf(before), settingsOf(known)), t("changed.save")));
      } else if (!(failure instanceof APIError && form.refuse(failure.fields))) wrong.textContent = reasonOf(failure);
    }
  };
  await look();
  const element = h("form", { novalidate: true, onsubmit: (/** @type {Event} */ e) => e.preventDefault() }, outdated, fields, meanwhile, wrong, state,
    h("div", { class: "row saves" }, actionButton(t("form.save"), save, { class: "first", type: "submit" })));
  return { element };
}
