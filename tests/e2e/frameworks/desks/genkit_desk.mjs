/** The refund desk as an agent of Genkit JS, for docs/examples/genkit_host.mjs: see desk.py. */

import { appendFileSync } from "node:fs";
import { genkit, z } from "genkit/beta";

const REFUND = { order: "A1", amount: 47.5 };
const CALLS = {
  refund: [["tc-1", "issue_refund", REFUND]],
  parallel: [
    ["tc-a", "issue_refund", REFUND],
    ["tc-b", "send_email", { to: "a@example.com" }],
  ],
  form: [["tc-f", "ask_quarter", { question: "Which quarter?" }]],
  map: [["tc-m", "show_map", { city: "Bergen" }]],
  slow: [["tc-s", "issue_refund", { order: "slow", amount: 1 }]],
  filing: [
    ["tc-a", "issue_refund", REFUND],
    ["tc-r", "file_report", { quarter: "Q2" }],
  ],
  unnumbered: [
    [undefined, "issue_refund", REFUND],
    [undefined, "issue_refund", { order: "A2", amount: 5 }],
  ],
};

export const ai = genkit({});

function ran(tool, args, result) {
  appendFileSync(process.env.DESK_LEDGER, `${JSON.stringify({ tool, args })}\n`);
  return result;
}

const approved = (name, fields, effect) =>
  ai.defineTool(
    { name, description: name, inputSchema: z.object(fields), outputSchema: z.string() },
    async (input, { interrupt, resumed }) =>
      resumed ? effect(input) : interrupt({ message: `Call ${name}?` }),
  );

const fileReport = ({ quarter }) => ran("file_report", { quarter }, `filed ${quarter}`);
const model = ai.defineModel({ name: "scripted" }, async ({ messages }, sendChunk) => {
  const last = messages.findLastIndex((message) => message.role === "user");
  const parts = messages.slice(last).flatMap((message) => message.content);
  const outputs = parts.filter((part) => part.toolResponse).map((part) => part.toolResponse.output);
  if (outputs.length) {
    const words = outputs.map((output) => (output?.quarter ? fileReport(output) : output));
    const text = `done: ${words.join(" | ")}`;
    if (!parts[0].text.startsWith("quietly"))
      for (const word of text.split(" ")) sendChunk?.({ content: [{ text: `${word} ` }] });
    return { message: { role: "model", content: [{ text }] } };
  }
  const calls = CALLS[parts[0].text.split(" ").at(-1)];
  const content = calls.map(([ref, name, input]) => ({ toolRequest: { ref, name, input } }));
  sendChunk?.({ content });
  return { message: { role: "model", content } };
});

export const agent = {
  model,
  tools: [
    approved("issue_refund", { order: z.string(), amount: z.number() }, async (input) => {
      const result = ran("issue_refund", input, `refunded ${input.amount}`);
      if (input.order === "slow") await new Promise((done) => setTimeout(done, 600_000));
      return result;
    }),
    approved("send_email", { to: z.string() }, async (input) =>
      ran("send_email", input, `mailed ${input.to}`),
    ),
    ai.defineTool(
      {
        name: "file_report",
        description: "File a report.",
        inputSchema: z.object({ quarter: z.string() }),
        outputSchema: z.string(),
      },
      async (input) => fileReport(input),
    ),
    ai.defineInterrupt({
      name: "ask_quarter",
      description: "Ask a person for a quarter.",
      inputSchema: z.object({ question: z.string() }),
      outputSchema: z.object({ quarter: z.enum(["Q1", "Q2"]) }),
    }),
  ],
};
