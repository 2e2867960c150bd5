// One entry for each rule of the interrupt contract, where the official client by itself would not
// break it, and for each way in which clients in the field come back to a thread.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  approve,
  assertExecutedOnce,
  assertRefused,
  cancel,
  deny,
  finish,
  pause,
  resolve,
} from "./answers.mjs";

export const contract = {
  async PARTIAL_RESUME(open) {
    const client = open();
    await pause(client, "parallel3", { count: 3 });
    const entries = client.pending.map(approve);

    for (const partial of [entries.slice(0, 1), entries.slice(1)]) {
      await assertRefused(client, (other) => other.resume(partial), "PARTIAL_RESUME");
    }

    const calls = client.pending.map((interrupt) => interrupt.toolCallId);
    await finish(client, entries);
    for (const toolCallId of calls) assertExecutedOnce(client, toolCallId);
  },

  async UNKNOWN_INTERRUPT_ID(open) {
    const [client, stranger] = [open(), open()];
    await pause(client, "tool_call");
    await pause(stranger, "tool_call");
    const right = approve(client.pending[0]);

    for (const wrong of [approve({ id: randomUUID() }), approve(stranger.pending[0])]) {
      const attempt = (other) => other.resume([right, wrong]);
      await assertRefused(client, attempt, "UNKNOWN_INTERRUPT_ID");
    }

    await finish(client, [right]);
  },

  async DUPLICATE_RESUME(open) {
    const client = open();
    await pause(client, "tool_call");
    const [interrupt] = client.pending;

    for (const second of [approve(interrupt), deny(interrupt, "No"), cancel(interrupt)]) {
      const attempt = (other) => other.resume([approve(interrupt), second]);
      await assertRefused(client, attempt, "DUPLICATE_RESUME");
    }

    await finish(client, [approve(interrupt)]);
    assertExecutedOnce(client, interrupt.toolCallId);
  },

  async PENDING_INTERRUPTS(open) {
    const client = open();
    await pause(client, "tool_call");

    const attempts = [(other) => other.say("rehearse:echo"), (other) => other.resume([])];
    for (const attempt of attempts) await assertRefused(client, attempt, "PENDING_INTERRUPTS");

    await finish(client, client.pending.map(approve));
  },

  async INTERRUPT_ALREADY_RESOLVED(open) {
    const client = open();
    await pause(client, "tool_call");
    const [interrupt] = client.pending;
    await finish(client, [approve(interrupt)]);

    for (const later of [deny(interrupt, "Too late"), cancel(interrupt)]) {
      (await client.elsewhere().resume([later])).expect("INTERRUPT_ALREADY_RESOLVED");
    }

    assertExecutedOnce(client, interrupt.toolCallId);
  },

  async replay(open) {
    const client = open();
    await pause(client, "parallel3", { count: 3 });
    const calls = client.pending.map((interrupt) => interrupt.toolCallId);
    const entries = client.pending.map(approve);
    const first = await finish(client, entries);

    for (const runId of [first.runId, randomUUID()]) {
      const again = client.elsewhere();
      (await again.resume([...entries].reverse(), { runId })).expect("success");
      for (const toolCallId of calls) assertExecutedOnce(again, toolCallId);
    }

    (await client.say("rehearse:echo")).expect("success");
  },

  async connect(open) {
    const client = open();
    await pause(client, "parallel3", { count: 3 });
    const browser = open({ threadId: client.agent.threadId });

    await browser.hydrate();

    assert.deepEqual(browser.agent.messages, client.agent.messages);
    assert.deepEqual(browser.pending, client.pending);
    const calls = browser.pending.map((interrupt) => interrupt.toolCallId);
    await finish(browser, browser.pending.map(approve));
    const later = open({ threadId: client.agent.threadId });
    await later.hydrate();
    assert.deepEqual(later.pending, []);
    for (const toolCallId of calls) assertExecutedOnce(later, toolCallId);
  },

  async copilotkit(open) {
    const client = open();
    const interrupted = await pause(client, "tool_call");
    const [interrupt] = client.pending;
    const decision = { approved: true };
    client.agent.addMessage({
      id: randomUUID(),
      role: "tool",
      toolCallId: interrupt.toolCallId,
      content: JSON.stringify(decision),
    });

    await finish(client, [resolve(interrupt, decision)], { runId: interrupted.runId });

    assertExecutedOnce(client, interrupt.toolCallId);
  },
};
