// Walks through steps with the MCP client of npm and prints a transcript.
//
// usage: client.mjs legacy|modern STEPS.json,… URL
//        client.mjs legacy|modern STEPS.json,… COMMAND ARGUMENT…   (served over stdio)
//
// The packages are found by NODE_PATH's first folder. client.py does the same with the client of PyPI; both must print
// the same.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.NODE_PATH}/`);
const load = (name) => import(pathToFileURL(require.resolve(name).replace(/\.cjs$/, ".mjs")));
const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const [mode, files, ...server] = process.argv.slice(2);
const steps = files.split(",").flatMap((file) => JSON.parse(readFileSync(file, "utf8")));

const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
};
const compact = (value) => JSON.stringify(sorted(value) ?? null);

let reply, asked, captured = "";

async function list(client, what) {
  if (what === "tools") {
    const { tools } = await client.listTools();
    return tools.map((tool) => [
      `${tool.name} (${tool.title ?? tool.annotations.title})`,
      `required=${compact(tool.inputSchema.required ?? [])}`,
      `properties=${compact(Object.keys(tool.inputSchema.properties ?? {}).sort())}`,
      `readOnly=${compact(tool.annotations.readOnlyHint)}`,
      `destructive=${compact(tool.annotations.destructiveHint)}`,
    ].join(" "));
  }
  if (what === "prompts") {
    const { prompts } = await client.listPrompts();
    return prompts.map((prompt) => `${prompt.name} ${compact((prompt.arguments ?? []).map(({ name }) => name))}`);
  }
  if (what === "resources") {
    const { resources } = await client.listResources();
    return resources.map((resource) => `${resource.uri} ${resource.mimeType}`);
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  return resourceTemplates.map((template) => `${template.uriTemplate} ${template.mimeType}`);
}

async function call(client, step) {
  const replace = ([name, value]) => [name, value === "$captured" ? captured : value];
  const args = Object.fromEntries(Object.entries(step.arguments).map(replace));
  let progressed = false;
  const options = step.progress ? { onprogress: () => { progressed = true; } } : undefined;
  const result = await client.callTool({ name: step.tool, arguments: args }, options);
  const text = result.content.filter(({ type }) => type === "text").map(({ text }) => text).join("\n");
  if (step.capture) captured = text.match(new RegExp(step.capture))?.[1] ?? captured;
  const lines = asked ? [asked] : [];
  if (step.progress) lines.push(`progress: ${compact(progressed)}`);
  if (result.isError) lines.push("isError");
  lines.push(text);
  if (result.structuredContent !== undefined) lines.push(`structured: ${compact(result.structuredContent)}`);
  return lines;
}

async function run(client, step) {
  reply = step.answer;
  asked = undefined;
  if (step.list) return list(client, step.list);
  if (step.prompt) {
    const { messages } = await client.getPrompt({ name: step.prompt, arguments: step.arguments });
    return messages.map(({ role, content }) => `${role}: ${content.text}`);
  }
  if (step.resource) {
    const { contents } = await client.readResource({ uri: step.resource });
    return contents.map(({ mimeType, text }) => `${mimeType}\n${text}`);
  }
  if (step.complete) {
    const { prompt, resource, argument, value } = step.complete;
    const ref = prompt ? { type: "ref/prompt", name: prompt } : { type: "ref/resource", uri: resource };
    const { completion } = await client.complete({ ref, argument: { name: argument, value } });
    return completion.values;
  }
  return call(client, step);
}

const versionNegotiation = { mode: mode === "legacy" ? "legacy" : { pin: "2026-07-28" } };
const client = new Client(
  { name: "mcc-tests", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation },
);
client.setRequestHandler("elicitation/create", ({ params }) => {
  asked = `asked: ${params.message} ${compact(Object.keys(params.requestedSchema.properties).sort())}`;
  return reply === undefined ? { action: "decline" } : { action: "accept", content: reply };
});
const transport = server[0].startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(server[0]))
  : new StdioClientTransport({ command: server[0], args: server.slice(1), stderr: "ignore" });
await client.connect(transport);
for (const step of steps) {
  console.log(`### ${step.title}`);
  let lines;
  try {
    lines = await run(client, step);
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    lines = [`error ${error.code}: ${error.message.replace(/^MCP error -?\d+: /, "")}`];
  }
  console.log(`${lines.join("\n")}\n`);
}
await client.close();
