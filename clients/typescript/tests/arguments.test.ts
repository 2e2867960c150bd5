import assert from "node:assert/strict";
import { test } from "node:test";

import { Signoff } from "signoff-client";

import { answer, faultyServer } from "./faulty.js";

const CIRCULAR: Record<string, unknown> = {};
CIRCULAR["self"] = CIRCULAR;

const REFUSED: [string, object, RegExp][] = [
  ["NaN", { a: NaN }, /the request\.args\.a is NaN/],
  ["Infinity", { a: [1, -Infinity] }, /args\.a\[1\] is -Infinity/],
  ["2^53", { a: 2 ** 53 }, /2\^53/],
  ["-1e20", { a: -1e20 }, /2\^53/],
  ["a bigint", { a: 1n }, /bigint/],
  ["a Date", { at: new Date(0) }, /a Date/],
  ["a Map", { a: new Map() }, /a Map/],
  ["a class", { a: new (class Money {})() }, /a Money/],
  ["a function", { a: () => 1 }, /function/],
  ["a hole", { a: [1, undefined] }, /undefined/],
  ["half of a character", { a: "\ud83d" }, /half of a character/],
  ["half of a character in a name", { "\udc00": 1 }, /half of a character/],
  ["itself", CIRCULAR, /contains itself/],
];

for (const [name, args, message] of REFUSED) {
  test(`arguments that JSON does not have are refused: ${name}`, async (t) => {
    const server = await faultyServer(t, answer({}));
    const signoff = new Signoff({ url: server.url, apiKey: "sk" });

    for (const may_edit of [false, true]) {
      await assert.rejects(signoff.ask({ tool: "t", args, may_edit }), (error) => {
        assert.ok(error instanceof TypeError);
        assert.match(error.message, may_edit ? /./ : message);
        return true;
      });
    }

    assert.deepEqual(server.requests, []);
  });
}

test("members that are undefined are left out, and numbers are kept", async (t) => {
  const server = await faultyServer(t, answer({ id: "r", url: "/", items: [] }));
  const args = { a: undefined, b: 1e21, c: -0, d: 2 ** 53 - 1, e: 5e-324, __proto__: null };

  await new Signoff({ url: server.url, apiKey: "sk" }).ask({ tool: "t", args });

  const body = JSON.parse(server.requests[0]?.body ?? "") as { args: object };
  assert.deepEqual(body.args, { b: 1e21, c: 0, d: 9007199254740991, e: 5e-324 });
});
