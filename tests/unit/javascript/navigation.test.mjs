import assert from "node:assert/strict";
import { test } from "node:test";

import { Element, show } from "./page.mjs";

globalThis.location = new URL("http://localhost/");
/** What hides the page of somebody who signed out. */
const notice = new Element({
  hidden: true,
  parts: { a: {}, h2: { textContent: "Signed out" } },
});
show({ "#signed-out": notice });
const { canOpen, openRequest, opensHere } = await import("./navigation.js");

const ID = "01a20da4-0ff8-7186-a44e-0f75bfd0834e";

function openList(url) {
  document.querySelector("#main").dataset.url = url;
  show({ "#list #rows": new Element() });
}

for (const [list, link, expected] of [
  ["/", `/interrupts/${ID}/`, true],
  ["/", `/interrupts/${ID}/?done=${ID}`, true],
  ["/", `/interrupts/${ID}/#f-reason`, true],
  ["/?sort=new", `/interrupts/${ID}/?sort=new`, true],
  ["/?sort=new", `/interrupts/${ID}/`, false],
  ["/decided/", `/decided/${ID}/`, true],
  ["/decided/", `/interrupts/${ID}/`, false],
  ["/", `/decided/${ID}/`, false],
  ["/", `/interrupts/${ID}/assign`, false],
  ["/", `http://elsewhere.example/interrupts/${ID}/`, false],
]) {
  test(`${link} is ${expected ? "" : "not "}opened beside the list ${list}`, () => {
    openList(list);
    assert.equal(canOpen(new URL(link, location)), expected);
  });
}

test("without a list beside it every request is a page of its own", () => {
  openList("/");
  show({});
  assert.equal(canOpen(new URL(`/interrupts/${ID}/`, location)), false);
});

for (const [place, isWide, isChosen, expected] of [
  ["a wide screen", true, false, true],
  ["the list of a phone", false, false, false],
  ["a request on a phone", false, true, true],
]) {
  test(`on ${place} a click ${expected ? "swaps" : "loads"} the request`, () => {
    globalThis.matchMedia = () => ({ matches: isWide });
    openList("/");
    show({ "#list #rows": new Element(), ...(isChosen ? { "#detail.is-chosen": new Element() } : {}) });
    assert.equal(opensHere(new URL(`/interrupts/${ID}/`, location)), expected);
  });
}

test("a request that another reader's session returns is not shown on this page", async () => {
  openList("/");
  Object.assign(document.querySelector("#main").dataset, { me: "7" });
  const detail = new Element({ replaceWith: () => assert.fail("it was shown") });
  show({ "#list #rows": new Element(), "#detail": detail, "#signed-out": notice });
  const left = [];
  Object.assign(location, { reload() {}, assign: ({ pathname }) => left.push(pathname) });
  globalThis.fetch = async () =>
    new Response("", { headers: { "X-Signoff-Reader": "8", "X-Signoff-Session-Ends": "0" } });

  assert.equal(await openRequest(`http://localhost/interrupts/${ID}/`), false);

  assert.deepEqual(left, [`/interrupts/${ID}/`]);
  assert.equal(notice.hidden, false);
});
