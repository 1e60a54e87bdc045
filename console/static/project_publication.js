// How a project is published as an agent.

import { actionButton, attempt } from "./action.js";
import { copyButton, field, removal, showOnce } from "./action_form.js";
import { APIError, call } from "./api.js";
import { fill, h } from "./dom.js";
import { inLanguage, t } from "./language.js";
import { publication as words } from "./words/publication.js";

/** @typedef {keyof typeof words} Word */

/** @param {Word} key @param {Record<string, string>} [values] */
const w = (key, values) => inLanguage(words[key], values);

/** @param {any} project (schema ProjectView) */
export async function publication(project) {
  const element = h("div", { class: "fields" });
  const path = { id: project.id };
  /** @param {any} shown a PublicationView; null = there is none */
  const draw = (shown) => fill(element, h("p", { class: "quiet" }, w("hint")), shown && where(shown), form(shown), shown && removal(w("end"), shown.title, async () => {
    await call("delete-publication", { path });
    draw(null);
  }, { hint: w("end.hint") }));
  /** @param {any} shown */
  const form = (shown) => {
    const fields = fieldsOf(shown ?? { visibility: "workspace", title: project.name, starters: [], allowedOrigins: [] });
    const state = h("p", { role: "status", class: "quiet" });
    const save = async (/** @type {boolean} */ rotate) => {
      const saved = await call("put-publication", { path, body: { ...fields.values(), ...(rotate ? { rotate_secret: true } : {}) } });
      showOnce([[w("secret"), saved.secret]]);
      draw(saved);
      /** @type {HTMLElement | null} */ (element.querySelector("[role=status]"))?.replaceChildren(t("form.saved"));
    };
    return h("form", { onsubmit: (/** @type {Event} */ e) => {
      e.preventDefault();
      void attempt(() => save(false));
    } }, ...fields.elements, state, h("div", { class: "row saves" }, h("button", { class: "first" }, w(shown ? "save" : "publish")), shown && actionButton(w("rotate"), () => save(true))));
  };
  draw(await call("get-publication", { path }).catch((failure) => {
    if (failure instanceof APIError && failure.status === 404) return null;
    throw failure;
  }));
  return { element };
}

/**
 * Returns the fields of a publication.
 * @param {any} shown
 */
function fieldsOf(shown) {
  const visibility = h("select", { id: "publish-visibility" }, ...(/** @type {const} */ (["workspace", "public"])).map((one) => h("option", { value: one, selected: shown.visibility === one }, w(`visibility.${one}`))));
  const input = (/** @type {Word} */ name, /** @type {string} */ value, /** @type {Record<string, any>} */ more = {}) => field(w(name), { id: "publish-" + name, value: value ?? "", required: false, ...more });
  const area = (/** @type {Word} */ name, /** @type {string} */ value) => h("textarea", { id: "publish-" + name, rows: 3 }, value ?? "");
  const title = input("title", shown.title, { required: true, maxlength: 100 });
  const slug = input("slug", shown.slug, { maxlength: 63, pattern: "[a-z0-9][a-z0-9_\\-]*" });
  const avatar = input("avatar", shown.avatar, { maxlength: 90000 });
  const description = area("description", shown.description);
  const starters = area("starters", (shown.starters ?? []).join("\n"));
  const origins = area("origins", (shown.allowedOrigins ?? []).join("\n"));
  const limit = (/** @type {Word} */ name, /** @type {number | undefined} */ value, /** @type {number} */ usual) => input(name, String(value || ""), { type: "number", min: 1, max: 1000000, placeholder: usual });
  const visitor = limit("visitor", shown.limits?.visitorRequestsPerMinute, 60);
  const every = limit("every", shown.limits?.requestsPerMinute, 600);
  const lines = (/** @type {HTMLTextAreaElement} */ of) => of.value.split("\n").map((one) => one.trim()).filter(Boolean);
  const labelled = (/** @type {Word} */ name, /** @type {HTMLElement} */ of, /** @type {Word} */ help) => h("div", { class: "field" }, h("label", { for: of.id }, w(name)), of, h("p", { class: "quiet" }, w(help)));
  return {
    elements: [
      labelled("visibility", visibility, "visibility.help"), labelled("title", title, "title.help"), labelled("slug", slug, "slug.help"), labelled("description", description, "description.help"),
      labelled("starters", starters, "starters.help"), labelled("avatar", avatar, "avatar.help"), labelled("origins", origins, "origins.help"),
      labelled("visitor", visitor, "visitor.help"), labelled("every", every, "every.help"),
    ],
    values: () => ({
      visibility: visibility.value, title: title.value.trim(), description: description.value.trim(), starters: lines(starters), avatar: avatar.value.trim(), allowedOrigins: lines(origins),
      limits: { ...(visitor.value ? { visitorRequestsPerMinute: Number(visitor.value) } : {}), ...(every.value ? { requestsPerMinute: Number(every.value) } : {}) },
      ...(slug.value.trim() ? { slug: slug.value.trim() } : {}),
    }),
  };
}

/**
 * Returns where an agent is, and what shows it on another page.
 * @param {any} shown (schema PublicationView)
 */
function where(shown) {
  const script = `<script src="${shown.script_url}" data-agent="${shown.slug}" defer></script>`;
  return h("div", { class: "notice" },
    h("p", {}, h("a", { href: shown.url, target: "_blank", rel: "noopener" }, shown.url)),
    h("p", { class: "row" }, h("code", { class: "once" }, shown.card_url), copyButton(shown.card_url, w("card"))),
    h("p", { class: "row" }, h("code", { class: "once" }, script), copyButton(script, w("script"))));
}

/** Returns the agents of the workspace; nothing if there are none. */
export function gallery() {
  const element = h("section", { hidden: true }, h("h2", {}, w("gallery")), h("ul", { class: "gallery" }));
  void call("list-agents").then(({ data }) => {
    element.hidden = data.length === 0;
    fill(/** @type {HTMLElement} */ (element.lastElementChild), ...data.map((/** @type {any} */ one) => h("li", {},
      h("a", { href: one.url, target: "_blank", rel: "noopener" }, one.avatar && !one.avatar.startsWith("data:") ? one.avatar + " " : "", one.title), " ",
      h("span", { class: "quiet" }, w(`visibility.${/** @type {"public"} */ (one.visibility)}`)), one.description && h("p", { class: "quiet" }, one.description))));
  }).catch(() => {}); // the projects are there without them
  return element;
}
