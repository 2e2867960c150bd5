// CopilotKit's cards: how its hook answers, in 1.0 and as it did before, and what it sees of that.
import assert from "node:assert/strict";
import * as before1 from "client-before-1";
import { agentOf, headers, httpUrl } from "./clients.mjs";

const executed = (call) => ({ ok: true, args: call.args, executionCount: 1 });
const denied = (reason = null) => ({ ok: false, denied: true, reason });
const calledOff = { ok: false, cancelled: true };

async function ask(open, scenario, options) {
  const chat = await open(options);
  assert.equal((await chat.say(`rehearse:${scenario}`)).type, "RUN_FINISHED");
  assert(chat.card, "no card is shown");
  return chat;
}

// The run ended well, nothing is asked any more, and each call has one result: the tool's own.
function assertDone(chat, results) {
  assert.equal(chat.last.type, "RUN_FINISHED", JSON.stringify(chat.last));
  assert.deepEqual(chat.errors, []);
  assert.equal(chat.card, null);
  assertResults(chat, results);
}

function assertResults(chat, results) {
  for (const [index, call] of chat.toolCalls().entries()) {
    assert.deepEqual(chat.resultsOf(call.id), [results[index]], `of call ${index}`);
  }
  assert.equal(chat.toolCalls().length, results.length);
}

// CopilotKit says the decision twice: as the resume of the run that was interrupted, under its id,
// and as a message that looks like the tool's result.
async function decides(open, act, said, result) {
  const chat = await ask(open, "tool_call");
  const { runId } = chat.sent;
  const [call] = chat.toolCalls();
  await act(chat);
  assert.equal(chat.sent.runId, runId);
  const { role, toolCallId, content } = chat.sent.messages.at(-1);
  assert.deepEqual([role, toolCallId], ["tool", call.id]);
  if (said) assert.deepEqual(JSON.parse(content), said);
  assertDone(chat, [result(call)]);
  const reader = await open({ threadId: chat.agent.threadId });
  await reader.reload();
  assertDone(reader, [result(call)]);
  return chat;
}

export const canonicalCards = {
  async approve(open) {
    const said = { approved: true };
    await decides(open, (chat) => chat.resolve(said), said, executed);
  },

  async edit(open) {
    const args = { to: "edited@example.org", subject: "Hello" };
    const said = { approved: true, editedArgs: args };
    await decides(open, (chat) => chat.resolve(said), said, () => executed({ args }));
  },

  async deny(open) {
    const said = { approved: false, reason: "No" };
    await decides(open, (chat) => chat.resolve(said), said, () => denied("No"));
  },

  async cancel(open) {
    await decides(open, (chat) => chat.cancel(), undefined, () => calledOff);
  },

  async answer(open) {
    const chat = await ask(open, "input_required");
    await chat.resolve({ quarter: "Q2", year: 2026, revenue: 1.5 });
    assertDone(chat, []);
  },

  async several(open) {
    const chat = await ask(open, "parallel3");
    const calls = chat.toolCalls();
    const [first, second, third] = chat.card.interrupts.map(({ id }) => id);
    await chat.resolve({ approved: true }, third);
    await chat.cancel(first);
    assert.equal(chat.agent.sent.length, 1, "it was sent before all was decided");
    await chat.resolve({ approved: false }, second);
    assertDone(chat, [calledOff, denied(), executed(calls[2])]);
  },

  async one_after_the_other(open) {
    const chat = await ask(open, "multi_step");
    await chat.resolve({ approved: true });
    assert.equal(chat.card.interrupts.length, 1);
    await chat.resolve({ approved: true });
    assertDone(chat, chat.toolCalls().map(executed));
  },

  async replay(open) {
    const said = { approved: true };
    const chat = await decides(open, (one) => one.resolve(said), said, executed);
    const answer = await fetch(httpUrl, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(chat.sent),
    });
    const events = (await answer.text()).match(/(?<=^data: ).*$/gm).map((line) => JSON.parse(line));
    assert.deepEqual(events.at(-1).outcome, { type: "success" });
    await chat.reload();
    assertDone(chat, chat.toolCalls().map(executed));
  },

  async reload(open) {
    const before = await ask(open, "tool_call");
    const chat = await open({ threadId: before.agent.threadId });
    await chat.reload();
    assert.deepEqual(chat.card.interrupts, before.card.interrupts);
    await chat.resolve({ approved: true });
    assertDone(chat, chat.toolCalls().map(executed));
  },

  async decided_by_somebody_else(open) {
    const chat = await ask(open, "tool_call");
    const other = await open({ threadId: chat.agent.threadId });
    await other.reload();
    await other.resolve({ approved: false });
    await chat.resolve({ approved: true });
    assert.equal(chat.last.code, "INTERRUPT_ALREADY_RESOLVED");
    // This client sends nothing but its own answer any more: only a new one gets on.
    const later = await open({ threadId: chat.agent.threadId });
    await later.reload();
    assertDone(later, [denied()]);
    await later.say("rehearse:echo");
    assertDone(later, [denied()]);
  },
};

// Before 1.0 the hook saw the last `on_interrupt` of a run, and put it away with all that it sent.
async function legacyDecides(open, act, result) {
  const chat = await ask(open, "tool_call");
  const { runId } = chat.sent;
  const { value } = chat.card.event;
  await act(chat);
  assert.equal(chat.sent.runId, runId);
  assert.equal(chat.sent.forwardedProps.command.interruptEvent, value);
  assertDone(chat, [result(chat.toolCalls()[0])]);
}

export const legacyCards = {
  async approve(open) {
    for (const yes of [{ approved: true }, '{"approved": true}', true, { accepted: true }]) {
      await legacyDecides(open, (chat) => chat.resolve(yes), executed);
    }
  },

  async edit(open) {
    const args = { to: "edited@example.org", subject: "Hello" };
    const act = (chat) => chat.resolve({ approved: true, editedArgs: args });
    await legacyDecides(open, act, () => executed({ args }));
  },

  async deny(open) {
    await legacyDecides(open, (chat) => chat.resolve(false), () => denied());
  },

  async call_off(open) {
    await legacyDecides(open, (chat) => chat.resolve({ cancelled: true }), () => calledOff);
  },

  // `cancel()` tells nobody: the question is still open, and comes back with what is said next.
  async dismiss(open, complaints) {
    const chat = await ask(open, "tool_call");
    await chat.cancel();
    assert.match(complaints.pop(), /cancel\(\) is not supported/);
    assert.equal(chat.card, null);
    assert.equal(chat.agent.sent.length, 1);

    await chat.say("rehearse:echo");

    assert.equal(chat.last.code, "PENDING_INTERRUPTS");
    assert.equal(chat.errors.length, 1);
    chat.errors.length = 0;
    await chat.resolve({ approved: true });
    assertDone(chat, chat.toolCalls().map(executed));
  },

  async answer(open) {
    const chat = await ask(open, "input_required");
    await chat.resolve(JSON.stringify({ quarter: "Q2", year: 2026, revenue: 1.5 }));
    assertDone(chat, []);
  },

  async a_refused_answer(open) {
    const chat = await ask(open, "tool_call");
    await chat.resolve({ approved: "yes" });
    assert.equal(chat.last.code, "INVALID_PAYLOAD");
    chat.errors.length = 0;
    await chat.resolve({ approved: true });
    assertDone(chat, chat.toolCalls().map(executed));
  },

  async several_one_by_one(open) {
    const chat = await ask(open, "parallel3");
    const calls = chat.toolCalls();
    for (const said of [{ approved: true }, { cancelled: true }, { approved: false }]) {
      assert.equal(chat.resultsOf(calls[0].id).length, 0);
      await chat.resolve(said);
    }
    // Of several it shows the last one.
    assertDone(chat, [denied(), calledOff, executed(calls[2])]);
    const resumed = chat.events.filter(({ type }) => type === "TOOL_CALL_RESULT");
    assert.equal(resumed.length, 3);
  },

  async several_by_a_map(open) {
    const chat = await ask(open, "parallel3");
    const ids = chat.events
      .filter(({ name }) => name === "on_interrupt")
      .map(({ value }) => JSON.parse(value).id);
    await chat.resolve(Object.fromEntries(ids.map((id, index) => [id, { approved: index === 1 }])));
    assertDone(chat, [denied(), executed(chat.toolCalls()[1]), denied()]);
  },

  async reload(open) {
    const before = await ask(open, "tool_call");
    const chat = await open({ threadId: before.agent.threadId });
    await chat.reload();
    assert.deepEqual(chat.card.event, before.card.event);
    await chat.resolve({ approved: true });
    assertDone(chat, chat.toolCalls().map(executed));
  },

  // The card says "Send the e-mail?", and the thread asks "Deploy?" by now.
  async a_card_that_is_too_old(open) {
    const chat = await ask(open, "multi_step");
    const other = await open({ threadId: chat.agent.threadId });
    await other.reload();
    await other.resolve({ approved: true });
    assert.equal(JSON.parse(other.card.event.value).toolName, "deploy");

    await chat.resolve({ approved: false });

    assert.equal(chat.last.code, "INTERRUPT_ALREADY_RESOLVED");
    assert.equal(JSON.parse(chat.card.event.value).toolName, "deploy");
    chat.errors.length = 0;
    await chat.resolve({ approved: true });
    await chat.reload();
    assertDone(chat, chat.toolCalls().map(executed));
  },

  // ThreadPlane's wire: it finds its card by `kind`, and sends back nothing but the answer.
  async by_kind() {
    const Agent = agentOf(before1, "?dialect=langgraph");
    const agent = new Agent();
    const values = [];
    agent.subscribe({ onCustomEvent: ({ event }) => void values.push(JSON.parse(event.value)) });
    agent.addMessage({ id: "m1", role: "user", content: "rehearse:tool_call" });
    await agent.runAgent();
    const [{ kind, toolName, toolCallId }] = values;
    assert.deepEqual([kind, toolName, toolCallId], ["tool_call", "send_email", undefined]);

    await agent.runAgent({ forwardedProps: { command: { resume: { approved: true } } } });

    assert.equal(values.length, 1);
    const [result, ...others] = agent.messages.filter(({ role }) => role === "tool");
    assert.equal(JSON.parse(result.content).executionCount, 1);
    assert.deepEqual(others, []);
  },
};
