// How a program asks a project, and the end of a project.

import { copyButton, removal } from "./action_form.js";
import { address, call } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";
import { navigate } from "./router.js";

/** Shows what to write to ask a project. @param {any} project (schema ProjectView) */
export function code(project) {
  const url = location.origin + address("workspace-openai-create-chat-completion");
  const base = url.replace("/chat/completions", "");
  const model = `project:${project.slug}`;
  const question = t("code.question");
  const body = JSON.stringify({ model, messages: [{ role: "user", content: question }] });
  /** @type {[string, string][]} */
  const ways = [
    ["curl", `CAIRN_KEY=YOUR_KEY\ncurl -sS ${url} \\\n  -H "Authorization: Bearer $CAIRN_KEY" -H 'Content-Type: application/json' \\\n  -d '${body}'`],
    ["Python", `from openai import OpenAI  # pip install openai

client = OpenAI(base_url="${base}", api_key="YOUR_KEY")
answer = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "${question}"}]
)
print(answer.choices[0].message.content)`],
    ["JavaScript", `import OpenAI from "openai"; // npm install openai

const client = new OpenAI({ baseURL: "${base}", apiKey: "YOUR_KEY" });
const answer = await client.chat.completions.create({
  model: "${model}", messages: [{ role: "user", content: "${question}" }],
});
console.log(answer.choices[0].message.content);`],
    ["MCP", JSON.stringify({ mcpServers: { cairn: { type: "http", url: `${location.origin}/mcp`, headers: { Authorization: "Bearer YOUR_KEY" } } } }, null, 2)],
  ];
  return { element: h("div", {}, h("p", {}, t("code.key"), " ", h("a", { href: `/projects/${encodeURIComponent(project.id)}/keys` }, t("project.keys"))), ...ways.flatMap(([name, text]) => [
    h("div", { class: "row" }, h("h2", {}, name), copyButton(text, name)), name === "MCP" && h("p", { class: "quiet" }, t("code.mcp", { id: project.id })),
    h("pre", { class: "code", tabindex: 0, role: "group", "aria-label": name }, text),
  ])) };
}

/** Ends a project. @param {any} project */
export function danger(project) {
  const button = removal(t("project.danger"), project.name, async () => {
    await call("delete-project", { path: { id: project.id } });
    navigate("/projects");
  }, { hint: t("project.gone"), word: project.name.trim() });
  return { element: h("div", {}, h("p", {}, t("project.gone")), button) };
}
