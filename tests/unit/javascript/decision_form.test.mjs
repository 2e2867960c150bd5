import assert from "node:assert/strict";
import { test } from "node:test";

import { Element, show } from "./page.mjs";

const { isUndecided, lock, markUnsent, unlock } = await import("./decision_form.js");

function isUnsent(...fields) {
  const form = new Element({ elements: fields.map((field) => new Element(field)) });
  show({ "#decision": form });
  markUnsent();
  return form.attributes.has("data-unsent");
}

for (const [name, field, expected] of [
  ["an edited text", { type: "text", value: "new", defaultValue: "old" }, true],
  ["an untouched text", { type: "text", value: "old", defaultValue: "old" }, false],
  ["a hidden field", { type: "hidden", value: "new", defaultValue: "old" }, false],
  ["a ticked box", { type: "checkbox", name: "ok", checked: true, defaultChecked: false }, true],
  ["an opened part", { type: "checkbox", name: "opened", checked: true, defaultChecked: false }, false],
  ["another option", { options: [{ selected: true, defaultSelected: false }] }, true],
  ["the same option", { options: [{ selected: true, defaultSelected: true }] }, false],
]) {
  test(`${name} ${expected ? "marks" : "does not mark"} the form as unsent`, () => {
    assert.equal(isUnsent(field), expected);
  });
}

test("a restructured form stays unsent", () => {
  const form = new Element({ elements: [], dataset: { kept: "" } });
  show({ "#decision": form });
  markUnsent();
  assert.ok(form.attributes.has("data-unsent"));
});

test("a locked form is unlocked with the fields that were enabled before", () => {
  const text = new Element({ selectors: ["textarea, input:not([type=radio], [type=checkbox])"] });
  const button = new Element();
  const disabled = new Element({ disabled: true, selectors: ["fieldset, :disabled"] });
  const form = new Element({ elements: [text, button, disabled] });

  lock(form);
  assert.deepEqual([text.readOnly, button.disabled], [true, true]);
  unlock(form);

  assert.deepEqual([text.readOnly, button.disabled, disabled.disabled], [false, false, true]);
});

for (const [mode, expected] of [["open", true], ["claimed", true], ["decided", false]]) {
  test(`a request that is ${mode} is ${expected ? "" : "not "}undecided`, () => {
    assert.equal(isUndecided({ dataset: { mode } }), expected);
  });
}
