// One entry for each scenario of the rehearsal agent: what the official client must see of it.
// `open()` makes a client of a new thread.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import {
  answerTo,
  approve,
  assertExecutedOnce,
  assertNotExecuted,
  assertRefused,
  cancel,
  deny,
  edit,
  finish,
  pause,
  resolve,
} from "./answers.mjs";

const HOUR_MS = 3_600_000;

export const rehearsal = {
  async echo(open) {
    const client = open();
    for (const text of ["Good morning", "rehearse:echo"]) {
      (await client.say(text)).expect("success");
    }
    const roles = client.agent.messages.map((message) => message.role);
    assert.deepEqual(roles, ["user", "assistant", "user", "assistant"]);
    assert.match(client.agent.messages[1].content, /Good morning/);
  },

  async client_tool(open) {
    const client = open();
    const tools = [{ name: "pick_colour", description: "Pick a colour", parameters: {} }];
    (await client.say("rehearse:client_tool", { tools })).expect("success");
    const [call] = client.toolCalls();
    assert.equal(call.name, "pick_colour");

    const result = { role: "tool", toolCallId: call.id, content: "red" };
    client.agent.addMessage({ id: randomUUID(), ...result });
    (await client.run({ tools })).expect("success");
    assert.equal(client.agent.messages.at(-1).content, "The client's tool returned red.");
    (await client.say("Thanks", { tools })).expect("success");
    const roles = client.agent.messages.map((message) => message.role);
    assert.deepEqual(roles, ["user", "assistant", "tool", "assistant", "user", "assistant"]);
  },

  async error(open) {
    const client = open();
    const run = await client.say("rehearse:error");
    run.expect("AGENT_ERROR");
    assert.equal(run.ofType("TEXT_MESSAGE_START").length, 1);
    (await client.say("rehearse:echo")).expect("success");
  },

  async approve(open) {
    const client = open();
    await pause(client, "tool_call", { reason: "tool_call" });
    const [interrupt] = client.pending;
    const call = client.toolCall(interrupt.toolCallId);
    assert.equal(call.name, "send_email");
    assert.deepEqual(Object.keys(call.args).sort(), ["subject", "to"]);
    assert.deepEqual(interrupt.responseSchema.required, ["approved"]);
    const lifetime = new Date(interrupt.expiresAt) - Date.now();
    assert(lifetime > HOUR_MS - 60_000 && lifetime <= HOUR_MS, `expires in ${lifetime} ms`);

    const run = await finish(client, [approve(interrupt)]);

    assertExecutedOnce(client, call.id);
    const types = run.events.map((event) => event.type);
    const snapshot = types.indexOf("MESSAGES_SNAPSHOT");
    assert(snapshot > 0 && snapshot < types.indexOf("TOOL_CALL_RESULT"), `no snapshot: ${types}`);
  },

  async edit(open) {
    const client = open();
    await pause(client, "tool_call");
    const [interrupt] = client.pending;
    // No subject any more: what is edited takes the place of what was proposed.
    const edited = { to: "edited@example.org", copies: ["first@example.org", 2] };

    await finish(client, [edit(interrupt, edited)]);

    assertExecutedOnce(client, interrupt.toolCallId, edited);
  },

  async deny(open) {
    const client = open();
    await pause(client, "tool_call");
    const [interrupt] = client.pending;

    await finish(client, [deny(interrupt, "Not today")]);

    assert.deepEqual(JSON.parse(client.resultOf(interrupt.toolCallId)), {
      ok: false,
      denied: true,
      reason: "Not today",
    });
  },

  async cancel(open) {
    const client = open();
    await pause(client, "tool_call");
    const [interrupt] = client.pending;

    (await client.resume([cancel(interrupt)])).expect("success", "cancelled");

    assert.deepEqual(client.pending, []);
    assertNotExecuted(client, interrupt.toolCallId);
  },

  async probe_prefix(open) {
    const client = open();
    (await client.say("probe:tool_call")).expect("interrupt");
    await finish(client, client.pending.map(approve));
  },

  async multi_step(open) {
    const client = open();
    await pause(client, "multi_step", { reason: "tool_call" });
    const [email] = client.pending;

    (await client.resume([approve(email)])).expect("interrupt");

    assertExecutedOnce(client, email.toolCallId);
    const [deploy] = client.pending;
    assert.notEqual(deploy.id, email.id);
    assert.equal(client.toolCall(deploy.toolCallId).name, "deploy");
    assert.equal(client.resultOf(deploy.toolCallId), undefined);
    await finish(client, [approve(deploy)]);
    assertExecutedOnce(client, email.toolCallId);
    assertExecutedOnce(client, deploy.toolCallId);
  },

  async parallel3(open) {
    const client = open();
    await pause(client, "parallel3", { count: 3, reason: "tool_call" });
    const [first, second, third] = client.pending;
    const edited = { to: "third@example.org", subject: "Third" };

    // Not in the order asked: an entry belongs to the interrupt that it names.
    await finish(client, [edit(third, edited), approve(first), deny(second, "No")]);

    assertExecutedOnce(client, first.toolCallId);
    assert.equal(JSON.parse(client.resultOf(second.toolCallId)).denied, true);
    assertExecutedOnce(client, third.toolCallId, edited);
  },

  async "parallel:10"(open) {
    const client = open();
    await pause(client, "parallel:10", { count: 10, reason: "tool_call" });
    const calls = client.pending.map((interrupt) => interrupt.toolCallId);

    await finish(client, client.pending.map(approve));

    for (const toolCallId of calls) assertExecutedOnce(client, toolCallId);
  },

  async input_required(open) {
    const client = open();
    await pause(client, "input_required", { reason: "input_required" });
    const [interrupt] = client.pending;
    const fields = Object.keys(interrupt.responseSchema.properties).sort();
    assert.deepEqual(fields, ["quarter", "revenue", "year"]);
    const wrong = [
      { quarter: "Q5", year: 2026, revenue: 1.5 },
      { quarter: "Q2", year: 1999, revenue: 1.5 },
      { quarter: "Q2", year: 2026, revenue: "1.5" },
      { quarter: "Q2", year: 2026 },
      null,
    ];
    for (const payload of wrong) {
      const attempt = (other) => other.resume([resolve(interrupt, payload)]);
      await assertRefused(client, attempt, "INVALID_PAYLOAD");
    }

    await finish(client, [resolve(interrupt, { quarter: "Q2", year: 2026, revenue: 1.5 })]);
  },

  async confirmation(open) {
    for (const answer of [true, false]) {
      const client = open();
      await pause(client, "confirmation", { reason: "confirmation" });
      const [interrupt] = client.pending;
      assert.equal(interrupt.responseSchema.type, "boolean");
      const attempt = (other) => other.resume([resolve(interrupt, "true")]);
      await assertRefused(client, attempt, "INVALID_PAYLOAD");

      await finish(client, [resolve(interrupt, answer)]);
    }
  },

  async custom_reason(open) {
    const client = open();
    await pause(client, "custom_reason", { reason: "inbox:policy_hold" });
    const [interrupt] = client.pending;
    assert.equal(interrupt.responseSchema, undefined);
    assert.equal(interrupt.toolCallId, undefined);
    assert.equal(typeof interrupt.metadata, "object");

    await finish(client, [resolve(interrupt)]);

    // No payload and a payload of null are the same answer.
    (await client.elsewhere().resume([resolve(interrupt, null)])).expect("success");
  },

  async expires_soon(open) {
    const client = open();
    await pause(client, "expires_soon", { reason: "tool_call" });
    const [interrupt] = client.pending;
    await wait(new Date(interrupt.expiresAt) - Date.now() + 100);

    const late = await client.elsewhere().resume([approve(interrupt)]);

    // The sweeper may have closed it by then; either way the late answer does not count.
    late.expect("INTERRUPT_EXPIRED", "INTERRUPT_ALREADY_RESOLVED", "UNKNOWN_INTERRUPT_ID");
    (await client.resume([cancel(interrupt)])).expect("success", "cancelled");
    assertNotExecuted(client, interrupt.toolCallId);
    (await client.say("rehearse:echo")).expect("success");
  },

  async subagent(open) {
    const client = open();
    const run = await pause(client, "subagent", { reason: "confirmation" });
    const [interrupt] = client.pending;
    const [started] = run.ofType("SUBAGENT_STARTED");
    const [ended] = run.ofType("SUBAGENT_FINISHED");
    assert.equal(ended.outcome.type, "suspended");
    const ids = [started, ended, interrupt].map((part) => part.subagentRunId);
    assert.deepEqual(ids, [ids[0], ids[0], ids[0]]);

    await finish(client, [resolve(interrupt, answerTo(interrupt.responseSchema))]);
  },

  async "stream:50"(open) {
    const client = open();
    const run = await client.say("rehearse:stream:50");
    run.expect("success");
    const deltas = run.ofType("TEXT_MESSAGE_CONTENT").map((event) => event.delta);
    assert(deltas.length > 0 && deltas.length <= 50, `${deltas.length} deltas`);
    assert.equal(client.agent.messages.at(-1).content, deltas.join(""));

    const reader = open({ threadId: client.agent.threadId });
    await reader.hydrate();

    assert.deepEqual(reader.agent.messages, client.agent.messages);
  },

  async "sleep:1"(open) {
    const started = performance.now();
    const run = await open().say("rehearse:sleep:1");
    run.expect("success");
    assert(performance.now() - started >= 950, "it did not take a second");
    assert(run.ofType("STEP_STARTED").length >= 1);
  },

  async effect(open) {
    const key = randomUUID();
    const client = open();
    await pause(client, `effect:${key}`, { reason: "tool_call" });
    const [interrupt] = client.pending;
    assert.equal(client.toolCall(interrupt.toolCallId).name, "charge");
    assert.equal(client.toolCall(interrupt.toolCallId).args.key, key);

    await finish(client, [approve(interrupt)]);

    assertExecutedOnce(client, interrupt.toolCallId);
    (await client.elsewhere().resume([approve(interrupt)])).expect("success");
    const reader = open({ threadId: client.agent.threadId });
    await reader.hydrate();
    assertExecutedOnce(reader, interrupt.toolCallId);
  },

  async ask(open) {
    const client = open();
    await pause(client, "ask");
    const [interrupt] = client.pending;
    const call = client.toolCall(interrupt.toolCallId);
    assert.equal(call.name, "ask_user");
    assert.deepEqual(Object.keys(call.args).sort(), ["options", "question"]);
    const answer = answerTo(interrupt.responseSchema);

    await finish(client, [resolve(interrupt, answer)]);

    const result = client.resultOf(call.id);
    assert(result.includes(JSON.stringify(answer)) || result === answer, `answered ${result}`);
  },

  async restart(open) {
    const client = open();
    await pause(client, "restart");
    const [interrupt] = client.pending;

    await finish(client, [resolve(interrupt, answerTo(interrupt.responseSchema))]);

    const result = JSON.parse(client.resultOf(interrupt.toolCallId));
    assert.deepEqual([result.ok, result.executionCount], [true, 1]);
  },
};
