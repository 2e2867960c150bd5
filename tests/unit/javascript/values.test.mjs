import assert from "node:assert/strict";
import { test } from "node:test";

import { show } from "./page.mjs";

const { editFirst } = await import("./values.js");

/** An Edit button; `pressed` collects the names of those that were pressed. */
function button(name, pressed, { isNumber = false, isVisible = true } = {}) {
  return {
    checkVisibility: () => isVisible,
    closest: () => ({ querySelector: () => (isNumber ? {} : null) }),
    click: () => pressed.push(name),
  };
}

for (const [name, options, expected] of [
  ["the first number", [{}, { isNumber: true }, { isNumber: true }], [1]],
  ["the first value without a number", [{}, {}], [0]],
  ["no value that is not visible", [{ isNumber: true, isVisible: false }, {}], [1]],
  ["nothing without a value to edit", [{ isVisible: false }], []],
]) {
  test(`the key for editing edits ${name}`, () => {
    const pressed = [];
    show({ "#answer [data-edit]": options.map((each, index) => button(index, pressed, each)) });
    assert.equal(editFirst(), expected.length > 0);
    assert.deepEqual(pressed, expected);
  });
}
