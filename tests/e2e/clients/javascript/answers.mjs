// The answers a client gives, and the ways to pause, finish and judge a run.
import assert from "node:assert/strict";

export const resolve = (interrupt, payload) => ({
  interruptId: interrupt.id,
  status: "resolved",
  ...(payload !== undefined && { payload }),
});
export const approve = (interrupt) => resolve(interrupt, { approved: true });
export const deny = (interrupt, reason) => resolve(interrupt, { approved: false, reason });
export const edit = (interrupt, editedArgs) => resolve(interrupt, { approved: true, editedArgs });
export const cancel = (interrupt) => ({ interruptId: interrupt.id, status: "cancelled" });

// Run a scenario up to its interrupts, which are of `count` and `reason` where these are given.
export async function pause(client, scenario, { count = 1, reason } = {}) {
  const run = await client.say(`rehearse:${scenario}`);
  run.expect("interrupt");
  assert.equal(client.pending.length, count);
  assert.equal(new Set(client.pending.map(({ id }) => id)).size, count, "an id occurs twice");
  for (const interrupt of client.pending) {
    if (reason) assert.equal(interrupt.reason, reason);
    if (interrupt.reason === "tool_call") client.toolCall(interrupt.toolCallId);
  }
  return run;
}

export async function finish(client, entries, parameters) {
  const run = await client.resume(entries, parameters);
  run.expect("success");
  assert.deepEqual(client.pending, []);
  return run;
}

export function assertExecutedOnce(client, toolCallId, args = client.toolCall(toolCallId).args) {
  assert.deepEqual(JSON.parse(client.resultOf(toolCallId)), { ok: true, args, executionCount: 1 });
}

export function assertNotExecuted(client, toolCallId) {
  const result = client.resultOf(toolCallId);
  if (result !== undefined) assert.notEqual(JSON.parse(result).ok, true, `executed: ${result}`);
}

// The smallest answer that a responseSchema of the rehearsal agent accepts.
export function answerTo(schema) {
  if (schema === undefined) return undefined;
  if (schema.enum) return schema.enum[0];
  if (schema.type === "boolean") return true;
  if (schema.type === "string") return "Blue";
  assert.equal(schema.type, "object", `no answer known for ${JSON.stringify(schema)}`);
  const required = schema.required ?? [];
  return Object.fromEntries(required.map((name) => [name, answerTo(schema.properties[name])]));
}

// An input is refused, changes nothing, and the right answer still goes through afterwards.
export async function assertRefused(client, attempt, code) {
  const before = client.pending.length;
  (await attempt(client.elsewhere())).expect(code);
  assert.equal(client.pending.length, before);
}
