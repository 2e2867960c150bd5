/**
 * Run calls, and write the arguments with which they ran as JSON lines.
 *
 * `answers <file>`: each line has the texts with which a server answers GET of a request, and the
 * starts of its calls; this process serves them. `live <file>`: each line has a request and the
 * edits of its items, and Signoff is running.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { type RequestSet, type SeveralItems, Signoff } from "signoff-client";

import { decide, edit } from "./desk.js";

interface Answers {
  readonly request: string;
  readonly starts: readonly string[];
}

interface LiveRequest extends SeveralItems {
  readonly edits: Readonly<Record<string, object>>;
}

const [mode = "", file = ""] = process.argv.slice(2);
const lines = readFileSync(file, "utf8").trim().split("\n");

async function runAll(request: RequestSet): Promise<void> {
  for (const item of request.items) {
    let runs = 0;
    await item.run((args) => {
      runs += 1;
      console.log(JSON.stringify(args));
    });
    assert.equal(runs, 1);
  }
}

async function runAnswers(): Promise<void> {
  const answers = lines.map((line) => JSON.parse(line) as Answers);
  const server = createServer((message, response) => {
    const [, , , number, , item, action] = (message.url ?? "").split(/[/?]/);
    const { request = "", starts = [] } = answers[Number(number)] ?? {};
    const texts = { start: starts[Number(item)], report: '{"state": "succeeded"}' };
    message.resume().on("end", () => response.end(texts[action as "start"] ?? request));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const signoff = new Signoff({ url, apiKey: "sk" });
  for (const number of answers.keys()) await runAll(await signoff.get(String(number)));
  server.close();
  server.closeAllConnections();
}

async function runLive(): Promise<void> {
  const signoff = new Signoff();
  for (const line of lines) {
    const { edits, ...members } = JSON.parse(line) as LiveRequest;
    const request = await signoff.ask(members);
    for (const { id } of request.items) {
      await (edits[id] ? edit(request, edits[id], id) : decide(request, { approved: true }, id));
    }
    await runAll(await request.wait());
  }
}

await (mode === "live" ? runLive() : runAnswers());
