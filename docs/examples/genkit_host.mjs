/**
 * Serves an agent of Genkit JS as an AG-UI endpoint that waits for approvals.
 *
 *     npm install genkit
 *     node genkit_host.mjs ./my_agent.mjs --port 8100
 *
 * The module exports `ai`, of genkit/beta, and `agent`: the options of `ai.generate`, with its tools
 * as objects. A tool that calls `interrupt(...)` unless it is `resumed` waits for an approval, whose
 * arguments can be edited; the interrupt's `message` is displayed. A tool of `ai.defineInterrupt`
 * waits for an answer, which is its output.
 *
 * Pending requests are stored in the folder of --data and survive a restart. An answer is executed
 * once, however often it is sent. Of a client's messages only the last ones of the user are read.
 * With AGUI_HOST_TOKEN in the environment, callers send it as `Authorization: Bearer ...`.
 */

import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { parseSchema } from "genkit/schema";
import { toToolDefinition } from "genkit/tool";

const LARGEST_REQUEST_BYTES = 10 * 1024 * 1024;

class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// -- Genkit ---------------------------------------------------------------------------------------

/** One run of the agent: `emit` gets its events, as they happen. */
class GenkitRun {
  #app;
  #emit;
  #message = ""; // the id of the text that is being written
  #hasText = false; // the model has streamed text in this turn

  constructor(app, emit) {
    this.#app = app;
    this.#emit = emit;
  }

  /** Generate until the agent is done or interrupted; return the response. */
  async generate(messages, resume) {
    const { ai, agent } = this.#app;
    const use = [...(agent.use ?? []), (request, next) => this.#modelTurn(request, next)];
    const { stream, response } = ai.generateStream({ ...agent, messages, resume, use });
    for await (const chunk of stream) {
      if (chunk.role === "tool") this.#results(chunk.content);
      else this.#text(chunk.text);
    }
    this.#endText();
    return await response;
  }

  async #modelTurn(request, next) {
    this.#hasText = false;
    const response = await next(request);
    const content = response.message?.content ?? [];
    // Chunks are still on their way here: let them go first.
    await new Promise((done) => setImmediate(done));
    if (!this.#hasText) this.#text(content.map((part) => part.text ?? "").join(""));
    this.#endText();
    for (const { toolRequest } of content.filter((part) => part.toolRequest)) {
      toolRequest.ref ??= randomUUID(); // not every model numbers its calls, and answers need it
      const toolCallId = toolRequest.ref;
      this.#emit({ type: "TOOL_CALL_START", toolCallId, toolCallName: toolRequest.name });
      const delta = JSON.stringify(toolRequest.input ?? {});
      this.#emit({ type: "TOOL_CALL_ARGS", toolCallId, delta });
      this.#emit({ type: "TOOL_CALL_END", toolCallId });
    }
    return response;
  }

  #results(parts) {
    for (const { toolResponse } of parts.filter((part) => part.toolResponse)) {
      const { ref, output } = toolResponse;
      const content = typeof output === "string" ? output : JSON.stringify(output ?? null);
      this.#emit({ type: "TOOL_CALL_RESULT", messageId: randomUUID(), toolCallId: ref, content });
    }
  }

  #text(delta) {
    if (!delta) return;
    this.#hasText = true;
    if (!this.#message) {
      this.#message = randomUUID();
      this.#emit({ type: "TEXT_MESSAGE_START", messageId: this.#message, role: "assistant" });
    }
    this.#emit({ type: "TEXT_MESSAGE_CONTENT", messageId: this.#message, delta });
  }

  #endText() {
    if (this.#message) this.#emit({ type: "TEXT_MESSAGE_END", messageId: this.#message });
    this.#message = "";
  }
}

/** Returns the tool of a paused call, and the schema of answers to it. */
function questionAbout(app, part) {
  const name = part.toolRequest.name;
  const tool = app.agent.tools.find((each) => each.__action.name === name);
  const { inputSchema, outputSchema } = toToolDefinition(tool);
  const isApproval = tool.__action.metadata?.tool?.restartable !== false;
  const editedArgs = { type: "object", ...inputSchema };
  delete editedArgs.$schema;
  const approval = {
    type: "object",
    properties: { approved: { type: "boolean" }, editedArgs, reason: { type: "string" } },
    required: ["approved"],
    additionalProperties: false,
  };
  const { $schema, ...answer } = outputSchema ?? { type: "string" };
  return { tool, isApproval, schema: isApproval ? approval : answer };
}

function interruptOf(app, id, part) {
  const { toolRequest, metadata } = part;
  const { isApproval, schema } = questionAbout(app, part);
  return {
    id,
    reason: isApproval ? "tool_call" : "input_required",
    toolCallId: toolRequest.ref,
    message:
      metadata.interrupt.message ?? toolRequest.input?.question ?? `Call ${toolRequest.name}?`,
    responseSchema: schema,
  };
}

/** Returns the `resume` of a paused message, for its answers by call id. */
function resumeOf(app, content, answers) {
  const resume = { respond: [], restart: [] };
  for (const part of content.filter((each) => each.toolRequest)) {
    const { name, ref } = part.toolRequest;
    const respond = (output) =>
      resume.respond.push({
        toolResponse: { name, ref, output },
        metadata: { interruptResponse: true },
      });
    const answer = answers[ref];
    if (!part.metadata?.interrupt) {
      // A call that was made beside it. Genkit itself overlooks outputs such as 0 and false.
      respond(part.metadata?.pendingOutput ?? null);
      continue;
    }
    const { tool, isApproval } = questionAbout(app, part);
    if (answer.status === "cancelled") respond("Not approved: cancelled.");
    else if (!isApproval) respond(answer.payload);
    else if (!answer.payload.approved)
      respond(`Not approved. ${answer.payload.reason ?? ""}`.trim());
    else
      resume.restart.push(
        tool.restart(part, { approved: true }, { replaceInput: answer.payload.editedArgs }),
      );
  }
  return resume;
}

// -- what is stored -------------------------------------------------------------------------------

/** A JSON file for each thread. */
class Store {
  #folder;

  constructor(folder) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  read(thread) {
    // `events` are those of the answers that came last; null if the process died meanwhile.
    const empty = { messages: [], before: null, questions: {}, answered: null, events: null };
    try {
      return { ...empty, ...JSON.parse(readFileSync(this.#path(thread), "utf8")) };
    } catch (error) {
      if (error.code === "ENOENT") return empty;
      throw error;
    }
  }

  write(thread, changes) {
    const draft = `${this.#path(thread)}.new`;
    const file = openSync(draft, "w");
    writeSync(file, JSON.stringify({ ...this.read(thread), ...changes }));
    fsyncSync(file);
    closeSync(file);
    renameSync(draft, this.#path(thread));
  }

  #path(thread) {
    return join(this.#folder, `${createHash("sha256").update(thread).digest("hex")}.json`);
  }
}

// -- the contract ---------------------------------------------------------------------------------

/** Returns a text that is equal for equal answers, in whatever order. */
function canonical(value) {
  const sorted = (_, item) =>
    item && typeof item === "object" && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  return JSON.stringify(value.map((entry) => JSON.stringify(entry, sorted)).sort());
}

/** Returns the answers by call id, if each question has one and nothing else has. */
function check(app, entries, { questions, messages }) {
  const ids = entries.map((entry) => entry.interruptId);
  if (new Set(ids).size < ids.length)
    throw new Refused("DUPLICATE_RESUME", "One interrupt is answered twice.");
  const unknown = ids.filter((id) => !Object.hasOwn(questions, id));
  if (unknown.length) throw new Refused("UNKNOWN_INTERRUPT_ID", `Not open: ${unknown.join(", ")}.`);
  const missing = Object.keys(questions).filter((id) => !ids.includes(id));
  if (missing.length) throw new Refused("PARTIAL_RESUME", `Not answered: ${missing.join(", ")}.`);
  const parts = messages.at(-1).content;
  for (const entry of entries) {
    const part = parts.find((each) => each.toolRequest?.ref === questions[entry.interruptId]);
    if (entry.status === "cancelled") continue;
    try {
      if (entry.status !== "resolved") throw new Error(`${entry.status} is no status`);
      parseSchema(entry.payload, { jsonSchema: questionAbout(app, part).schema });
    } catch (error) {
      throw new Refused("INVALID_PAYLOAD", `No answer to ${entry.interruptId}: ${error.message}`);
    }
  }
  return Object.fromEntries(entries.map((entry) => [questions[entry.interruptId], entry]));
}

/** Returns what the user has written last. */
function userText(messages) {
  const last = messages.findLastIndex((message) => message.role !== "user");
  const parts = messages.slice(last + 1).flatMap(({ content }) => content);
  const text = parts
    .map((part) => (typeof part === "string" ? part : (part?.text ?? "")))
    .join("\n");
  if (!text.trim())
    throw new Refused("INVALID_INPUT", "The last message is not one of the user, with text.");
  return text;
}

/** The AG-UI endpoint: one run at a time on each thread. */
class Host {
  #app;
  #store;
  #busy = new Set();

  constructor(app, store) {
    this.#app = app;
    this.#store = store;
  }

  async run(input, emit) {
    const { threadId, runId } = input;
    emit({ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" });
    if (this.#busy.has(threadId)) {
      emit({
        type: "RUN_ERROR",
        code: "THREAD_BUSY",
        message: "A run is in progress on this thread.",
      });
      return;
    }
    this.#busy.add(threadId);
    try {
      await this.#run(input, emit);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      emit({ type: "RUN_ERROR", code: error.code, message: error.message });
    } finally {
      this.#busy.delete(threadId);
    }
  }

  async #run({ threadId, runId, messages, resume }, emit) {
    const stored = this.#store.read(threadId);
    const entries = resume ?? [];
    const answered = entries.length ? canonical(entries) : null;
    if (answered && answered === stored.answered) {
      if (!stored.events)
        throw new Refused(
          "OUTCOME_UNKNOWN",
          "This answer was received before; its run did not end.",
        );
      for (const event of stored.events)
        emit(event.type === "RUN_FINISHED" ? { ...event, runId } : event);
      return;
    }
    let history = stored.messages;
    let options;
    if (answered) {
      const answers = check(this.#app, entries, stored);
      options = resumeOf(this.#app, history.at(-1).content, answers);
      // From here on these answers are used, whatever happens to this process.
      this.#store.write(threadId, {
        questions: {},
        messages: stored.before,
        answered,
        events: null,
      });
    } else if (Object.keys(stored.questions).length) {
      throw new Refused("PENDING_INTERRUPTS", "This thread waits for answers.");
    } else {
      history = [...history, { role: "user", content: [{ text: userText(messages) }] }];
    }
    const events = [];
    const send = (event) => {
      events.push(event);
      emit(event);
    };
    const changes = {};
    let end;
    try {
      const response = await new GenkitRun(this.#app, send).generate(history, options);
      end = { type: "RUN_FINISHED", threadId, runId, ...this.#outcome(response, changes, stored) };
    } catch (error) {
      console.error("The agent failed on thread %s", threadId, error);
      end = { type: "RUN_ERROR", code: "AGENT_ERROR", message: "The agent failed." };
    }
    if (answered) changes.events = [...events, end];
    this.#store.write(threadId, changes);
    emit(end);
  }

  #outcome(response, changes, stored) {
    const messages = response.messages.filter((message) => message.role !== "system");
    changes.messages = messages;
    const parts = response.interrupts;
    // The conversation before this turn: what is left if its run dies.
    changes.before = parts.length ? (stored.before ?? stored.messages) : null;
    if (!parts.length) return { outcome: { type: "success" } };
    const questions = parts.map((part) => [randomUUID(), part]);
    changes.questions = Object.fromEntries(
      questions.map(([id, part]) => [id, part.toolRequest.ref]),
    );
    const interrupts = questions.map(([id, part]) => interruptOf(this.#app, id, part));
    return { outcome: { type: "interrupt", interrupts } };
  }
}

// -- HTTP -----------------------------------------------------------------------------------------

function problem(request, token) {
  const expected = Buffer.from(`Bearer ${token}`);
  const sent = Buffer.from(request.headers.authorization ?? "");
  if (token && !(sent.length === expected.length && timingSafeEqual(sent, expected)))
    return [401, "The Authorization header is missing or wrong."];
  if (request.method !== "POST") return [405, "POST a RunAgentInput."];
  if (request.headers["content-type"]?.split(";")[0].trim() !== "application/json")
    return [415, "The content type has to be application/json."];
  return null;
}

async function readInput(request) {
  const pieces = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > LARGEST_REQUEST_BYTES) throw new Error("it is too large");
    pieces.push(piece);
  }
  const input = JSON.parse(Buffer.concat(pieces).toString());
  const { threadId, runId, messages, resume } = input;
  const isList = (value) =>
    Array.isArray(value) && value.every((each) => each && typeof each === "object");
  if (typeof threadId !== "string" || typeof runId !== "string") throw new Error("ids are missing");
  if (!isList(messages)) throw new Error("messages are missing");
  if (resume != null && !isList(resume)) throw new Error("resume is no list of answers");
  return input;
}

async function handle(host, token, request, response) {
  let failure = problem(request, token);
  let input;
  if (!failure) {
    try {
      input = await readInput(request);
    } catch (error) {
      failure = [400, `This is no RunAgentInput: ${error.message}.`];
    }
  }
  if (failure) {
    response.writeHead(failure[0], { "content-type": "application/json" });
    response.end(JSON.stringify({ error: failure[1] }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  // To its end, even if the client has gone: what was approved is executed once.
  await host.run(input, (event) => response.write(`data: ${JSON.stringify(event)}\n\n`));
  response.end();
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "8100" },
    data: { type: "string", default: "genkit-host" },
  },
});
const app = await import(pathToFileURL(resolve(positionals[0])).href);
const host = new Host(app, new Store(values.data));
const token = process.env.AGUI_HOST_TOKEN;
createServer((request, response) => {
  handle(host, token, request, response).catch((error) => {
    console.error(error);
    response.destroy();
  });
}).listen(Number(values.port), values.host);
