// The form of a new evaluation, or of an experiment.

import { actionButton } from "./action.js";
import { APIError, call } from "./api.js";
import { fill, h } from "./dom.js";
import { gridFields } from "./experiment_form.js";
import { back, labelled, say } from "./evaluation_parts.js";
import { t } from "./language.js";
import { projectChoice } from "./project_choice.js";
import { navigate } from "./router.js";
import { to } from "./routes_evaluations.js";
import { schemaForm, schemas } from "./schema_form.js";

const settings = ["ai.model", "ai.retrieval.strategy", "ai.retrieval.numberOfChunks", "ai.retrieval.reranker", "ai.retrieval.preset", "ai.prompt"];

/** Returns the value of a field of numbers, undefined if it is empty. @param {HTMLInputElement} field */
const numberOf = (field) => (field.value === "" ? undefined : Number(field.value));

/** Returns a field of a number. @param {Record<string, any>} properties */
const numeric = (properties) => h("input", { type: "number", ...properties });

/** Returns who judges: its fields, and its value in a request. */
function judgeFields() {
  const kind = h("select", { onchange: () => draw() }, ...(/** @type {const} */ (["offline", "model", "webhook"])).map((one) => h("option", { value: one }, say(`form.judge.${one}`))));
  const value = h("input", { maxlength: 2000, autocomplete: "off" });
  const place = h("div", { class: "stacked" });
  const draw = () => {
    value.required = kind.value !== "offline";
    fill(place, kind.value !== "offline" && labelled(say(kind.value === "model" ? "form.judge.name" : "form.judge.url"), value));
  };
  draw();
  return {
    elements: [labelled(say("eval.judge"), kind), place],
    read: () => (kind.value === "offline" ? undefined : kind.value === "model" ? { model: value.value.trim() } : { webhook: { url: value.value.trim() } }),
  };
}

/** Returns the choice of a test set. @param {string} chosen the id that is selected */
async function setChoice(chosen) {
  const { data } = await call(to["list-test-sets"], { query: { limit: 200 } });
  if (chosen && !data.some((/** @type {any} */ one) => one.id === chosen)) data.unshift(await call(to["get-test-set"], { path: { test_set: chosen }, query: { limit: 1 } }));
  const select = h("select", { required: true }, ...data.map((/** @type {any} */ one) => h("option", { value: one.id, selected: one.id === chosen }, `${one.name} (${one.count})`)));
  return { select, sets: data };
}

/** @param {URLSearchParams} query */
export async function openForm(query) {
  const [{ select, sets }, all] = await Promise.all([setChoice(query.get("set") ?? ""), schemas()]);
  const project = projectChoice("", () => {});
  project.options[0].textContent = say("form.project.set");
  const judge = judgeFields();
  const override = schemaForm(all, "ProjectConfig", {}, settings, []);
  const grid = gridFields(all);
  const kind = h("select", { onchange: () => draw() }, ...(/** @type {const} */ (["saved", "override", "grid"])).map((one) => h("option", { value: one, selected: query.get("kind") === one }, say(`form.kind.${one}`))));
  const [repeats, sample, seed] = [numeric({ min: 1, max: 10, placeholder: 1 }), numeric({ min: 1, placeholder: say("form.all") }), numeric({ min: 1, placeholder: 1 })];
  const [tokens, cost] = [numeric({ min: 1 }), numeric({ min: 0, step: "any" })];
  const place = h("div");
  const hint = h("p", { class: "quiet" });
  const draw = () => {
    hint.textContent = say(`form.kind.${/** @type {"saved"} */ (kind.value)}.hint`);
    fill(place, kind.value === "override" && override.element, kind.value === "grid" && grid.element);
  };
  const body = () => ({
    test_set_id: select.value, project_id: project.value || undefined, judge: judge.read(), repeats: numberOf(repeats), sample: numberOf(sample), seed: numberOf(seed),
    budget: tokens.value || cost.value ? { tokens: numberOf(tokens), cost: numberOf(cost) } : undefined,
  });
  const begin = async () => {
    if (!form.reportValidity()) return;
    const asked = kind.value === "override" ? { projectConfigOverride: override.change() } : kind.value === "grid" ? { grid: grid.read() } : {};
    if (Object.values(asked).includes(null)) return; // the field says why
    const started = await call(to["start-evaluation"], { body: { ...body(), ...asked } }).catch((failure) => {
      if (!(failure instanceof APIError && override.refuse(failure.fields))) throw failure;
    });
    if (started) navigate("/evaluations/" + encodeURIComponent(started.id));
  };
  const start = actionButton(say("eval.start"), begin, { class: "first", type: "submit" });
  const form = h("form", { class: "import", onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    h("div", { class: "columns" }, labelled(say("eval.set"), select), labelled(t("ask.project"), project), ...judge.elements),
    h("div", { class: "columns" }, labelled(say("form.repeats"), repeats, say("form.repeats.hint")), labelled(say("form.sample"), sample), labelled(say("form.seed"), seed), labelled(say("form.tokens"), tokens), labelled(say("form.cost"), cost)),
    h("div", { class: "columns" }, labelled(say("form.kind"), kind)), hint, place, h("div", { class: "row" }, start));
  draw();
  const none = h("p", {}, say("form.none"), " ", h("a", { href: "/evaluations/sets" }, say("eval.sets")));
  return { title: say("eval.new"), element: h("div", { class: "padded document" }, back("/evaluations", t("evaluations")), h("h1", {}, say("eval.new")), sets.length ? form : none) };
}
