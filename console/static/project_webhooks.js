// The webhooks of a project, and what was sent to them.

import { actionButton } from "./action.js";
import { actionForm, choices, field, removal, showOnce } from "./action_form.js";
import { call } from "./api.js";
import { changedNotice, differences, settingsOf, wasChanged } from "./changed_meanwhile.js";
import { fill, h } from "./dom.js";
import { moment, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { polling } from "./polling.js";

/** @param {any} project (schema ProjectView) */
export function webhooks(project) {
  const path = { id: project.id };
  let known = project; // as the list shows it
  const meanwhile = h("div");
  const read = async () => (known = await call("get-project", { path })).webhooks ?? [];
  /** Changes the list that is shown, unless somebody else changed it: a change replaces all of it. @param {(now: any[]) => any[]} edit */
  const change = async (edit) => {
    const kept = (known.webhooks ?? []).map((/** @type {any} */ { id, url, types, enabled }) => ({ id, url, types, enabled }));
    fill(meanwhile);
    try {
      known = await call("patch-project", { path, body: { webhooks: edit(kept) }, match: known.updatedAt });
    } catch (failure) {
      if (!wasChanged(failure)) throw failure;
      const before = known;
      await read();
      const changes = differences(settingsOf(before).webhooks, settingsOf(known).webhooks);
      if (!changes.length) return void await change(edit); // other settings were changed
      fill(meanwhile, changedNotice(changes, t("changed.again")));
      table.restart();
      throw failure;
    }
    showOnce((known.webhooks ?? []).map((/** @type {any} */ one) => [one.url, one.secret]));
    table.restart();
  };
  const table = pagedTable({
    name: t("project.webhooks"), columns: [t("hook.url"), t("hook.types"), t("doc.status"), t("hook.change")].map((title) => ({ title })),
    load: async () => ({ data: await read(), next_cursor: null }),
    key: (/** @type {any} a WebhookView */ one) => one.id,
    cells: (one) => [one.url, one.types.join(", "), one.enabled ? t("form.on") : one.disabledReason || t("form.off"), h("div", { class: "row" },
      actionButton(t(one.enabled ? "hook.disable" : "hook.enable"), () => change((now) => now.map((other) => other.id === one.id ? { ...other, enabled: !one.enabled } : other))),
      removal(t("doc.remove"), one.url, () => change((now) => now.filter((other) => other.id !== one.id))))],
    none: () => t("hook.none"),
  });
  const url = field(t("hook.url"), { type: "url", maxlength: 2000, placeholder: "https://" });
  const types = choices(t("hook.types"), ["documents_created", "documents_updated", "documents_deleted", "queries", "tests_results"], 3);
  const form = actionForm(t("hook.add"), () => change((now) => [...now, { url: url.value, types: types.chosen() }]), url, types.element);
  const sent = deliveries(project.id);
  return {
    element: h("div", { class: "full" }, form, meanwhile, table.element, h("h2", {}, t("hook.deliveries")), sent.element),
    stop: () => {
      table.stop();
      sent.stop();
    },
  };
}

/** Returns the deliveries, which are looked at again while one is pending. @param {string} project */
function deliveries(project) {
  const columns = /** @type {const} */ (["hook.types", "doc.status", "hook.attempts", "ask.answer", "hook.next", "keys.created", "hook.change"]);
  const load = (/** @type {string} */ cursor) => call("list-webhook-deliveries", { query: { project_id: project, limit: 50, cursor } });
  const table = pagedTable({
    name: t("hook.deliveries"), columns: columns.map((one) => ({ title: t(one), number: one === "hook.attempts" })), load,
    key: (/** @type {any} a DeliveryView */ one) => one.id,
    cells: (one) => [one.document_id ? h("a", { href: "/documents/" + encodeURIComponent(one.document_id) }, one.type) : one.type,
      h("span", { class: `state ${one.status === "delivered" ? "published" : one.status === "failed" ? "error" : ""}` }, t(`hook.${/** @type {"failed"} */ (one.status)}`)),
      one.attempts, [one.http_status, one.error ?? one.answer?.error?.message].filter(Boolean).join(": "), moment(one.next_attempt_at), moment(one.created_at),
      actionButton(t("hook.again"), async () => {
        table.put(await call("redeliver", { path: { id: one.id } }));
        live.plan();
      })],
    none: () => t("hook.none.sent"),
    loaded: () => live.plan(),
  });
  const live = polling(async () => {
    for (const one of (await load("")).data.reverse()) table.put(one, true);
  }, () => table.items().some((one) => one.status === "pending"));
  return {
    element: table.element,
    stop: () => {
      table.stop();
      live.stop();
    },
  };
}
