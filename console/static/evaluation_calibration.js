// How well the judge of an evaluation agrees with people and with itself, and so whether its scores
// can gate.

import { actionForm } from "./action_form.js";
import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { back, labelled, say, short, signed } from "./evaluation_parts.js";
import { isOpen, judgedOf } from "./evaluations_list.js";
import { number } from "./language.js";
import { polling } from "./polling.js";
import { navigate } from "./router.js";
import { to } from "./routes_evaluations.js";
import { stateOf } from "./runs_list.js";

/** @typedef {import("./evaluation_parts.js").Evaluation} Evaluation */

const least = 50; // answers that people should score

const noModels = ["cairn-offline", "webhook"]; // the judges that are no models

/** @param {string} id */
const addressOf = (id) => "/evaluations/" + encodeURIComponent(id);

/** @param {number} value */
const percent = (value) => number(value, { style: "percent", maximumFractionDigits: 0 });

/** Returns how many answers people have scored, and whether the judge can gate. @param {Evaluation} one */
function verdictOf({ agreement, consistency }) {
  const n = agreement?.n ?? 0;
  const against = [...(agreement?.against ?? []), ...(consistency?.may_gate === false ? [say("calib.flips", { n: number(consistency.asked) }) + ": " + flipsOf(consistency)] : [])];
  return [
    h("p", {}, h("progress", { max: least, value: Math.min(n, least), "aria-label": say("calib.scored.label") }), " ", say("calib.scored", { n: number(n), least: number(least) })),
    h("div", { class: "notice", role: "status" }, h("p", {}, say(against.length ? "calib.cannot" : n < least ? "calib.few" : "calib.may")), against.length > 0 && h("ul", {}, ...against.map((/** @type {string} */ reason) => h("li", {}, reason)))),
  ];
}

/** @param {{flipped: number, inputs: number}} consistency */
const flipsOf = ({ flipped, inputs }) => say("calib.flips.value", { n: number(flipped), of: number(inputs) });

/** Returns the figures of the agreement, and how often the judge contradicts itself. @param {Evaluation} one */
function figuresOf({ agreement, consistency }) {
  const between = (/** @type {(value: number) => string} */ show, /** @type {{low: number, high: number}} */ { low, high }) => `${show(low)} – ${show(high)}`;
  /** @type {[string, string, string][]} */
  const rows = agreement ? [
    [say("calib.kappa"), short(agreement.kappa.mean), between(short, agreement.kappa)], [say("calib.raw"), percent(agreement.raw), ""], [say("calib.guessing"), percent(agreement.guessing), ""],
    [say("calib.bias"), signed(agreement.bias.mean), between(signed, agreement.bias)],
  ] : [];
  if (consistency) rows.push([say("calib.flips", { n: number(consistency.asked) }), flipsOf(consistency), ""]);
  if (!rows.length) return "";
  return h("table", { "aria-label": say("calib.figures") }, h("thead", {}, h("tr", {}, ...[say("eval.measure"), say("calib.value"), say("eval.interval")].map((title, i) => h("th", { scope: "col", class: i > 0 && "number" }, title)))),
    h("tbody", {}, ...rows.map(([title, ...values]) => h("tr", {}, h("th", { scope: "row" }, title), ...values.map((value) => h("td", { class: "number" }, value))))));
}

/** Returns the form that has a model score the answers of an evaluation again. @param {string} source its id @param {string} judge the model that is proposed */
function againForm(source, judge) {
  const model = h("input", { required: true, maxlength: 200, autocomplete: "off", value: judge });
  const times = h("input", { type: "number", min: 1, max: 10, value: 3, required: true });
  const form = actionForm(say("eval.start"), async () => {
    const started = await call(to["start-evaluation"], { body: { of: source, judge: { model: model.value.trim(), times: Number(times.value) } } });
    navigate(addressOf(started.id) + "/calibration");
  }, h("div", { class: "columns" }, labelled(say("form.judge.name"), model), labelled(say("calib.times"), times)));
  form.className = "import";
  return h("details", { class: "new" }, h("summary", {}, say("calib.again")), h("p", { class: "quiet" }, say("calib.again.hint")), form);
}

/** @param {string} id */
export async function openCalibration(id) {
  const read = () => call(to["get-evaluation"], { path: { evaluation: id }, query: { limit: 1, blind: true } });
  /** @type {Evaluation} */
  let one = await read();
  const source = one.of ?? id; // people score the answers where they were given
  const [facts, state, verdict, figures] = [h("dl", { class: "facts" }), h("div"), h("div"), h("div", { class: "figures" })];
  const score = h("a", { class: "button first", href: addressOf(source) + "/review?sampling=random&calibration" }, say("calib.score"));
  const again = againForm(source, noModels.includes(one.judge) ? "" : one.judge);
  const draw = () => {
    const others = (one.agreement_of ?? []).filter((/** @type {string} */ other) => other !== source);
    fill(facts, h("dt", {}, say("eval.judge")), h("dd", {}, one.judge), ...(one.rubric ? [h("dt", {}, say("calib.rubric")), h("dd", {}, `${one.rubric.version} (${one.rubric.hash})`)] : []));
    fill(state, isOpen(one) && h("p", {}, ...stateOf(one), " ", judgedOf(one)));
    fill(verdict, ...(isOpen(one) ? [] : verdictOf(one)));
    fill(figures, figuresOf(one), others.length > 0 && h("p", {}, say("calib.of"), ...others.flatMap((/** @type {string} */ other) => [" ", h("a", { href: addressOf(other) }, other.slice(0, 8))])),
      ...(one.agreement?.against?.length ? [] : one.agreement?.warnings ?? []).map((/** @type {string} */ warning) => h("p", { class: "quiet" }, warning)));
    again.hidden = isOpen(one);
    live.plan();
  };
  const live = polling(async () => {
    one = await read();
    draw();
  }, () => isOpen(one));
  draw();
  return {
    title: say("calib.title"), stop: live.stop,
    element: h("div", { class: "padded document" }, back(addressOf(id), one.test_set_name), h("div", { class: "row" }, h("h1", {}, say("calib.title")), h("span", { class: "space" }), score), h("p", { class: "quiet" }, say("calib.hint")), facts, state, verdict, figures, again),
  };
}
