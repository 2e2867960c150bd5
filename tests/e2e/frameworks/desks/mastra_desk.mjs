/** The refund desk behind Mastra's AG-UI bridge, at /agui; DESK_OUTCOME as elsewhere: see desk.py. */

import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { MastraAgent } from "@ag-ui/mastra";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const REFUND = { order: "A1", amount: 47.5 };
const CALLS = {
  refund: [["tc-1", "issue_refund", REFUND]],
  parallel: [
    ["tc-a", "issue_refund", REFUND],
    ["tc-b", "send_email", { to: "a@example.com" }],
  ],
  form: [["tc-f", "ask_quarter", { question: "Which quarter?" }]],
  map: [["tc-m", "show_map", { city: "Bergen" }]],
};

function ran(tool, args, result) {
  appendFileSync(process.env.DESK_LEDGER, `${JSON.stringify({ tool, args })}\n`);
  return result;
}

const approved = (id, fields, effect) =>
  createTool({
    id,
    description: id,
    inputSchema: z.object(fields),
    outputSchema: z.string(),
    suspendSchema: z.object({ message: z.string() }),
    resumeSchema: z.object({
      approved: z.boolean(),
      editedArgs: z.object(fields).strict().optional(),
      reason: z.string().optional(),
    }),
    execute: async (input, { agent: { resumeData, suspend } }) => {
      if (!resumeData) return await suspend({ message: `Call ${id}?` });
      if (!resumeData.approved) return `denied: ${resumeData.reason}`;
      return effect(resumeData.editedArgs ?? input);
    },
  });

const tools = {
  issue_refund: approved("issue_refund", { order: z.string(), amount: z.number() }, (input) =>
    ran("issue_refund", input, `refunded ${input.amount}`),
  ),
  send_email: approved("send_email", { to: z.string() }, (input) =>
    ran("send_email", input, `mailed ${input.to}`),
  ),
  ask_quarter: createTool({
    id: "ask_quarter",
    description: "Ask a person for a quarter.",
    inputSchema: z.object({ question: z.string() }),
    outputSchema: z.string(),
    suspendSchema: z.object({ message: z.string() }),
    resumeSchema: z.object({ quarter: z.enum(["Q1", "Q2"]) }),
    execute: async ({ question }, { agent: { resumeData, suspend } }) => {
      if (!resumeData) return await suspend({ message: question });
      return ran("file_report", resumeData, `filed ${resumeData.quarter}`);
    },
  }),
};

/** Asks for the calls of the script, then says what came of them. */
function answer(prompt) {
  const last = prompt.findLastIndex((message) => message.role === "user");
  const parts = prompt.slice(last).flatMap((message) => message.content);
  const results = parts.filter((part) => part.type === "tool-result");
  if (results.length) {
    const text = `done: ${results.map((part) => part.output.value).join(" | ")}`;
    const words = text.split(" ").map((word) => ({ type: "text-delta", id: "t", delta: `${word} ` }));
    return [{ type: "text-start", id: "t" }, ...words, { type: "text-end", id: "t" }];
  }
  const calls = CALLS[parts[0].text.split(" ").at(-1)];
  return calls.map(([toolCallId, toolName, input]) => {
    return { type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) };
  });
}

const model = {
  specificationVersion: "v2",
  provider: "desk",
  modelId: "scripted",
  supportedUrls: {},
  async doStream({ prompt }) {
    const parts = answer(prompt);
    const finishReason = parts[0].type === "tool-call" ? "tool-calls" : "stop";
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const chunks = [{ type: "stream-start", warnings: [] }, ...parts];
    chunks.push({ type: "finish", finishReason, usage });
    return { stream: ReadableStream.from(chunks) };
  },
};
const desk = new Agent({ id: "desk", name: "desk", instructions: "Refund.", model, tools });
const mastra = new Mastra({ agents: { desk }, storage: new InMemoryStore(), logger: false });

const emitInterruptOutcome = process.env.DESK_OUTCOME === "1";
createServer(async (request, response) => {
  if (request.url !== "/agui") return void response.writeHead(404).end();
  let body = "";
  for await (const piece of request) body += piece;
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const send = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  const agent = mastra.getAgent("desk");
  new MastraAgent({ agent, resourceId: "signoff", emitInterruptOutcome }).run(JSON.parse(body)).subscribe({
    next: send,
    error: ({ message }) => {
      send({ type: "RUN_ERROR", message });
      response.end();
    },
    complete: () => response.end(),
  });
}).listen(Number(parseArgs({ options: { port: { type: "string" } } }).values.port), "127.0.0.1");
