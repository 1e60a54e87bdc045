"""Holds a conversation with Cairn's tools by the official Python MCP client.

The argument "http" connects to /mcp, "stdio" starts `cairn mcp`.
"""

import asyncio
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

URL, KEY = os.environ["CAIRN_URL"], os.environ["CAIRN_KEY"]


def check(ok, what):
    if not ok:
        raise SystemExit(f"failed: {what}")


async def converse(client):
    names = sorted(t.name for t in (await client.list_tools()).tools)
    check(names == ["ask_project", "get_chunk", "list_documents", "rag_search", "web_search"], names)

    documents = (await client.call_tool("list_documents", {"project_id": "default"})).structured_content
    check(documents["total"] == 1, documents)

    seen = []

    async def progress(done, total, message):
        seen.append(message)

    first = await client.call_tool("ask_project", {"question": "What is on the pier?", "project_id": "default"}, progress_callback=progress)
    check(not first.is_error, first)
    answer = first.structured_content
    check(seen and seen[0] == f"run {answer['runId']} started", seen)
    check("Sources:" in first.content[0].text and answer["sources"], first)

    second = await client.call_tool("ask_project", {"question": "And who keeps it?", "conversation_id": answer["conversationId"]})
    check(second.structured_content["conversationId"] == answer["conversationId"], second)

    chunk = await client.call_tool("get_chunk", {"chunk_id": answer["sources"][0]["chunkId"]})
    check("pier" in chunk.structured_content["text"], chunk)

    found = await client.call_tool("rag_search", {"query": "What is on the pier?"})
    check(found.structured_content["response"] and found.structured_content["contexts"], found)

    wrong = await client.call_tool("get_chunk", {"chunk_id": "nope"})
    check(wrong.is_error and "not_found" in wrong.content[0].text, wrong)


async def main(way):
    if way == "stdio":
        server = StdioServerParameters(command=os.environ["CAIRN"], args=["mcp", "--url", URL, "--key", KEY])
        async with Client(server) as client:
            await converse(client)
        return
    for mode in ("auto", "legacy"):  # without sessions, and with them
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as http:
            async with Client(streamable_http_client(URL + "/mcp", http_client=http), mode=mode) as client:
                await converse(client)


asyncio.run(main(sys.argv[1]))
print("done")
