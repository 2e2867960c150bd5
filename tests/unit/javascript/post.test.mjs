import assert from "node:assert/strict";
import { test } from "node:test";

import { Element, show } from "./page.mjs";

const { postHeaders, report } = await import("./post.js");

for (const [status, text] of [
  [0, "No connection."],
  [401, "Sign in."],
  [403, "Not allowed."],
  [404, "Not found."],
  [500, "Something went wrong."],
]) {
  test(`status ${status} is reported as "${text}"`, () => {
    const problem = new Element({ hidden: true });
    show({ "#problem": problem });

    report(status);

    assert.deepEqual([problem.textContent, problem.hidden], [text, false]);
  });
}

test("a post has the CSRF token of the cookie", () => {
  assert.equal(postHeaders()["X-CSRFToken"], "a-token");
});
