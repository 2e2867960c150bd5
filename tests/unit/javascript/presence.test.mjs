import assert from "node:assert/strict";
import { test } from "node:test";

import { Element, show } from "./page.mjs";

const { setPresence } = await import("./presence.js");

function present(message) {
  const label = new Element();
  const place = new Element();
  const live = new Element({ dataset: { state: "on" }, parts: { "#live-text": label } });
  show({ "#live": live, "#presence": place });
  setPresence(message);
  return { label: label.textContent, parts: place.children.map((part) => part.textContent) };
}

const readers = (...names) => names.map((name) => ({ name, initials: name[0], hue: 1 }));

test("a reader alone sees that the page is live", () => {
  assert.deepEqual(present({ here: [], online: 1 }), { label: "Live", parts: [] });
});

test("other readers of the request are shown with their names", () => {
  assert.deepEqual(present({ here: readers("Ada", "Bo"), online: 3 }), {
    label: "3 online",
    parts: ["A", "B", "Ada and Bo are here"],
  });
});

test("at most four avatars are shown", () => {
  const { parts } = present({ here: readers("A", "B", "C", "D", "E"), online: 5 });
  assert.equal(parts.length, 5);
});
