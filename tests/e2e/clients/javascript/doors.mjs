// What has nothing to do with an agent, and is different on each transport: who is let in.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import WebSocket from "ws";
import { headers, httpUrl, webSocketUrl } from "./clients.mjs";

export const doors = {
  http: {
    async malformed_requests() {
      const json = { ...headers, "Content-Type": "application/json" };
      const input = { threadId: randomUUID(), runId: randomUUID(), messages: [] };
      const requests = {
        "malformed JSON": { headers: json, body: "{" },
        "a body that is no RunAgentInput": { headers: json, body: '{"threadId": 7}' },
        "another content type": {
          headers: { ...headers, "Content-Type": "text/plain" },
          body: JSON.stringify(input),
        },
        "no key": {
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(input),
        },
        "a wrong key": {
          headers: { ...json, Authorization: "Bearer wrong" },
          body: JSON.stringify(input),
        },
      };
      for (const [what, request] of Object.entries(requests)) {
        const answer = await fetch(httpUrl, { method: "POST", ...request });
        const seen = `${what}: ${answer.status} ${answer.headers.get("Content-Type")}`;
        assert(answer.status >= 400 && answer.status < 500, seen);
        assert.match(answer.headers.get("Content-Type"), /json/, seen);
        await answer.json();
      }
    },
  },

  websocket: {
    async no_key() {
      for (const refused of [{}, { Authorization: "Bearer wrong" }]) {
        const socket = new WebSocket(webSocketUrl, { headers: refused });
        const frames = [];
        socket.on("message", (frame) => frames.push(frame.toString()));
        socket.on("error", () => {}); // refused at the handshake; "close" follows
        const code = await new Promise((closed) => socket.on("close", closed));
        assert.deepEqual(frames, []);
        assert.notEqual(code, 1000);
      }
    },
  },
};
