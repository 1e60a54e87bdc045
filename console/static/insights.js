// What the questions to a project show of it. Each line leads to its runs.

import { call, reasonOf } from "./api.js";
import { smallTable } from "./checks.js";
import { fill, h } from "./dom.js";
import { parts, say } from "./evaluation_parts.js";
import { money, moment, number } from "./language.js";
import { preference } from "./preferences.js";
import { projectChoice } from "./project_choice.js";
import { rename } from "./router.js";
import { to } from "./routes_evaluations.js";

/** @typedef {import("./dom.js").Child} Child */

const mostRuns = 5; // of a line, whose links are shown

/** Returns the links to the runs of a line. @param {string[]} runs */
function runsOf(runs) {
  if (!runs.length) return h("span", { class: "quiet" }, say("ins.runs.none"));
  const links = runs.slice(0, mostRuns).flatMap((run) => [h("a", { href: "/runs/" + encodeURIComponent(run) }, run.slice(0, 8)), " "]);
  return h("span", {}, say("ins.runs", { n: number(runs.length) }), " ", ...links, runs.length > mostRuns && "…");
}

/**
 * Returns a section of lines.
 * @param {import("./evaluation_parts.js").Word} title
 * @param {any[] | undefined} list
 * @param {(one: any) => (Child | Child[])} line
 */
function section(title, list, line) {
  if (!list) return null;
  const name = `${say(title)} (${number(list.length)})`;
  return h("section", { "aria-label": say(title) }, h("h2", {}, name), list.length
    ? h("ul", { class: "insights", "data-list": "" }, ...list.map((one) => h("li", {}, h("div", {}, line(one)), h("div", { class: "quiet" }, runsOf(one.runs ?? [])))))
    : h("p", { class: "quiet" }, say("ins.nothing")));
}

/** Returns a link to a document. @param {string} id @param {string} name */
const documentLink = (id, name) => h("a", { href: "/documents/" + encodeURIComponent(id) }, name || id);

/** Shows one of two passages that contradict each other. @param {any} passage */
function passageOf({ text, document_id: id, chunk_id: chunk }) {
  return h("div", {}, `“${text}” `, h("a", { href: `/documents/${encodeURIComponent(id)}?chunk=${encodeURIComponent(chunk)}` }, say("ins.open")));
}

/** Returns the table of days. @param {any[]} list */
function days(list) {
  if (!list.length) return null;
  const seconds = (/** @type {number | null} */ one) => one === null ? "–" : number(Math.round(one * 10) / 10);
  const head = [say("ins.day"), say("eval.questions"), say("ins.failed"), say("ins.latency"), say("eval.tokens"), say("ins.cost"), say("ins.slowest")];
  return h("section", { "aria-label": say("ins.days") }, h("h2", {}, say("ins.days")), smallTable(say("ins.days"), head, list.map((one) => [
    one.day, number(one.questions), number(one.failed), `${seconds(one.latency_p50)} / ${seconds(one.latency_p95)}`, number(one.prompt_tokens + one.completion_tokens),
    one.currency ? money(one.cost ?? 0, one.currency) : "–", runsOf(one.runs ?? []),
  ])));
}

/** Returns the sections of insights. @param {any} found (schema InsightsView) */
function sectionsOf(found) {
  const { cost } = found;
  const sum = [`${number(cost.questions)} ${say("eval.questions")}`, `${number(cost.prompt_tokens + cost.completion_tokens)} ${say("eval.tokens")}`, cost.currency && money(cost.cost ?? 0, cost.currency)].filter(Boolean).join(" · ");
  return [
    h("p", { class: "quiet", role: "status" }, say("ins.read", { n: number(found.questions_read), since: moment(found.since) })),
    section("ins.unanswered", found.unanswered, (one) => [h("strong", {}, one.question), one.reason && h("div", {}, one.reason)]),
    section("ins.low", found.low_rated, (one) => [h("strong", {}, one.question), ...one.ratings.flatMap((/** @type {any} */ rating) => [rating.comment && h("div", {}, rating.comment), rating.expected && h("div", {}, `${say("eval.reference")}: ${rating.expected}`)])]),
    section("ins.questions", found.questions, (one) => h("strong", {}, one.question)),
    section("ins.contradictions", found.contradictions, (one) => [h("strong", {}, one.subject), passageOf(one.first), passageOf(one.second)]),
    section("ins.stale", found.stale_documents, (one) => [documentLink(one.document_id, one.name), " · ", one.reason === "replaced" ? say("ins.replaced") : say("ins.old", { at: moment(one.changed_at) })]),
    section("ins.uncited", found.uncited_passages, (one) => [passageOf(one), h("div", { class: "quiet" }, `${one.name} · ${say("ins.shown", { n: number(one.shown) })}`)]),
    section("ins.unused", found.unused_documents, (one) => [documentLink(one.document_id, one.name), one.runs.length === 0 && ` · ${say("ins.never")}`]),
    days(found.days ?? []),
    h("section", { "aria-label": say("ins.cost") }, h("h2", {}, say("ins.cost")), h("p", {}, sum), h("p", { class: "quiet" }, runsOf(cost.runs ?? []))),
  ];
}

/** @param {URLSearchParams} query */
export async function openInsights(query) {
  const chosen = query.get("project") || preference("project") || "default";
  const project = projectChoice(chosen, () => void look());
  project.options[0].remove(); // they are of one project
  const since = h("input", { type: "date", "aria-label": say("ins.since"), value: query.get("since") ?? "", onchange: () => void look() });
  const place = h("div");
  const look = async () => {
    const id = project.value || chosen;
    rename(`/evaluations/insights?project=${encodeURIComponent(id)}${since.value ? "&since=" + since.value : ""}`);
    try {
      fill(place, ...sectionsOf(await call(to["read-insights"], { query: { project_id: id, since: since.value && since.value + "T00:00:00Z" } })));
    } catch (failure) {
      fill(place, h("p", { class: "wrong", role: "alert" }, reasonOf(failure)));
    }
  };
  await look();
  return {
    title: say("eval.insights"),
    element: h("div", { class: "padded document" }, parts("insights"), h("div", { class: "row" }, h("h1", {}, say("eval.insights")), h("span", { class: "space" }), h("label", {}, say("ins.since"), " ", since), project), place),
  };
}
