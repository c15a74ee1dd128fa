"""The official SDK of today as a client of ours: `client_modern.py URL-OF-A-PAGE stdio PROGRAM ARG…` or `… http URL TOKEN`.

Prints one JSON object with what it saw.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def tour(transport, mode, page):
    async with Client(transport, mode=mode) as client:
        listed = await client.list_tools()
        went = await client.call_tool("browser_navigate", {"url": page})
        seen = await client.call_tool("browser_snapshot", {})
        shot = await client.call_tool("browser_screenshot", {})
        wrong = await client.call_tool("browser_click", {"ref": "e9999"})
        again = await client.list_tools(cache_mode="refresh")
        return {
            "version": client.protocol_version,
            "server": client.server_info.name,
            "tools": [tool.name for tool in listed.tools],
            "again": [tool.name for tool in again.tools],
            "went": went.structured_content,
            "seen": seen.structured_content,
            "images": [part.mime_type for part in shot.content if part.type == "image"],
            "wrong": [wrong.is_error, wrong.structured_content],
        }


async def main():
    page, kind, *rest = sys.argv[1:]
    results = {}
    for mode in ["auto", "legacy"]:
        if kind == "stdio":
            program, *arguments = rest
            transport = stdio_client(StdioServerParameters(command=program, args=arguments, env=None))
            results[mode] = await tour(transport, mode, page)
        else:
            url, token = rest
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
                results[mode] = await tour(streamable_http_client(url, http_client=http), mode, page)
    print(json.dumps(results))


asyncio.run(main())
