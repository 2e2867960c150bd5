import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Element, show } from "./page.mjs";

const stored = new Map();
globalThis.localStorage = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, value) => stored.set(key, value),
  removeItem: (key) => stored.delete(key),
};
/** The names and values of a form that the browser would send. */
globalThis.FormData = class extends Array {
  constructor(form) {
    super(...form.sent);
  }
};
Object.assign(document.querySelector("#main").dataset, { me: "7", interrupt: "a-request" });
const { dropDraft, endDraft, saveDraft } = await import("./drafts.js");

const KEY = "signoff.draft.7.a-request.a-digest";
const SENT = [
  ["csrfmiddlewaretoken", "a-token"],
  ["editing", "amount"],
  ["args/amount", "31"],
];

/** Show a request; `stores` says that its values may be stored in this browser. */
function open({ sent = SENT, isUnsent = true, stores = true, comment = "", signedOut = false }) {
  const form = new Element({ sent, elements: { view_digest: { value: "a-digest" } } });
  form.removeAttribute = (name) => form.attributes.delete(name);
  const answer = new Element({ removeAttribute() {} });
  show({
    "#decision": form,
    "#answer": answer,
    ...(stores ? { "#answer[data-drafts]": answer } : {}),
    ...(isUnsent ? { "#decision[data-unsent]": form } : {}),
    "#f-comment": { value: comment },
    ...(signedOut ? { "#signed-out:not([hidden])": new Element() } : {}),
  });
}

beforeEach(() => stored.clear());

test("a draft has the edited values and which of them were edited", () => {
  open({});
  assert.equal(saveDraft(), true);
  assert.deepEqual(JSON.parse(stored.get(KEY)).entries, SENT.slice(1));
});

test("confirmations are not stored: they are given anew", () => {
  open({ sent: [["seen", "on"], ["unseen", "on"], ["opened", "f-args"], ["reason", "Twice"]] });
  saveDraft();
  assert.deepEqual(JSON.parse(stored.get(KEY)).entries, [["reason", "Twice"]]);
});

test("a comment is stored without the values that nobody edited", () => {
  open({ isUnsent: false, comment: "Ask Ana" });
  saveDraft();
  assert.deepEqual(JSON.parse(stored.get(KEY)).entries, []);
  assert.equal(JSON.parse(stored.get(KEY)).comment, "Ask Ana");
});

test("a draft that was taken back is removed", () => {
  open({});
  saveDraft();
  open({ isUnsent: false });
  assert.equal(saveDraft(), true);
  assert.equal(stored.size, 0);
});

test("values that may be secret are not stored, and leaving would lose them", () => {
  open({ stores: false });
  assert.equal(saveDraft(), false);
  assert.equal(stored.size, 0);
});

test("a page that was signed out in another tab stores no draft", () => {
  open({ signedOut: true });
  assert.equal(saveDraft(), true);
  assert.equal(stored.size, 0);
});

test("a hidden page removes no draft that another tab has stored", () => {
  open({});
  saveDraft();
  open({ isUnsent: false, signedOut: true });
  assert.equal(saveDraft(), true);
  assert.equal(stored.size, 1);
});

test("leaving a hidden page would lose values that may be secret", () => {
  open({ signedOut: true, stores: false });
  assert.equal(saveDraft(), false);
});

test("a chosen file cannot be stored, so leaving would lose it", () => {
  open({ sent: [["file", { size: 3 }]] });
  assert.equal(saveDraft(), false);
});

test("without room in the browser leaving would lose the draft", () => {
  open({});
  const { setItem } = localStorage;
  localStorage.setItem = () => {
    throw new Error("quota");
  };
  assert.equal(saveDraft(), false);
  localStorage.setItem = setItem;
});

for (const [name, forget] of [["dropped", dropDraft], ["sent", endDraft]]) {
  test(`a draft that was ${name} is forgotten`, () => {
    open({});
    saveDraft();
    forget();
    assert.equal(stored.size, 0);
  });
}
