// The connections to services: a table of them, and the form of a new one.

import { actionButton, attempt } from "./action.js";
import { removal } from "./action_form.js";
import { call, reasonOf } from "./api.js";
import { fill, h, openDialog } from "./dom.js";
import { labelled, say } from "./imports_frame.js";
import { moment, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { endsSoon } from "./sync_state.js";

/** @typedef {any} Connection a connection of the API (schema ConnectionView) */
/** @typedef {{ok: boolean, error: {code: string, message: string} | null, secret_ends: string | null}} Check (schema ConnectionCheck) */

/** The types of docs/syncs.md: the options of a connection, those that it must have, and the scope of a sync. */
export const types = /** @type {const} */ ({
  webdav: { options: ["url", "username"], required: "url", scope: ["folder"], example: "https://cloud.example.com/remote.php/dav/files/ann/" },
  sharepoint: { options: ["tenant", "client_id", "url"], required: "tenant client_id", scope: ["site", "drive", "folder"], example: "https://graph.microsoft.us" },
  drive: { options: ["subject", "url"], required: "", scope: ["drive", "folder"], example: "https://www.googleapis.com/drive/v3" },
  git: { options: ["url", "username"], required: "url", scope: ["repository", "branch", "folder"], example: "https://github.com/example/handbook.git" },
  imap: { options: ["url", "username", "auth"], required: "url", scope: ["mailbox"], example: "imaps://imap.example.com" },
  confluence: { options: ["url", "username"], required: "url", scope: ["space"], example: "https://example.atlassian.net/wiki" },
  notion: { options: ["url"], required: "", scope: ["page", "database"], example: "https://api.notion.com" },
  crawl: { options: ["url"], required: "url", scope: [], example: "https://www.example.com/handbook/" },
});

/** The types of services that tell nobody's rights; everybody may read a site. */
export const withoutRights = new Set(["crawl", "git", "imap", "notion"]);

/** Returns how people call a connection. @param {Connection} one */
export function nameOf({ type, options }) {
  return [options.url || say(`conn.${/** @type {"drive"} */ (type)}`), options.username || options.subject || options.tenant].filter(Boolean).join(" · ");
}

/** Shows what a service says to a connection. @param {Check} check */
export function outcomeOf({ ok, error, secret_ends: ends }) {
  const soon = endsSoon(ends);
  return ok ? h("span", { class: soon ? "state error" : "state published" }, [say("conn.ok"), ends && say("conn.ends", { at: moment(ends) })].filter(Boolean).join(" ")) : h("span", { class: "state error" }, `${error?.code}: ${error?.message}`);
}

/** Asks the service of a connection, and shows its answer. @param {string} id @param {HTMLElement} into */
export async function check(id, into) {
  fill(into, outcomeOf(await call("check-connection", { path: { id } })));
}

/** Opens the form of another secret. @param {Connection} one @param {() => Promise<any>} then is called when it is stored */
export function replaceSecret(one, then) {
  const secret = secretField(one.type);
  const form = h("form", { class: "stacked", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    if (!await attempt(() => call("patch-connection", { path: { id: one.id }, body: { secret: secret.input.value } }))) return;
    dialog.close();
    await attempt(then);
  } }, h("h2", {}, say("conn.secret.title", { name: nameOf(one) })), h("p", {}, say("conn.secret.hint")), secret.element,
    h("div", { class: "row" }, h("button", { class: "first" }, t("save")), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel"))));
  const dialog = openDialog(say("conn.secret"), form);
}

/** Returns the field of a secret, which is typed once. @param {Exclude<keyof typeof types, "crawl">} type */
function secretField(type) {
  const input = h("input", { name: "secret", type: "password", autocomplete: "new-password", maxlength: 65536, required: true });
  return { input, element: labelled(say("conn.value"), input, say(`conn.help.${type}.secret`)) };
}

/**
 * Returns the part of the page about connections.
 * @param {(connection: Connection) => void} made is called with a new one that its service accepts
 * @param {(list: Connection[]) => void} changed is called with all of them
 */
export function connectionsPart(made, changed) {
  /** @type {Map<string, HTMLElement>} */
  const outcomes = new Map(); // what the services said on this page
  const outcome = (/** @type {string} */ id) => outcomes.get(id) ?? outcomes.set(id, h("span", { role: "status", class: "quiet" }, say("conn.unchecked"))).get(id);
  let refused = "";
  /** @type {import("./paged_table.js").Table<Connection>} */
  const table = pagedTable({
    name: say("conns"), columns: [say("conn.service"), say("conn.state"), t("hook.change")].map((title) => ({ title })),
    load: async (cursor) => {
      const found = await call("list-connections", { query: { limit: 100, cursor } }).catch((failure) => {
        if (failure.status !== 403) throw failure;
        refused = failure.message; // an editor sees syncs, and no connections
        return { data: [], next_cursor: null };
      });
      form.hidden = refused !== "";
      return found;
    },
    loaded: () => changed(table.items()),
    key: (/** @type {Connection} */ one) => one.id,
    cells: (one) => [
      [h("strong", {}, nameOf(one)), " ", h("span", { class: "quiet" }, one.type)],
      [outcome(one.id), endsSoon(one.secret_ends) && h("p", { class: "wrong" }, say("conn.ends", { at: moment(one.secret_ends) })), one.waits_until && h("span", { class: "quiet" }, " ", say("sync.waits", { until: moment(one.waits_until) }))],
      h("div", { class: "row" }, ...actionsOf(one)),
    ],
    none: () => refused || say("conn.none"),
  });
  const look = async (/** @type {string} */ id) => {
    const into = outcome(id);
    if (into) await check(id, into).catch((failure) => fill(into, reasonOf(failure)));
  };
  const actionsOf = (/** @type {Connection} */ one) => [
    h("button", { type: "button", "aria-label": `${say("conn.check")}: ${nameOf(one)}`, onclick: () => void look(one.id) }, say("conn.check")),
    one.type !== "crawl" && h("button", { type: "button", "aria-label": `${say("conn.secret")}: ${nameOf(one)}`, onclick: () => replaceSecret(one, () => look(one.id)) }, say("conn.secret")),
    removal(say("conn.remove"), nameOf(one), async () => {
      await call("delete-connection", { path: { id: one.id } });
      table.drop(one.id);
      changed(table.items());
    }, { hint: say("conn.remove.hint") }),
  ];
  const add = async (/** @type {object} */ body) => {
    const one = await call("add-connection", { body });
    table.put(one, true);
    changed(table.items());
    await look(one.id);
    if (outcome(one.id)?.querySelector(".published")) made(one);
  };
  const form = connectionForm(add);
  table.restart(); // the form of a sync needs them, also while the table is out of sight
  return { element: h("section", { class: "full" }, h("h2", {}, say("conns")), h("p", { class: "quiet" }, say("conn.hint")), form, table.element), stop: table.stop };
}

/** Returns the form of a new connection, folded. @param {(body: object) => Promise<void>} add */
function connectionForm(add) {
  const type = h("select", { name: "type", onchange: () => choose() }, ...Object.keys(types).map((one) => h("option", { value: one }, say(`conn.${/** @type {"drive"} */ (one)}`))));
  const fields = h("div", { class: "columns" });
  const choose = () => {
    const of = /** @type {keyof typeof types} */ (type.value);
    const { options, required, example } = types[of];
    fill(fields, ...options.map((name) => {
      const input = h("input", { name, required: required.split(" ").includes(name), maxlength: 2048, placeholder: name === "url" && example, type: name === "url" ? "url" : "text", autocomplete: "off" });
      return labelled(say(`conn.option.${name}`), input, say(/** @type {"conn.help.drive.url"} */ (`conn.help.${of}.${name}`)));
    }), of !== "crawl" && secretField(of).element);
  };
  const make = actionButton(say("conn.make"), async () => {
    if (!form.reportValidity()) return;
    const given = [...fields.querySelectorAll("input")].map(({ name, value }) => [name, name === "secret" ? value : value.trim()]).filter(([, value]) => value);
    const { secret, ...options } = Object.fromEntries(given);
    await add({ type: type.value, options, secret });
    folded.open = false;
    choose(); // the secret is gone
  }, { class: "first" });
  const form = h("form", { class: "import", onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    make.click();
  } }, h("div", { class: "columns" }, labelled(t("doc.type"), type)), fields, h("div", { class: "row" }, make));
  choose();
  const folded = h("details", { class: "new connection" }, h("summary", {}, say("conn.new")), form);
  return folded;
}
