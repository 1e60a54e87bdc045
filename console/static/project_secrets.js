// The tools of a project, and the secrets that they may send.

import { actionForm, choices, field, removal } from "./action_form.js";
import { call } from "./api.js";
import { changedNotice, differences, wasChanged } from "./changed_meanwhile.js";
import { fill, h } from "./dom.js";
import { moment, t } from "./language.js";
import { pagedTable } from "./paged_table.js";

/** @param {any} project (schema ProjectView) */
export function secrets(project) {
  const tools = /** @type {[string, any][]} */ (Object.entries(project.tools.custom ?? {}));
  const columns = /** @type {const} */ (["doc.name", "secret.hosts", "secret.uses", "ask.project", "doc.changed", "hook.change"]);
  const table = pagedTable({
    name: t("secrets"), columns: columns.map((one) => ({ title: t(one) })),
    load: async () => { // the API lists all of them at once
      const found = await call("list-secrets");
      return { ...found, data: found.data.filter((/** @type {any} */ one) => [null, project.id].includes(one.project_id)) };
    },
    key: (/** @type {any} a SecretView */ one) => `${one.from} ${one.project_id} ${one.name}`,
    cells: (one) => [h("code", {}, one.name), one.hosts.join(", "), one.uses.join(", "), one.project_id ?? t("ask.every"), moment(one.updated_at),
      one.from === "stored" ? removal(t("doc.remove"), one.name, async () => {
        await call("delete-secret", { path: { name: one.name }, query: { project_id: one.project_id ?? "" } });
        table.restart();
      }) : t("secret.configured")],
    none: () => t("secret.none"),
  });
  const name = field(t("doc.name"));
  const value = field(t("secret.value"), { type: "password", autocomplete: "off" });
  const hosts = field(t("secret.hosts"), { placeholder: "api.example.com, *.example.org" });
  const uses = choices(t("secret.uses"), ["header", "import", "webhook", "model"], 1);
  const meanwhile = h("div");
  const form = actionForm(t("secret.put"), async () => {
    const stored = (/** @type {any[]} */ list) => list.find((one) => one.from === "stored" && one.project_id === project.id && one.name === name.value);
    const known = stored(table.items()); // what is replaced
    const body = { value: value.value, project_id: project.id, uses: uses.chosen(), hosts: hosts.value.split(/[\s,]+/).filter(Boolean) };
    fill(meanwhile);
    try {
      await call("put-secret", { path: { name: name.value }, body, match: known?.updated_at ?? "" });
    } catch (failure) {
      if (wasChanged(failure)) {
        const now = stored((await call("list-secrets")).data);
        fill(meanwhile, changedNotice(differences(sentOf(known), sentOf(now)), t("changed.again")));
        table.restart();
      }
      throw failure;
    }
    table.restart();
  }, name, value, hosts, uses.element);
  const element = h("div", { class: "full" }, h("h2", {}, t("secret.tools")),
    h("ul", {}, ...tools.map(([tool, one]) => h("li", {}, h("code", {}, tool), ` · ${one.type} · `, h("span", { class: "quiet" }, one.description)))),
    h("p", {}, h("a", { href: `/projects/${encodeURIComponent(project.id)}` }, t("project.settings"), ": tools.custom")),
    h("h2", {}, t("secrets")), h("p", { class: "quiet" }, t("secret.hint")), form, meanwhile, table.element);
  return { element, stop: table.stop };
}

/** Returns to whom a secret is sent and when it was changed. @param {any} secret (schema SecretView); undefined = there is none */
function sentOf(secret) {
  return { hosts: secret?.hosts.join(", "), uses: secret?.uses.join(", "), updated_at: moment(secret?.updated_at) };
}
