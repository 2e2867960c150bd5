import assert from "node:assert/strict";
import { test } from "node:test";

import { Element } from "./page.mjs";

const handlers = new Map();
document.addEventListener = (type, handler) => handlers.set(type, handler);
const { rememberHtml } = await import("./swap.js");

/** Return whether a part of the page is replaced when the server sends it again. */
function isSwapped(before, after) {
  const part = new Element({
    id: "part",
    outerHTML: before,
    contains: () => false,
    querySelectorAll: () => [],
  });
  rememberHtml({ querySelectorAll: () => [part] });
  const sent = new Element({ outerHTML: after });
  const detail = { target: part, fragment: { firstElementChild: sent } };
  handlers.get("htmx:oobBeforeSwap")({ detail });
  return detail.shouldSwap;
}

const form = (token) =>
  `<form><input type="hidden" name="csrfmiddlewaretoken" value="${token}"></form>`;
const text = (amount) => `<p> name="csrfmiddlewaretoken" value="${amount}"</p>`;

test("a part that changed is swapped", () => assert(isSwapped("<p>310</p>", "<p>31</p>")));

test("a form with another CSRF token stays", () => assert(!isSwapped(form("abc"), form("def"))));

test("a text that looks like a CSRF token is swapped when it changes", () =>
  assert(isSwapped(text(310), text(31))));
