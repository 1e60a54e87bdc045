// Which documents the list shows. The address has the filters, so that it can be kept.

import { call } from "./api.js";
import { h } from "./dom.js";
import { language as spoken, languageName, t } from "./language.js";
import { projectChoice } from "./project_choice.js";
import { keepFilters } from "./router.js";

const statuses = /** @type {const} */ (["published", "pending", "error", "inactive", "deleting"]);
const stages = /** @type {const} */ (["fetch", "check", "extract", "redact", "enrich", "chunk", "embed", "publish"]);
const languages = ("afr aka amh arb azj bel ben bho bul ceb ces cmn dan deu ell eng epo est fin fra guj hat hau heb hin hrv hun ibo ilo ind ita jav jpn kan kat khm kin kor kur lav lit "
  + "mai mal mar mkd mlg mya nep nld nno nob nya ori orm pan pes pol por ron run rus sin skr slv sna som spa srp swe tam tel tgl tha tir tuk tur uig ukr urd uzb vie ydd yor zul").split(" "); // that are detected

/**
 * @typedef {object} Filters
 * @property {HTMLElement} element
 * @property {() => string} project the id of the chosen project; "" = all
 * @property {() => Record<string, string | string[]>} query of list-documents
 * @property {() => Record<string, any> | null} selection as a filter of the actions on many documents; null = they have no such filter
 * @property {() => boolean} any whether one is set
 */

/**
 * @param {URLSearchParams} asked
 * @param {() => void} changed
 * @returns {Filters}
 */
export function documentFilters(asked, changed) {
  const change = () => {
    keepFilters("/documents", values());
    changed();
  };
  const select = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ every, /** @type {[string, string][]} */ options) => {
    const chosen = asked.get(name) ?? "";
    return h("select", { name, "aria-label": label, onchange: change }, h("option", { value: "" }, every),
      ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
      chosen && !options.some(([value]) => value === chosen) && h("option", { value: chosen, selected: true }, chosen));
  };
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {number} */ maxlength) =>
    h("input", { type: "search", name, value: asked.get(name) ?? "", maxlength, "aria-label": label, placeholder: label, onchange: change });
  const status = select("status", t("doc.status"), t("doc.every"), statuses.map((one) => [one, t(`doc.${one}`)]));
  const code = select("code", t("doc.cause"), t("doc.cause.every"), []);
  const stage = select("stage", t("doc.stage"), t("doc.stage.every"), stages.map((one) => [one, t(`stage.${one}`)]));
  const stale = select("stale", t("doc.stale"), t("doc.stale.every"), [["true", t("doc.stale.only")]]);
  const named = field("named", t("doc.find"), 1024);
  const tag = field("tag", t("doc.tag"), 256);
  const known = languages.map((code) => /** @type {[string, string]} */ ([code, languageName(code)])).sort(([, a], [, b]) => a.localeCompare(b, spoken()));
  const language = select("language", t("doc.language"), t("doc.language.every"), [...known, ["und", languageName("und")]]);
  let project = asked.get("project") ?? "";
  const choice = projectChoice(project, (chosen) => {
    project = chosen;
    change();
  });
  // The causes are those that documents have.
  void call("get-document-summary").then((found) => {
    const known = new Set([...code.options].map((one) => one.value));
    for (const one of [...found.by_code, ...found.waiting]) {
      if (!one.code || known.has(one.code)) continue;
      known.add(one.code);
      code.append(h("option", { value: one.code }, one.code));
    }
  }, () => {}); // the list says what is wrong
  const values = () => ({ status: status.value, code: code.value, stage: stage.value, stale: stale.value, named: named.value.trim(), tag: tag.value.trim(), language: language.value, project });
  return {
    element: h("div", { class: "row filters" }, named, status, code, stage, stale, tag, language, choice),
    project: () => project,
    query: () => {
      const { tag: tags, project: project_id, ...others } = values();
      return { ...others, tags: tags ? [tags] : [], project_id };
    },
    selection: () => {
      const set = values();
      if (set.named || set.language || set.stage) return null;
      return { status: set.status || undefined, code: set.code || undefined, tags: set.tag ? [set.tag] : undefined, projectId: set.project || undefined, stale: set.stale ? true : undefined };
    },
    any: () => Object.values(values()).some((one) => one !== ""),
  };
}
