"""The last official SDK before 2026-07-28 as a client of ours: `client_legacy.py URL-OF-A-PAGE stdio PROGRAM ARG…` or
`… http URL TOKEN`.

Prints one JSON object with what it saw.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def tour(streams, page):
    progress = []

    async def on_progress(done, total, message):
        progress.append([done, total, message])

    async with ClientSession(streams[0], streams[1]) as session:
        hello = await session.initialize()
        await session.send_ping()
        listed = await session.list_tools()
        went = await session.call_tool("browser_navigate", {"url": page}, progress_callback=on_progress)
        seen = await session.call_tool("browser_snapshot", {})
        shot = await session.call_tool("browser_screenshot", {})
        return {
            "version": hello.protocolVersion,
            "instructions": hello.instructions,
            "tools": [tool.name for tool in listed.tools],
            "went": went.structuredContent,
            "seen": seen.structuredContent,
            "images": [part.mimeType for part in shot.content if part.type == "image"],
        }


async def main():
    page, kind, *rest = sys.argv[1:]
    if kind == "stdio":
        program, *arguments = rest
        transport = stdio_client(StdioServerParameters(command=program, args=arguments, env=None))
    else:
        url, token = rest
        transport = streamablehttp_client(url, headers={"Authorization": f"Bearer {token}"})
    async with transport as streams:
        print(json.dumps(await tour(streams, page)))


asyncio.run(main())
