"""Holds conversations with the agent "guide" by the official Python A2A client, in both versions of
the protocol, as a caller without credentials."""

import asyncio
import os
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import CancelTaskRequest, GetTaskRequest, Message, Part, Role, SendMessageRequest, TaskState
from a2a.utils.errors import TaskNotFoundError, TaskNotCancelableError

AGENT = os.environ["CAIRN_URL"] + "/agents/guide"


def check(ok, what):
    if not ok:
        raise SystemExit(f"failed: {what}")


def question(text, context=""):
    return SendMessageRequest(message=Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], context_id=context))


async def refused(call, kind):
    try:
        await call
    except kind:
        return
    except Exception as other:
        raise SystemExit(f"failed: {kind.__name__}, not {other!r}")
    raise SystemExit(f"failed: no {kind.__name__}")


async def converse(card, http):
    client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
    task, words, states = None, "", []
    async for event in client.send_message(question("What is on the pier?")):
        if event.HasField("task"):
            task = event.task
            states.append(task.status.state)
        elif event.HasField("artifact_update"):
            update = event.artifact_update
            text = "".join(part.text for part in update.artifact.parts)
            words = words + text if update.append else text
        elif event.HasField("status_update"):
            states.append(event.status_update.status.state)
    check(states == [TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED], states)
    check("lighthouse" in words and "[1]" in words and "<" not in words, words)

    stored = await client.get_task(GetTaskRequest(id=task.id))
    check(stored.status.state == TaskState.TASK_STATE_COMPLETED and stored.context_id == task.context_id, stored)
    answer, sources = stored.artifacts[0].parts
    check(answer.text == words, stored)
    source = sources.data.struct_value.fields["sources"].list_value.values[0].struct_value.fields
    check(source["documentName"].string_value == "pier.txt", sources)

    waiting = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
    async for event in waiting.send_message(question("And who keeps it?", task.context_id)):
        check(event.task.context_id == task.context_id and event.task.id != task.id, event)
        check(event.task.status.state == TaskState.TASK_STATE_COMPLETED and event.task.artifacts, event)

    await refused(client.cancel_task(CancelTaskRequest(id=task.id)), TaskNotCancelableError)
    visitor, run = task.id.split(".")
    await refused(client.get_task(GetTaskRequest(id="X" * len(visitor) + "." + run)), TaskNotFoundError)
    await refused(client.get_task(GetTaskRequest(id=run)), TaskNotFoundError)


async def main():
    async with httpx.AsyncClient(timeout=60) as http:
        card = await A2ACardResolver(http, AGENT).get_agent_card()
        check(card.name == "The guide of the harbour" and card.skills[0].examples == ["What is on the pier?"], card)
        versions = [one.protocol_version for one in card.supported_interfaces]
        check(versions == ["1.0", "0.3"], card)
        await converse(card, http)
        http.headers.pop("A2A-Version", None)
        del card.supported_interfaces[0]
        await converse(card, http)


asyncio.run(main())
print("done")
