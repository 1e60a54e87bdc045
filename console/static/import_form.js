// The form of a new import.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { progressOf } from "./import.js";
import { aboutDocuments } from "./import_about.js";
import { labelled, linesOf, say } from "./imports_frame.js";
import { isOpen } from "./imports_list.js";
import { t } from "./language.js";
import { polling } from "./polling.js";
import { preference } from "./preferences.js";
import { projectChoice } from "./project_choice.js";
import { navigate } from "./router.js";

const bucket = { endpoint: "url", anonymous: "checkbox" };

/**
 * The types of docs/sources.md: an example, the fields of the options, and the host that gets
 * the credentials.
 * @type {Record<string, {uri: string, options: Record<string, string>, host?: (uri: string) => string}>}
 */
const types = {
  s3: { uri: "s3://bucket/prefix", options: { region: "text", role_arn: "text", external_id: "text", ...bucket, path_style: "checkbox" }, host: () => "s3.amazonaws.com" },
  gcs: { uri: "gs://bucket/prefix", options: bucket, host: () => "storage.googleapis.com" },
  azure: { uri: "azblob://account/container/prefix", options: bucket, host: (uri) => `${uri.split("/")[2]}.blob.core.windows.net` },
  zip: { uri: "https://example.com/files.zip", options: {} },
  url_list: { uri: "https://example.com/a.pdf", options: {} },
  crawl: { uri: "https://example.com/", options: { max_pages: "number", max_depth: "number", delay_ms: "number" } },
};

/** Returns the form, folded. */
export function importForm() {
  const project = projectChoice(preference("project") || "default", () => {});
  project.options[0].remove(); // an import is for one project
  const type = h("select", { name: "type", onchange: () => choose() }, ...Object.keys(types).map((one) => h("option", {}, one)));
  const uri = h("textarea", { name: "uri", rows: 1, maxlength: 2048, required: true });
  const options = h("div", { class: "columns" });
  const secret = h("input", { name: "secret", maxlength: 63, pattern: "[a-z0-9_\\-]+", autocomplete: "off" });
  const value = h("input", { name: "value", type: "password", autocomplete: "new-password" });
  const credentials = h("div", { class: "columns" }, labelled(say("imp.secret"), secret), labelled(say("imp.value"), value), h("p", { class: "quiet" }, say("imp.value.hint")));
  const lines = /** @type {const} */ (["include", "exclude", "tags"]).map((name) => h("textarea", { name, rows: 1, placeholder: name === "tags" ? "" : "reports/**/*.pdf" }));
  const about = aboutDocuments();
  const vanished = h("input", { type: "checkbox", name: "remove_vanished" });
  const found = h("div", { class: "found", role: "status" });

  const choose = () => {
    const { uri: example, options: of, host } = types[type.value];
    uri.placeholder = example;
    credentials.hidden = !host;
    if (!host) secret.value = value.value = "";
    fill(options, ...Object.entries(of).map(([name, kind]) => {
      const input = h("input", { name, type: kind, min: 1 });
      return kind === "checkbox" ? h("label", { class: "choice" }, input, name) : labelled(name, input);
    }));
  };
  /** Stores the credentials that were typed, and begins the import. */
  const begin = async (/** @type {boolean} */ dry) => {
    const project_id = project.value || undefined;
    const set = [...options.querySelectorAll("input")].map((one) => [one.name, one.type === "checkbox" ? one.checked : one.type === "number" ? Number(one.value) : one.value]);
    const source = { type: type.value, uri: uri.value.trim(), options: Object.fromEntries(set.filter(([, given]) => given)), secret: secret.value || undefined };
    if (value.value) {
      const host = source.options.endpoint ? new URL(source.options.endpoint).hostname : types[type.value].host?.(source.uri);
      await call("put-secret", { path: { name: secret.value }, body: { value: value.value, uses: ["import"], hosts: [host], project_id } });
      value.value = "";
    }
    const [include, exclude, tags] = lines.map(linesOf);
    return call("start-import", { body: { project_id, source, include, exclude, tags, ...about.body(), remove_vanished: vanished.checked, dry_run: dry } });
  };
  const ready = () => {
    secret.required = value.value !== "";
    return form.reportValidity();
  };
  const check = actionButton(say("imp.check"), async () => {
    if (ready()) showCheck(await begin(true), found);
  });
  const start = actionButton(say("imp.start"), async () => {
    if (ready()) navigate("/imports/" + (await begin(false)).id);
  }, { class: "first" });
  const form = h("form", { class: "import", onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    start.click();
  } },
    h("div", { class: "columns" }, labelled(t("ask.project"), project), labelled(t("doc.type"), type), labelled(say("imp.source"), uri)), options, credentials,
    h("div", { class: "columns" }, ...lines.map((one) => labelled(say(`imp.${/** @type {"tags"} */ (one.name)}`), one))),
    about.element, h("label", { class: "choice" }, vanished, say("imp.remove_vanished")), h("div", { class: "row" }, check, start), found);
  choose();
  return h("details", { class: "new" }, h("summary", {}, say("imp.new")), form);
}

/**
 * Shows what an import would take in, until all is listed.
 * @param {any} one a dry run
 * @param {HTMLElement} found
 */
function showCheck(one, found) {
  const draw = () => fill(found, ...progressOf(one), h("ul", {}, ...(one.failures ?? []).map((/** @type {any} */ failure) => h("li", { class: "wrong" }, `${failure.key}: ${failure.error.message}`))));
  draw();
  polling(async () => {
    one = await call("get-import", { path: { id: one.id } });
    draw();
  }, () => isOpen(one) && found.isConnected).plan();
}
