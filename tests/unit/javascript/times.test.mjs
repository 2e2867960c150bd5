import assert from "node:assert/strict";
import { test } from "node:test";

import { Element, show } from "./page.mjs";

const { showTimes } = await import("./times.js");

const NOW = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function render(format, milliseconds) {
  const at = new Date(NOW + milliseconds).toISOString();
  const time = new Element({ dateTime: at, dataset: { as: format, at: "19 Nov, 12:00" } });
  show({ "time[data-as]": [time] });
  showTimes();
  return time;
}

test.beforeEach((context) => context.mock.timers.enable({ apis: ["Date"], now: NOW }));

for (const [format, milliseconds, text] of [
  ["age", -30_000, "now"],
  ["age", -4 * MINUTE, "4 min"],
  ["age", -90 * MINUTE, "1 h"],
  ["ago", -30_000, "just now"],
  ["ago", -4 * MINUTE, "4 min ago"],
  ["ago", -3 * HOUR, "3 h ago"],
  ["left", -1, "now"],
  ["left", 9 * MINUTE + 5_000, "9:05 left"],
  ["left", 11 * MINUTE, "11 min left"],
  ["left", 5 * HOUR, "5 h left"],
  ["in", 30 * MINUTE, "in 30 min"],
  ["in", 5 * HOUR, "in 5 h"],
]) {
  test(`${format} of ${milliseconds} ms is "${text}"`, () => {
    assert.equal(render(format, milliseconds).textContent, text);
  });
}

test("a time that is older than a day is as the server wrote it", () => {
  assert.equal(render("ago", -48 * HOUR).textContent, "19 Nov, 12:00");
});

test("a near deadline is its clock and two units", () => {
  assert.equal(render("due", 2 * HOUR + 14 * MINUTE).textContent, "12:00, 2 h 14 min left");
});

test("the title of a time is the full time", () => {
  assert.match(render("age", 0).title, /^(Saturday,? 21|Sunday,? 22) November 2026/);
});
