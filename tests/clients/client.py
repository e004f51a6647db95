"""Walks through steps with the MCP client of PyPI and prints a transcript.

usage: client.py legacy|modern STEPS.json,… URL
       client.py legacy|modern STEPS.json,… COMMAND ARGUMENT…   (served over stdio)

client.mjs does the same with the client of npm; both must print the same.
"""

import asyncio
import json
import re
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult, PromptReference, ResourceTemplateReference

MODES = {"legacy": "legacy", "modern": "2026-07-28"}


def compact(value) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


class Walk:
    def __init__(self) -> None:
        self.reply = None
        self.asked = None
        self.captured = ""
        self.progressed = False

    async def elicit(self, _context, params) -> ElicitResult:
        properties = params.requested_schema["properties"]
        self.asked = f"asked: {params.message} {compact(sorted(properties))}"
        if self.reply is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=self.reply)

    async def progress(self, _progress, _total, _message) -> None:
        self.progressed = True

    async def run(self, client: Client, step: dict) -> list[str]:
        self.reply, self.asked, self.progressed = step.get("answer"), None, False
        if "list" in step:
            return await self.listing(client, step["list"])
        if "prompt" in step:
            result = await client.get_prompt(step["prompt"], step["arguments"])
            return [f"{message.role}: {message.content.text}" for message in result.messages]
        if "resource" in step:
            result = await client.read_resource(step["resource"])
            return [f"{content.mime_type}\n{content.text}" for content in result.contents]
        if "complete" in step:
            wanted = step["complete"]
            if "prompt" in wanted:
                reference = PromptReference(type="ref/prompt", name=wanted["prompt"])
            else:
                reference = ResourceTemplateReference(type="ref/resource", uri=wanted["resource"])
            result = await client.complete(reference, {"name": wanted["argument"], "value": wanted["value"]})
            return result.completion.values
        return await self.call(client, step)

    async def listing(self, client: Client, what: str) -> list[str]:
        if what == "tools":
            tools = (await client.list_tools()).tools
            return [
                f"{tool.name} ({tool.title or tool.annotations.title}) required={compact(tool.input_schema.get('required', []))}"
                f" properties={compact(sorted(tool.input_schema.get('properties', {})))}"
                f" readOnly={compact(tool.annotations.read_only_hint)} destructive={compact(tool.annotations.destructive_hint)}"
                for tool in tools
            ]
        if what == "prompts":
            prompts = (await client.list_prompts()).prompts
            return [f"{prompt.name} {compact([argument.name for argument in prompt.arguments or []])}" for prompt in prompts]
        if what == "resources":
            return [f"{resource.uri} {resource.mime_type}" for resource in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        return [f"{template.uri_template} {template.mime_type}" for template in templates]

    async def call(self, client: Client, step: dict) -> list[str]:
        arguments = {
            name: self.captured if value == "$captured" else value for name, value in step["arguments"].items()
        }
        callback = self.progress if step.get("progress") else None
        result = await client.call_tool(step["tool"], arguments, progress_callback=callback)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if "capture" in step and (found := re.search(step["capture"], text)):
            self.captured = found.group(1)
        lines = [self.asked] if self.asked else []
        if step.get("progress"):
            lines.append(f"progress: {compact(self.progressed)}")
        if result.is_error:
            lines.append("isError")
        lines.append(text)
        if result.structured_content is not None:
            lines.append(f"structured: {compact(result.structured_content)}")
        return lines


async def main(mode: str, files: str, server: list[str]) -> None:
    steps = [step for file in files.split(",") for step in json.load(open(file, encoding="utf-8"))]
    target = server[0]
    if not target.startswith("http"):
        target = StdioServerParameters(command=server[0], args=server[1:])
    walk = Walk()
    async with Client(target, mode=MODES[mode], elicitation_callback=walk.elicit) as client:
        for step in steps:
            print(f"### {step['title']}")
            try:
                lines = await walk.run(client, step)
            except MCPError as error:
                lines = [f"error {error.error.code}: {error.error.message}"]
            print("\n".join(lines) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
