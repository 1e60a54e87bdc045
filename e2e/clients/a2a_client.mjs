// Holds conversations with the agent "guide" by the official JavaScript A2A client, in both
// versions of the protocol, as a caller without credentials.
import { randomUUID } from "node:crypto";
import { check, load, url } from "./packages.mjs";

const { Role, TaskState } = load("@a2a-js/sdk");
const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } = load("@a2a-js/sdk/client");

const legacyCompat = { enabled: true };
const agent = `${url}/agents/guide/`;

function question(text, { contextId = "", messageId = randomUUID(), returnImmediately = false } = {}) {
  const part = { content: { $case: "text", value: text }, filename: "", mediaType: "" };
  const message = { messageId, contextId, taskId: "", role: Role.ROLE_USER, parts: [part], extensions: [], referenceTaskIds: [] };
  return { tenant: "", message, configuration: { acceptedOutputModes: [], returnImmediately } };
}

// refused checks that a call fails with an error of a name.
async function refused(call, name) {
  const error = await call.then((value) => ({ value }), (failure) => failure);
  check(error instanceof Error && String(error).startsWith(name), { want: name, got: String(error), value: error.value });
}

const named = (task) => ({ tenant: "", id: task.id });

// stream asks by message/stream, and returns the task, its words and its states.
async function stream(client, request) {
  let task, words = "";
  const states = [];
  for await (const { payload: { $case, value } } of client.sendMessageStream(request)) {
    if ($case === "task") states.push((task = value).status.state);
    if ($case === "statusUpdate") states.push(value.status.state);
    if ($case === "artifactUpdate") {
      const text = value.artifact.parts.map((part) => (part.content.$case === "text" ? part.content.value : "")).join("");
      words = value.append ? words + text : text;
    }
  }
  return { task, words, states };
}

async function converse(card, version) {
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ legacyCompat })] });
  const client = await factory.createFromAgentCard({ ...card, supportedInterfaces: card.supportedInterfaces.filter((one) => one.protocolVersion === version) });
  check(client.transport.protocolVersion === version, [version, client.transport.protocolVersion]);

  const { task, words, states } = await stream(client, question("What is on the pier?"));
  check(states.join() === [TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED].join(), states);
  check(words.includes("lighthouse") && words.includes("[1]") && !words.includes("<"), words);

  const stored = await client.getTask(named(task));
  check(stored.status.state === TaskState.TASK_STATE_COMPLETED && stored.contextId === task.contextId, stored);
  const [answer, sources] = stored.artifacts[0].parts;
  check(answer.content.value === words, stored);
  check(sources.content.value.sources[0].documentName === "pier.txt", sources);

  const request = question("And who keeps it?", { contextId: task.contextId });
  const next = await client.sendMessage(request);
  check(next.contextId === task.contextId && next.id !== task.id, next);
  check(next.status.state === TaskState.TASK_STATE_COMPLETED && next.artifacts[0].parts[0].content.value.includes("Ann"), next);

  await refused(client.cancelTask(named(task)), "TaskNotCancelableError");
  await refused(client.getTask({ tenant: "", id: task.id + "0" }), "TaskNotFoundError");
  await cancel(client);
}

// cancel starts a task whose answer is long, follows it, and cancels it.
async function cancel(client) {
  const begun = await client.sendMessage(question("Tell me all of it", { returnImmediately: true }));
  check(begun.status.state === TaskState.TASK_STATE_WORKING, begun);
  const states = [];
  let words = 0;
  for await (const { payload } of client.resubscribeTask(named(begun))) {
    if (payload.$case === "task" || payload.$case === "statusUpdate") states.push(payload.value.status.state);
    if (payload.$case === "artifactUpdate" && ++words === 3) {
      const canceled = await client.cancelTask(named(begun));
      check([TaskState.TASK_STATE_CANCELED, TaskState.TASK_STATE_WORKING].includes(canceled.status.state), canceled);
    }
  }
  check(words >= 3 && states.at(-1) === TaskState.TASK_STATE_CANCELED, { words, states });
  check((await client.getTask(named(begun))).status.state === TaskState.TASK_STATE_CANCELED, begun);
}

const card = await new DefaultAgentCardResolver({ legacyCompat }).resolve(agent, ".well-known/agent-card.json");
check(card.name === "The guide of the harbour" && card.skills[0].examples[0] === "What is on the pier?", card);
check(card.supportedInterfaces.map((one) => one.protocolVersion).join() === "1.0,0.3", card.supportedInterfaces);
for (const version of ["1.0", "0.3"]) await converse(card, version);
console.log("done");
