// Reads runs as events of AG-UI: every event against the schemas of @ag-ui/core, every
// sequence with the HttpAgent of @ag-ui/client, which checks the order of the events and
// builds the messages and the state of a front end.
import { ask, check, key, load, url } from "./packages.mjs";

const { EventSchemas } = load("@ag-ui/core/schemas");
const { HttpAgent } = load("@ag-ui/client");

const headers = { Authorization: `Bearer ${key}`, Accept: "text/event-stream; profile=ag-ui" };

// read returns the events of a run, with their ids.
async function read(run, last) {
  const res = await fetch(`${url}/runs/${run}/events`, { headers: last ? { ...headers, "Last-Event-ID": last } : headers });
  if (res.status === 204) return [];
  check(res.ok, [res.status, await res.clone().text()]);
  const events = [];
  for (const frame of (await res.text()).split("\n\n")) {
    const data = frame.match(/^data: (.*)$/m);
    if (!data) continue;
    check(!/^event:/m.test(frame), frame);
    const event = JSON.parse(data[1]);
    const valid = EventSchemas.safeParse(event);
    check(valid.success, { event, error: valid.error });
    events.push({ id: frame.match(/^id: (.*)$/m)[1], event });
  }
  return events;
}

// Follower is an HttpAgent that follows a run instead of starting one.
class Follower extends HttpAgent {
  requestInit() {
    return { method: "GET", headers, signal: this.abortController.signal };
  }
}

// follow reads a run while it goes on, and checks what a reader gets who comes back later.
async function follow(run) {
  const agent = new Follower({ url: `${url}/runs/${run}/events` });
  await agent.runAgent().catch(() => {}); // the error of a run that failed
  const events = await read(run);
  const types = events.map((e) => e.event.type);
  check(types[0] === "RUN_STARTED" && types[1] === "STATE_SNAPSHOT", types);
  check(new Set(events.map((e) => e.id)).size === events.length, events.map((e) => e.id));
  for (const at of [0, 1, 3, events.length >> 1, events.length - 2, events.length - 1]) {
    check(JSON.stringify(await read(run, events[at].id)) === JSON.stringify(events.slice(at + 1)), { at, id: events[at].id });
  }
  return { agent, events: events.map((e) => e.event), types };
}

const text = "What is on the pier?";
if (process.argv[2] === "failed") {
  const { runId } = await ask({ text });
  const { types, events, agent } = await follow(runId);
  check(types.at(-1) === "RUN_ERROR" && events.at(-1).code === "provider_failed", events.at(-1));
  check(agent.state.status === "failed", agent.state);
} else {
  // A question, with a call of a tool and citations.
  const { runId } = await ask({ text, toolChoice: "required" });
  const { agent, events, types } = await follow(runId);
  const { result } = await (await fetch(`${url}/runs/${runId}`, { headers: { Authorization: headers.Authorization } })).json();
  const last = agent.messages.at(-1);
  check(last.role === "assistant" && /\[1\]/.test(last.content) && !/<\/?citation/.test(last.content), agent.messages);
  check(last.content === result.answer.replace(/<\/?citation[^>]*>/g, ""), [last.content, result.answer]);
  check(agent.state.status === "completed" && agent.state.sources[0].documentName === "pier.txt", agent.state);
  check(Object.values(agent.state.toolCalls)[0].status === "completed", agent.state);
  for (const type of ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "STATE_DELTA"]) check(types.includes(type), [type, types]);
  const end = events.at(-1);
  check(end.type === "RUN_FINISHED" && end.outcome.type === "success" && end.result.runId === runId && end.usage[0].totalTokens > 0, end);

  // A search as a tool, whose phases are steps.
  const found = await fetch(`${url}/tools/rag_search`, {
    method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify({ query: text }),
  });
  await found.text();
  const search = await follow(found.headers.get("Cairn-Run-Id"));
  check(search.types.filter((t) => t === "STEP_STARTED").length === 4 && search.agent.state.phase === "COMPILING_RESULTS", search.types);
  check(search.agent.messages.length === 1 && search.agent.state.sources.length > 0, search.agent.messages);

  // A question that is canceled.
  const canceled = await ask({ text });
  await fetch(`${url}/runs/${canceled.runId}/cancel`, { method: "POST", headers: { Authorization: headers.Authorization } });
  const stopped = await follow(canceled.runId);
  check(stopped.events.at(-1).outcome?.type === "cancelled" && stopped.agent.state.status === "canceled", stopped.events.at(-1));

  // The ingest of a document, in a project of its own: other scripts count the documents.
  const post = (path, body) => fetch(`${url}/workspaces/default${path}`, {
    method: "POST", headers: { Authorization: headers.Authorization, "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const project = await (await post("/webhooks/projects", { name: "AG-UI" })).json();
  const added = await post(`/webhooks/document?projectId=${project.id}`, { name: "mole.txt", content: { text: "A crane is on the eastern mole." } });
  const ingest = await follow((await added.json()).runId);
  check(ingest.agent.state.document.stage === "publish" && ingest.events.at(-1).result.status === "published", ingest.events.at(-1));
}
console.log("done");
