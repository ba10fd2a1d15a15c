// Asks through the TypeScript SDK, version 1 or 2: `node ask.mjs FILE FOLDER`.
// FILE holds the question as JSON, FOLDER is where the packages are. Prints
// what was heard; asking.py says in which shape.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [file, folder] = process.argv.slice(2);
const question = JSON.parse(readFileSync(file, "utf8"));
const prefix = "watercooler_v1_";
const require = createRequire(pathToFileURL(`${folder}/package.json`));
const load = (name) => import(pathToFileURL(require.resolve(name)));

const capabilities = { roots: {} };
const roots = async () => ({ roots: [{ uri: question.root, name: "app" }] });
const identity = { name: question.sdk, version: "1" };

async function first() {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await load(
    "@modelcontextprotocol/sdk/client/streamableHttp.js",
  );
  const types = await load("@modelcontextprotocol/sdk/types.js");
  const client = new Client(identity, { capabilities });
  client.setRequestHandler(types.ListRootsRequestSchema, roots);
  return { client, StdioClientTransport, StreamableHTTPClientTransport };
}

async function second() {
  const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  const versionNegotiation = { mode: question.mode };
  const client = new Client(identity, { capabilities, versionNegotiation });
  client.setRequestHandler("roots/list", roots);
  return { client, StdioClientTransport, StreamableHTTPClientTransport };
}

async function tools(client) {
  const listed = (await client.listTools()).tools;
  const answers = {};
  const call = async (label, name, given) => {
    const one = await client.callTool({ name: prefix + name, arguments: given });
    answers[label] = {
      error: Boolean(one.isError),
      text: one.content.map((block) => block.text).join(""),
      data: one.structuredContent ?? null,
    };
  };
  for (const tool of listed) {
    const name = tool.name.slice(prefix.length);
    const forms = tool.inputSchema.properties.format?.enum ?? [""];
    for (const form of forms) {
      const given = { ...question.arguments[name], ...(form && { format: form }) };
      await call(`${name} ${form}`.trim(), name, given);
    }
  }
  for (const [label, [name, given]] of Object.entries(question.wrong)) {
    await call(label, name, given);
  }
  return { tools: listed.map((tool) => tool.name), answers };
}

async function resources(client) {
  const listed = (await client.listResources()).resources.map((one) => one.uri);
  const found = {};
  for (const uri of new Set([...listed, question.thread])) {
    const [one] = (await client.readResource({ uri })).contents;
    found[uri] = { mime: one.mimeType, text: one.text };
  }
  const templates = (await client.listResourceTemplates()).resourceTemplates;
  const missing = await client.readResource({ uri: question.missing }).then(
    (answer) => JSON.stringify(answer),
    (error) => error.message,
  );
  return { resources: found, templates: templates.map((one) => one.uriTemplate), missing };
}

async function prompts(client) {
  const texts = {};
  for (const prompt of (await client.listPrompts()).prompts) {
    const needed = (prompt.arguments ?? []).filter((one) => one.required);
    const given = Object.fromEntries(needed.map(({ name }) => [name, question.prompts[name]]));
    const got = await client.getPrompt({ name: prompt.name, arguments: given });
    texts[prompt.name] = got.messages.map((one) => one.content.text).join("");
  }
  return texts;
}

async function completed(client) {
  const ref = { type: "ref/resource", uri: "watercooler://threads/{topic}" };
  const argument = { name: "topic", value: question.completing };
  return (await client.complete({ ref, argument })).completion.values;
}

const { client, StdioClientTransport, StreamableHTTPClientTransport } = await (
  question.sdk === "typescript 1" ? first : second
)();
const { command, cwd, env, url } = question;
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : new StdioClientTransport({ command, args: [], cwd, env });
// Version 1 tells the protocol's version to its transport alone.
let told;
const tell = transport.setProtocolVersion?.bind(transport);
if (question.sdk === "typescript 1") {
  transport.setProtocolVersion = (agreed) => {
    told = agreed;
    tell?.(agreed);
  };
}
await client.connect(transport);
const { name, version } = client.getServerVersion();
const offers = client.getServerCapabilities();
const heard = {
  protocol: told ?? client.getNegotiatedProtocolVersion(),
  server: { name, version },
  instructions: client.getInstructions(),
  ...(await tools(client)),
  ...(await resources(client)),
  prompts: await prompts(client),
  completed: offers.completions ? await completed(client) : null,
};
await client.close();
console.log(JSON.stringify(heard));
