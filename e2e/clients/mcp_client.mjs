// Holds a conversation with Cairn's tools by the official TypeScript MCP client.
import { check, key, load, url } from "./packages.mjs";

const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");

const headers = { Authorization: `Bearer ${key}` };
const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }));

const { tools } = await client.listTools();
check(tools.length === 5 && tools.every((t) => t.inputSchema && t.outputSchema), tools);

const seen = [];
const first = await client.callTool({ name: "ask_project", arguments: { question: "What is on the pier?", project_id: "default" } }, undefined, {
  onprogress: (p) => seen.push(p.message),
});
const answer = first.structuredContent;
check(!first.isError && answer.sources.length > 0 && seen[0] === `run ${answer.runId} started`, { first, seen });

const second = await client.callTool({ name: "ask_project", arguments: { question: "And who keeps it?", conversation_id: answer.conversationId } });
check(second.structuredContent.conversationId === answer.conversationId, second);

const chunk = await client.callTool({ name: "get_chunk", arguments: { chunk_id: answer.sources[0].chunkId } });
check(chunk.structuredContent.text.includes("pier"), chunk);

const wrong = await client.callTool({ name: "get_chunk", arguments: { chunk_id: "nope" } });
check(wrong.isError && wrong.content[0].text.startsWith("not_found"), wrong);

// A call that is cancelled cancels its run.
const stop = new AbortController();
let run = "";
const cancelled = await client
  .callTool({ name: "ask_project", arguments: { question: "What is on the pier?" } }, undefined, {
    signal: stop.signal,
    onprogress: (p) => {
      run = run || p.message.split(" ")[1];
      stop.abort();
    },
  })
  .catch((e) => e);
check(cancelled instanceof Error, cancelled);
for (let tries = 0; ; tries++) {
  const state = await (await fetch(`${url}/runs/${run}`, { headers })).json();
  if (state.status === "canceled") break;
  check(tries < 100, state);
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await client.close();
console.log("done");
