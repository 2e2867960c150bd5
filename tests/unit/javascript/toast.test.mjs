import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Element, show } from "./page.mjs";

const stored = new Map();
const posted = [];
globalThis.location = new URL("http://localhost/");
location.assign = (url) => posted.push(`open ${new URL(url).pathname}`);
globalThis.sessionStorage = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, value) => stored.set(key, value),
};
globalThis.setTimeout = () => 0;
globalThis.matchMedia = () => ({ matches: true });
Object.assign(document.querySelector("#main").dataset, { me: "7", url: "/audit/" });
const said = [];
document.body.append = (toast) => said.push(toast);
const { undo } = await import("./toast.js");

const KEY = "signoff.undo.7";
const LATER = Date.now() + 60_000;
let status = 200;
globalThis.fetch = async (url) => {
  posted.push(url);
  return { ok: status < 400, status };
};

function keep(...decisions) {
  stored.set(KEY, JSON.stringify(decisions));
}

function decision(id, until = LATER) {
  return { id, undo: `/interrupts/${id}/withdraw`, until, isLimited: true };
}

function ids() {
  return JSON.parse(stored.get(KEY)).map(({ id }) => id);
}

/** The text of the last toast. */
function text() {
  return said.at(-1).children.at(-1)?.textContent;
}

beforeEach(() => {
  stored.clear();
  posted.length = said.length = 0;
  status = 200;
  Element.prototype.append = function (...children) {
    this.children.push(...children);
  };
  show({});
});

test("an older decision is not undone in place of the newest, which is too late", async () => {
  keep(decision("old"), decision("late", 0));
  await undo();
  assert.deepEqual(posted, []);
  assert.deepEqual(ids(), ["old", "late"]);
  assert.equal(text(), "Too late.");
});

test("the newest decision is undone, and its request opens", async () => {
  keep(decision("old"), decision("new"));
  await undo();
  assert.deepEqual(posted, ["/interrupts/new/withdraw", "open /interrupts/new/"]);
  assert.deepEqual(ids(), ["old"]);
});

test("an undo that the server refuses opens nothing and is not tried again", async () => {
  keep(decision("only"));
  status = 409;
  await undo();
  assert.deepEqual(posted, ["/interrupts/only/withdraw"]);
  assert.deepEqual([ids(), text()], [[], "Too late."]);
});

test("without a connection the decision can still be undone later", async () => {
  keep(decision("only"));
  globalThis.fetch = async () => {
    throw new TypeError("no connection");
  };
  await undo();
  assert.deepEqual([ids(), text()], [["only"], "No connection."]);
});

for (const [name, decisions, expected] of [
  ["after its time", [decision("late", 0)], "Too late."],
  ["without a decision", [], "Nothing to undo."],
]) {
  test(`an undo ${name} says so and sends nothing`, async () => {
    keep(...decisions);
    await undo();
    assert.deepEqual([posted, text()], [[], expected]);
  });
}
