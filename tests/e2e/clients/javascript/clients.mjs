// The official client over both transports, each run checked against what the wire promises.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as since1 from "@ag-ui/client";
import * as before1 from "client-before-1";
import { Observable } from "rxjs";
import WebSocket from "ws";

const base = fromEnvironment("SIGNOFF_URL");
export const httpUrl = `${base}/agui/rehearsal/`;
export const webSocketUrl = `${base.replace(/^http/, "ws")}/ws/agui/rehearsal/`;
export const headers = { Authorization: `Bearer ${fromEnvironment("SIGNOFF_API_KEY")}` };

// An agent at the door as an application makes one, of the client that it has. Hydration is a plain
// request: the client leaves it to a subclass.
export function agentOf({ HttpAgent, runHttpRequest, transformHttpEventStream }, query = "") {
  return class extends HttpAgent {
    sent = [];

    constructor(config = {}) {
      super({ ...config, url: `${httpUrl}${query}`, headers });
    }

    run(input) {
      this.sent.push(structuredClone(input));
      return super.run(input);
    }

    connect({ threadId }) {
      const request = () =>
        fetch(`${httpUrl}connect/${query}`, {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json", Accept: "text/event-stream" },
          body: JSON.stringify({ threadId }),
        });
      return transformHttpEventStream(runHttpRequest(request));
    }
  };
}

const OverHttp = agentOf(since1);

class OverWebSocket extends since1.AbstractAgent {
  run(input) {
    return new Observable((events) => {
      const socket = new WebSocket(webSocketUrl, { headers });
      socket.on("open", () => socket.send(JSON.stringify(input)));
      socket.on("message", (frame) => events.next(JSON.parse(frame.toString())));
      socket.on("error", (error) => events.error(error));
      socket.on("close", (code, reason) => {
        if (code === 1000) events.complete();
        else events.error(new Error(`the socket was closed with ${code} ${reason}`));
      });
      return () => socket.close();
    });
  }

  connect(input) {
    return OverHttp.prototype.connect(input);
  }
}

export const transports = {
  "http": OverHttp,
  "http before 1.0": agentOf(before1),
  "websocket": OverWebSocket,
};

// One client of one thread. `knows` are the messages it starts with, as a browser keeps them.
export class Client {
  constructor(transport, { threadId = randomUUID(), knows = [] } = {}) {
    this.transport = transport;
    this.agent = new transports[transport]({ threadId, initialMessages: knows });
  }

  // The same conversation in another browser that has never heard of a pending interrupt: it sends
  // what the client by itself would keep back, so that the server has to refuse it.
  elsewhere() {
    return new Client(this.transport, {
      threadId: this.agent.threadId,
      knows: structuredClone(this.agent.messages),
    });
  }

  say(text, parameters) {
    this.agent.addMessage({ id: randomUUID(), role: "user", content: text });
    return this.run(parameters);
  }

  resume(entries, parameters) {
    return this.run({ ...parameters, resume: entries });
  }

  async run(parameters = {}) {
    const runId = parameters.runId ?? randomUUID();
    const known = new Set(this.toolCalls().map((call) => call.id));
    const events = await this.record(() => this.agent.runAgent({ ...parameters, runId }));
    const run = new Run(events, { runId, threadId: this.agent.threadId });
    for (const event of run.ofType("TOOL_CALL_START")) {
      assert(!known.has(event.toolCallId), `tool call ${event.toolCallId} was proposed twice`);
    }
    checkConversation(this.agent.messages);
    return run;
  }

  async hydrate() {
    const events = await this.record(() => this.agent.connectAgent());
    assert(events.length > 0, "connect answered with no event");
    checkConversation(this.agent.messages);
    return events;
  }

  async record(act) {
    const events = [];
    const recorder = { onEvent: ({ event }) => void events.push(structuredClone(event)) };
    const subscription = this.agent.subscribe(recorder);
    try {
      await act();
    } finally {
      subscription.unsubscribe();
    }
    return events;
  }

  get pending() {
    return this.agent.pendingInterrupts;
  }

  // Every tool call in the conversation: {id, name, args}.
  toolCalls() {
    return this.agent.messages
      .flatMap((message) => (message.role === "assistant" && message.toolCalls) || [])
      .map((call) => ({
        id: call.id,
        name: call.function.name,
        args: JSON.parse(call.function.arguments),
      }));
  }

  toolCall(id) {
    const found = this.toolCalls().find((call) => call.id === id);
    assert(found, `no tool call ${id} in the conversation`);
    return found;
  }

  // The content of the tool message for a call, or undefined.
  resultOf(toolCallId) {
    return this.agent.messages.find(
      (message) => message.role === "tool" && message.toolCallId === toolCallId,
    )?.content;
  }
}

export class Run {
  constructor(events, { runId, threadId }) {
    this.events = events;
    this.runId = runId;
    this.last = events.at(-1);
    const types = events.map((event) => event.type);
    assert(this.last, "the stream had no event");
    const ends = types.filter((type) => type === "RUN_FINISHED" || type === "RUN_ERROR");
    assert.deepEqual(ends, [this.last.type], `not one terminal event at the end: ${types}`);
    if (types[0] !== "RUN_ERROR") {
      assert.equal(types[0], "RUN_STARTED");
      const { runId: startedRun, threadId: startedThread, protocolVersion } = events[0];
      assert.deepEqual([startedRun, startedThread, protocolVersion], [runId, threadId, "1.0"]);
    }
    if (this.last.type === "RUN_ERROR") {
      assert(this.last.code, `RUN_ERROR without a code: ${this.last.message}`);
      return;
    }
    assert.deepEqual([this.last.runId, this.last.threadId], [runId, threadId]);
    assert(this.last.outcome, "RUN_FINISHED without an outcome");
    if (this.outcome === "interrupt") {
      assert(types.includes("STATE_SNAPSHOT"), "no STATE_SNAPSHOT before an interrupt");
      assert(types.includes("MESSAGES_SNAPSHOT"), "no MESSAGES_SNAPSHOT before an interrupt");
    }
  }

  get outcome() {
    return this.last.outcome?.type ?? this.last.code;
  }

  ofType(...types) {
    return this.events.filter((event) => types.includes(event.type));
  }

  // Fails with the server's own words: "expected success" alone would explain nothing.
  expect(...outcomes) {
    const said = this.last.message ? `: ${this.last.message}` : "";
    assert(outcomes.includes(this.outcome), `expected ${outcomes}, got ${this.outcome}${said}`);
    return this;
  }
}

function checkConversation(messages) {
  const ids = messages.map((message) => message.id);
  assert.equal(new Set(ids).size, ids.length, `a message id occurs twice: ${ids}`);
  const proposed = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      proposed.push(...(message.toolCalls ?? []).map((call) => call.id));
    } else if (message.role === "tool") {
      assert(proposed.includes(message.toolCallId), `a result, no call: ${message.toolCallId}`);
    }
  }
  const answered = messages.filter(({ role }) => role === "tool").map((tool) => tool.toolCallId);
  for (const toolCallIds of [proposed, answered]) {
    assert.equal(new Set(toolCallIds).size, toolCallIds.length, `twice: ${toolCallIds}`);
  }
}

function fromEnvironment(name) {
  const value = process.env[name];
  assert(value, `${name} is not set`);
  return value;
}
