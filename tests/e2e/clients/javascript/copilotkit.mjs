// CopilotKit in an application: its core, its client, and its hook `useInterrupt`, rendered in Node.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as before1 from "client-before-1";
import { createElement } from "react";
import { agentOf } from "./clients.mjs";

// What is rendered is so when `act` is over; the other one keeps its deprecation to itself.
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
globalThis.IS_REACT_NATIVE_TEST_ENVIRONMENT = true;
const { act, create } = await import("react-test-renderer");
const { CopilotKitContext } = await import("@copilotkit/react-core/v2/context");
const { CopilotKitCoreReact, useInterrupt } = await import("@copilotkit/react-core/v2/headless");

// One browser on one thread.
export class Chat {
  card = null; // what the application is given to render a question: {interrupt, resolve, ...}
  events = []; // of the last run
  errors = [];

  static async open({ client = before1, dialect, threadId = randomUUID() } = {}) {
    const chat = new Chat();
    const Agent = agentOf(client, dialect ? `?dialect=${dialect}` : "");
    chat.agent = new Agent({ threadId });
    chat.copilotkit = new CopilotKitCoreReact({ agents__unsafe_dev_only: { default: chat.agent } });
    chat.agent.subscribe({ onEvent: ({ event }) => void chat.events.push(structuredClone(event)) });
    chat.copilotkit.subscribe({ onError: ({ error }) => void chat.errors.push(error.message) });
    const Card = () => {
      const card = useInterrupt({ renderInChat: false, render: (it) => createElement("b", it) });
      chat.card = card?.props ?? null;
      return card;
    };
    const value = { copilotkit: chat.copilotkit };
    await act(() => create(createElement(CopilotKitContext.Provider, { value }, createElement(Card))));
    return chat;
  }

  say(content) {
    this.agent.addMessage({ id: randomUUID(), role: "user", content });
    return this.see(() => this.copilotkit.runAgent({ agent: this.agent }));
  }

  reload() {
    return this.see(() => this.copilotkit.connectAgent({ agent: this.agent }));
  }

  resolve(payload, interruptId) {
    return this.see(() => this.card.resolve(payload, interruptId));
  }

  cancel(interruptId) {
    return this.see(() => this.card.cancel(interruptId));
  }

  async see(happens) {
    this.events = [];
    await act(happens);
    return this.last;
  }

  get last() {
    return this.events.at(-1);
  }

  get sent() {
    return this.agent.sent.at(-1);
  }

  // Every tool call in the conversation: {id, args}.
  toolCalls() {
    return this.agent.messages
      .flatMap((message) => (message.role === "assistant" && message.toolCalls) || [])
      .map((call) => ({ id: call.id, args: JSON.parse(call.function.arguments) }));
  }

  // What each tool message for a call says.
  resultsOf(toolCallId) {
    return this.agent.messages
      .filter((message) => message.role === "tool" && message.toolCallId === toolCallId)
      .map((message) => JSON.parse(message.content));
  }
}
