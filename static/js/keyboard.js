// Keyboard shortcuts.

import { isBeingLeft } from "./input_owner.js";
import { move as openNeighbour, whenOpened } from "./navigation.js";
import { messages } from "./page.js";
import { isRejecting, startRejecting, stopRejecting } from "./reject_note.js";
import { undo } from "./toast.js";
import { startEditing } from "./values.js";

const KEYS_OFF = "signoff.keys-off";

export function areKeysOff() {
  return localStorage.getItem(KEYS_OFF) !== null;
}

/** The keys about the request on screen: once that is decided they do not wait for the next one. */
const REQUEST_KEYS = "jkedaryncbxJKv123456";

/** The first key of a pair such as `g p`, until the time for the second is over. */
let pair = "";

const keys = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => focusOn("#search"),
  e: onFocusedRequest(startEditing),
  d: onFocusedRequest(() => focusOn("#changes-title")),
  a: onFocusedRequest(startAccepting),
  r: onFocusedRequest(reject),
  y: onFocusedRequest(() => focusOn("#decide-buttons button[value=yes]")),
  n: onFocusedRequest(() => focusOn("#decide-buttons button[value=no]")),
  b: openQuestion,
  c: onFocusedRequest(() => press("[data-key=c]")),
  u: () => undo(),
  x: () => whenOpened(() => select(focusedRow())),
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((number) => [number, () => focusOn(`[data-option="${number}"]`)]),
  ),
  J: () => extend(1),
  K: () => extend(-1),
  v: review,
  g: () => {
    pair = "g";
    setTimeout(() => (pair = ""), 1000);
  },
  "g p": () => press("[data-key='g p']"),
  "g d": () => press("[data-key='g d']"),
  "g r": () => press("[data-key='g r']"),
  "?": () => document.querySelector("#keys")?.showModal(),
};

/** Return whether an element is visible: keys do not act on elements off screen. */
function isOnScreen(element) {
  if (!element?.checkVisibility()) return false;
  const box = element.getBoundingClientRect();
  const pane = element.closest(".list-scroll, .detail-scroll")?.getBoundingClientRect();
  const top = Math.max(0, pane?.top ?? 0);
  const bottom = Math.min(innerHeight, pane?.bottom ?? innerHeight);
  return box.bottom > top && box.top < bottom;
}

function focusOn(selector) {
  const element = document.querySelector(selector);
  if (!element?.checkVisibility()) return;
  element.focus();
  element.scrollIntoView({ block: "nearest" });
}

function press(selector) {
  const element = document.querySelector(selector);
  if (element?.checkVisibility()) element.click();
}

/** Open the next request; in other lists move the focus to another row. */
function move(step) {
  if (document.querySelector("#list #rows")) {
    openNeighbour(step);
    return;
  }
  const links = [...document.querySelectorAll(".row-title")].filter((link) =>
    link.checkVisibility(),
  );
  const focused = links.indexOf(document.activeElement);
  const open = links.findIndex((link) => link.closest("[aria-current]"));
  const next = focused >= 0 ? focused + step : open >= 0 && step ? open + step : 0;
  links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
}

/** The row that has the focus, or else the open one. */
function focusedRow() {
  return (
    document.activeElement.closest(".row") ?? document.querySelector("#rows .row[aria-current]")
  );
}

/** Select a row for a bulk decision; a row off screen is only scrolled into view. */
function select(row) {
  if (!row) return;
  const wasOnScreen = isOnScreen(row);
  row.scrollIntoView({ block: "nearest" });
  if (wasOnScreen) row.querySelector("input[type=checkbox]")?.click();
}

/** Run `act` on the open request; if another row has the focus, open that row instead. */
function onFocusedRequest(act) {
  return () => {
    const row = document.activeElement.closest(".row:not([aria-current])");
    if (row) row.querySelector(".row-title").click();
    else whenOpened(act);
  };
}

function startAccepting() {
  stopRejecting();
  focusOn(".decide-buttons button[aria-keyshortcuts~=a]");
}

/** Focus the note, in which Enter rejects; without a note, focus the button. */
function reject() {
  if (!startRejecting()) focusOn(".decide-buttons button[aria-keyshortcuts~=r]");
}

/** Submit with Ctrl+Enter: it decides only on a button and in the reject mode. */
function send() {
  const { activeElement } = document;
  if (activeElement.form && activeElement.form.id !== "decision") {
    if (activeElement.matches("button")) activeElement.click();
    else activeElement.form.requestSubmit();
    return;
  }
  const button = activeElement.closest("#decide-buttons button");
  if (button) {
    if (isOnScreen(button)) button.click();
  } else if (activeElement.id === "f-reason") {
    sendNote();
  } else {
    focusOn("#decide-buttons button");
  }
}

/** Reject with the note in the reject mode; otherwise a note alone does not decide. */
function sendNote() {
  if (isRejecting()) {
    press("#decide-buttons button[value=reject]");
    return;
  }
  focusOn("#decide-buttons");
  const problem = document.querySelector("#problem");
  problem.textContent = messages.chooseButton;
  problem.hidden = false;
}

/** Leave the field, or go back to the list. */
function leave(field) {
  if (document.querySelector("dialog[open], [popover]:popover-open")) return;
  const row = document.querySelector("#list .row[aria-current] .row-title");
  if (field) field.blur();
  else if (row?.checkVisibility()) row.focus();
  else document.querySelector("[data-key=Escape]")?.click();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const field = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    // A repeated key would answer the next request as soon as it opens.
    if (!event.repeat) send();
  } else if (event.key === "Enter" && event.target.id === "f-reason") {
    event.preventDefault();
    if (!event.repeat) sendNote();
  } else if (event.key === "Escape") {
    leave(field);
  } else if (isPlain && !field && !areKeysOff()) {
    if (document.querySelector("dialog[open]")) return;
    const act = keys[pair ? `${pair} ${event.key}` : event.key];
    const isOfRequest = !pair && REQUEST_KEYS.includes(event.key);
    pair = "";
    if (!act) return;
    event.preventDefault();
    if (!isOfRequest || !isBeingLeft()) act();
  }
});

const keysSwitch = document.querySelector("#keys-on");
if (keysSwitch) {
  keysSwitch.checked = !areKeysOff();
  keysSwitch.addEventListener("change", () => {
    if (keysSwitch.checked) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, "1");
  });
}

// -- the question to the agent: `b` opens it, Ctrl+Enter in it sends it, Esc closes it -----------------

/** Show the text field of the question, and focus it. */
function openQuestion() {
  const details = document.querySelector("#ask-back");
  if (!details?.checkVisibility()) return;
  details.open = true;
  details.querySelector("textarea").focus();
}

document.addEventListener(
  "keydown",
  (event) => {
    const { target, key } = event;
    if (target.id !== "f-feedback" || event.isComposing) return;
    if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) target.closest("details").querySelector("button").click();
    } else if (key === "Escape") {
      event.stopPropagation();
      target.closest("details").open = false;
      target.closest("details").querySelector("summary").focus();
    }
  },
  true,
);

// -- selecting rows of a list, for a review of several requests ------------------------------------

/** Select the focused or open row and the next one, and go there. */
function extend(step) {
  const rows = [...document.querySelectorAll("#rows .row:has(> .row-pick)")];
  const row =
    document.activeElement.closest("#rows .row") ??
    document.querySelector("#rows .row[aria-current]");
  const index = rows.indexOf(row);
  const next = index < 0 ? rows[0] : rows[index + step];
  if (index >= 0) pick(row);
  if (!next) return;
  const fold = next.closest("[data-fold]");
  if (fold) fold.open = true;
  pick(next);
  next.querySelector(".row-title").focus();
}

function pick(row) {
  row.querySelector(".row-check").checked = true;
}

/** Open the page on which the selected requests are decided. */
function review() {
  if (document.querySelector(".row-check:checked")) {
    document.querySelector("#selection").requestSubmit();
  }
}
