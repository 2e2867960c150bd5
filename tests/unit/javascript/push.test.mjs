import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";

const { isAppleDevice, stateOf, toBytes, toText } = await import("./push.js");

const able = { isSecure: true, hasPush: true, permission: "default" };

for (const [state, values] of [
  ["insecure", { isSecure: false }],
  ["unsupported", { hasPush: false }],
  ["home", { hasPush: false, isApple: true }],
  ["denied", { permission: "denied", isSubscribed: true }],
  ["off", {}],
  ["off", { permission: "granted" }],
  ["on", { permission: "granted", isSubscribed: true }],
]) {
  test(`a browser with ${JSON.stringify(values)} is in the state ${state}`, () => {
    assert.equal(stateOf({ ...able, ...values }), state);
  });
}

for (const [userAgent, maxTouchPoints, isApple] of [
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)", 5, true],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", 5, true],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", 0, false],
  ["Mozilla/5.0 (X11; Linux x86_64)", 10, false],
]) {
  test(`${userAgent} with ${maxTouchPoints} touch points: ${isApple}`, () => {
    assert.equal(isAppleDevice({ userAgent, maxTouchPoints }), isApple);
  });
}

test("keys are the same after encoding and decoding", () => {
  const bytes = Uint8Array.from({ length: 65 }, (_, index) => (index * 251) % 256);

  const text = toText(bytes.buffer);

  assert.match(text, /^[\w-]{87}$/);
  assert.deepEqual(toBytes(text), bytes);
});
