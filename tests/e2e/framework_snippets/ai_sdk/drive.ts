/** Run the AI SDK snippet with a scripted model that calls two tools; print what was executed. */

import { tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";

import { generateWithApprovals } from "./snippet.js";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function call(toolCallId: string, orderId: string) {
  const input = JSON.stringify({ orderId });
  return { type: "tool-call" as const, toolCallId, toolName: "cancelOrder", input };
}

const model = new MockLanguageModelV4({
  doGenerate: [
    {
      content: [call("call_1", "o-17"), call("call_2", "o-18")],
      finishReason: { unified: "tool-calls", raw: undefined },
      usage,
      warnings: [],
    },
    {
      content: [{ type: "text", text: "Done." }],
      finishReason: { unified: "stop", raw: undefined },
      usage,
      warnings: [],
    },
  ],
});
const executed: string[] = [];
const cancelOrder = tool({
  inputSchema: z.object({ orderId: z.string() }),
  execute: ({ orderId }) => {
    executed.push(orderId);
    return `Cancelled ${orderId}`;
  },
});
const settings = { model, tools: { cancelOrder }, toolApproval: { cancelOrder: "user-approval" } };

const text = await generateWithApprovals(settings as never, [{ role: "user", content: "Cancel" }]);

const prompt = JSON.stringify(model.doGenerateCalls[1]?.prompt);
console.log(JSON.stringify({ text, executed, prompt }));
