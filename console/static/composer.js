// The form of a question: its words, its files, and how it is answered.

import { fill, h, onEnter } from "./dom.js";
import { filesOf } from "./dropped.js";
import { bytes, t } from "./language.js";
import { preference, setPreference } from "./preferences.js";
import { projectChoice } from "./project_choice.js";

/**
 * A question as it is sent.
 * @typedef {object} Asked
 * @property {string} text
 * @property {File[]} files
 * @property {Record<string, any>} options further fields of its body
 */

const mostFiles = 10; // of a question

/**
 * Returns the form of a question.
 * @param {(asked: Asked) => Promise<string>} ask sends it; it returns why it was refused, "" = it was not
 * @param {(text: string) => Promise<string>} steer sends words to the answer that is under way, and returns the same
 */
export function composer(ask, steer) {
  /** @type {File[]} */
  let files = [];
  const field = h("textarea", { class: "question", name: "question", rows: 2, maxlength: 32000, "aria-label": t("ask.question"), placeholder: t("ask.placeholder") });
  const project = projectChoice(preference("project"), (chosen) => setPreference("project", chosen));
  const research = h("input", { type: "checkbox" });
  const model = h("input", { maxlength: 256, autocomplete: "off" });
  const tags = h("input", { maxlength: 1000, autocomplete: "off" });
  const web = h("input", { type: "checkbox" });
  const send = h("button", { class: "first" }, t("ask.button"));
  const stop = h("button", { type: "button", class: "stop", hidden: true }, t("ask.stop"));
  const steering = h("button", { type: "button", class: "steers", hidden: true, onclick: () => void add() }, t("ask.steer"));
  const wrong = h("p", { class: "wrong", role: "alert" });
  const picked = h("input", { type: "file", multiple: true, hidden: true, "aria-label": t("ask.attach"), onchange: () => {
    attach([...(picked.files ?? [])]);
    picked.value = "";
  } });
  const chips = h("ul", { class: "chips", "aria-label": t("ask.attachments") });
  const options = h("details", { class: "options" }, h("summary", {}, t("ask.options")), h("div", { class: "row" },
    h("label", {}, t("ask.model"), model), h("label", {}, t("ask.tags"), tags), h("label", { class: "choice" }, web, t("ask.web.search"))));

  const attach = (/** @type {File[]} */ more) => {
    files = [...files, ...more];
    wrong.textContent = files.length > mostFiles ? t("ask.attach.most", { n: mostFiles }) : "";
    files = files.slice(0, mostFiles);
    fill(chips, ...files.map((file) => h("li", {}, `${file.name} (${bytes(file.size)})`,
      h("button", { type: "button", class: "plain", "aria-label": t("ask.attach.remove", { name: file.name }), onclick: () => {
        files = files.filter((one) => one !== file);
        attach([]);
      } }, "×"))));
  };
  const chosen = () => {
    const wanted = tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
    const override = { ...(model.value.trim() ? { ai: { model: model.value.trim() } } : {}), ...(web.checked ? { tools: { web_search: {} } } : {}) };
    return {
      ...(project.value ? { projectId: project.value } : {}), ...(research.checked ? { deepResearch: true } : {}), ...(wanted.length ? { tags: wanted } : {}),
      ...(Object.keys(override).length ? { projectConfigOverride: override } : {}),
    };
  };
  let busy = false;
  // Only words that are typed can steer, so the form does not grow while an answer comes.
  const offer = () => {
    const both = busy && field.value.trim() !== "";
    steering.hidden = !both;
    send.title = both ? t("ask.next") : "";
  };
  const submit = async (/** @type {string} */ words) => {
    const text = words.trim();
    if (!text || send.disabled) return;
    const sent = files;
    wrong.textContent = "";
    send.disabled = true;
    field.value = "";
    files = [];
    attach([]);
    offer();
    const refused = await ask({ text, files: sent, options: chosen() });
    send.disabled = false;
    if (!refused) return;
    field.value ||= text;
    files = sent;
    attach([]);
    offer();
    wrong.textContent = refused;
  };
  const add = async () => {
    const text = field.value.trim();
    if (!text || steering.disabled) return;
    wrong.textContent = "";
    steering.disabled = true;
    field.value = "";
    offer();
    const refused = await steer(text);
    steering.disabled = false;
    if (!refused) return;
    field.value ||= text;
    offer();
    wrong.textContent = refused;
  };
  const form = h("form", { class: "composer", onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    void submit(field.value);
  } }, chips, field,
  h("div", { class: "row" }, project, h("label", { class: "choice" }, research, t("ask.research")),
    h("button", { type: "button", class: "plain", onclick: () => picked.click() }, t("ask.attach")), picked, options, h("span", { class: "space" }), stop, steering, send), wrong);
  onEnter(field, (e) => {
    if ((e.ctrlKey || e.metaKey) && !steering.hidden) void add();
    else form.requestSubmit();
  });
  field.addEventListener("input", offer);
  field.addEventListener("paste", (e) => {
    const pasted = [...(e.clipboardData?.files ?? [])];
    if (!pasted.length) return;
    e.preventDefault();
    attach(pasted);
  });
  return {
    form, field, stop, submit,
    /** Offers what can be done while answers are under way. @param {boolean} some whether there are any */
    working: (some) => {
      busy = some;
      stop.hidden = !some;
      offer();
    },
    /** Takes what was dropped. @param {DataTransfer} dropped */
    drop: async (dropped) => attach((await filesOf(dropped)).map(({ file }) => file)),
    /** Puts words into the field, to be changed. @param {string} text */
    edit: (text) => {
      field.value = text;
      offer();
      field.focus();
    },
  };
}
