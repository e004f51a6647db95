"""Asks a running mcc for a tool and runs it, over MCP: what an agent's client does.

usage: quickstart_client.py URL
"""

import asyncio
import sys

from mcp import Client


def text(result) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


async def main(url: str) -> None:
    async with Client(url) as client:
        query = "turn a spreadsheet into JSON"
        print(f'\n> search(query="{query}", limit=2)\n')
        print(text(await client.call_tool("search", {"query": query, "limit": 2})))

        key, params = "text.csv_to_json", {"table": "name,born\nAda,1815\nGrace,1906"}
        print(f'\n> execute(key="{key}", params={params})\n')
        answer = await client.call_tool("execute", {"key": key, "params": params})
        print(text(answer))
        if answer.is_error:
            raise SystemExit("quickstart: execute failed")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
