import assert from "node:assert/strict";
import { test } from "node:test";

import { Element, show } from "./page.mjs";

const listeners = { pointerdown: [], pointerup: [], keydown: [] };
globalThis.addEventListener = (name, listener) => listeners[name]?.push(listener);
const { noteView } = await import("./input_owner.js");

const ASSIGN = { clientX: 150, clientY: 20 };
const LIST = { clientX: 50, clientY: 20 };

function showRequest(properties) {
  const box = { left: 100, right: 400, top: 0, bottom: 300 };
  const detail = new Element({ ...properties, getBoundingClientRect: () => box });
  show({ "#detail": detail });
  return detail;
}

function elementIn(detail, properties = {}) {
  return { isConnected: true, closest: (selector) => (selector === "#detail" ? detail : null), ...properties };
}

function send(name, event) {
  const sent = { ...event, preventDefault: () => (sent.isDropped = true), stopImmediatePropagation: () => {} };
  for (const listener of listeners[name]) listener(sent);
  return sent.isDropped === true;
}

let presses = 0;

/** Press and release, let the next request appear, and type a letter after it did. */
function typesAfter(target, place) {
  // What was typed before is long ago.
  const at = performance.now() + 10_000 * ++presses;
  send("pointerdown", { target, ...place, timeStamp: at });
  if (target.isReplaced) target.isConnected = false;
  send("pointerup", { target, ...place, timeStamp: at });
  noteView({ followsDecision: true });
  const body = { closest: () => null };
  return send("keydown", { key: "r", target: body, isTrusted: true, timeStamp: at + 70 });
}

for (const [press, isDropped, isInert, isReplaced, place] of [
  ["on a request that takes no input", true, true, false, ASSIGN],
  ["on an element that is replaced", true, false, true, ASSIGN],
  ["on an element that stays", false, false, false, ASSIGN],
  ["beside a request that takes no input", false, true, false, LIST],
]) {
  test(`a letter after a press ${press} is ${isDropped ? "dropped" : "a shortcut"}`, () => {
    const detail = showRequest({ inert: isInert });
    // An element that is inert gets no events: its parent does.
    const target = elementIn(isInert ? null : detail, { isReplaced });
    assert.equal(typesAfter(target, place), isDropped);
  });
}
