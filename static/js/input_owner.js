// Whose input it is: a key, a click or a tap belongs to what was on screen when it was made.
//
// Each request that is shown is an object of its own. Input that arrives when another request is on
// screen is dropped. After a decision the next request has its buttons where the last one had them:
// they take a pointer only once it has moved or some time has passed, and never a double click.

import { main, messages } from "./page.js";

/** A double click may take half a second, and an impatient one longer. */
export const GUARD_MS = 700;
const MOVED_PIXELS = 10;
/** Somebody who types leaves no longer pauses between two keys. */
const TYPING_MS = 700;
const BARS = "#bar, .review-bar";
const DECIDES = `:is(${BARS}) :is(a, button), #decision button[name=action], #toast button, #sheet .choice`;
const FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select";
/** Set while a decision leaves this page: the next one has its buttons where this one had them. */
const FOLLOWS = "signoff.follows";

/** The request on screen, with the time from which input is for it. */
let view = { at: 0, followsDecision: false };
/** The decision that is being sent: a promise of whether it was recorded, and how to settle it. */
let sending;
let sentAt = -Infinity;
/** Whether the request on screen is decided, and the next one not shown yet. */
let isLeaving = false;
/** The link that was followed while a decision was being sent. */
let nextAddress;
/** Until when the buttons take no pointer, and where it was; undefined after it has moved. */
let guard;
let guardTimer;
let pointer;
/**
 * When a key was last pressed in a field or a dialog, and whether the rest of what is being typed is
 * dropped: its field is gone, and the letters are no shortcuts.
 */
let typedAt = -Infinity;
let isTypingDropped = false;
/** The element of the request that is pressed, null if the request took no input by then. */
let pressed;

// -- what is on screen ------------------------------------------------------------------------------

/** Return the request on screen, to compare later. */
export function currentView() {
  return view;
}

/** Note that another request is on screen, or the same one anew. */
export function noteView({ followsDecision = false } = {}) {
  view = { at: performance.now(), followsDecision };
  noteStays();
  if (document.querySelector("#sheet[open]")) closeSheet();
  if (followsDecision) guardPointer();
}

/** Note that another request is being opened, which takes the focus out of the fields of this one. */
export function noteOpening() {
  if (isTypingIn(document.activeElement) && typedAt > sentAt) isTypingDropped = true;
}

/** Note that a request stays on screen: it is shown, or the next one could not be read. */
export function noteStays() {
  isLeaving = false;
  sessionStorage.removeItem(FOLLOWS);
}

/** Return whether the request on screen is decided or about to be, so that keys are not for the next. */
export function isBeingLeft() {
  return isLeaving;
}

/** Return whether a form decides the request that is on screen and takes input. */
export function isOfShown(form) {
  const id = form.getAttribute("action").split("/")[2];
  return form.isConnected && !form.closest("[inert]") && id === main.dataset.interrupt;
}

/** Say beside the buttons why nothing happened; a confirmation has its line instead. */
function say() {
  const problem = document.querySelector("#bar:not([data-confirming]) #problem, .review #problem");
  if (!problem) return;
  problem.textContent = messages.notForThis;
  problem.dataset.late = "";
  problem.hidden = false;
}

function unsay() {
  const problem = document.querySelector("#problem[data-late]");
  if (!problem) return;
  delete problem.dataset.late;
  problem.hidden = true;
}

function drop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

// -- decisions on their way -------------------------------------------------------------------------

export function startSending() {
  sentAt = performance.now();
  sending = {};
  sending.isRecorded = new Promise((resolve) => (sending.settle = resolve));
  isLeaving = true;
  nextAddress = undefined;
  sessionStorage.setItem(FOLLOWS, "1");
}

/** Settle the decision that was sent; return the link that was followed meanwhile, if it was recorded. */
export function endSending(isRecorded) {
  if (!sending) return undefined;
  sending.settle(isRecorded);
  sending = undefined;
  if (isRecorded) return nextAddress;
  noteStays();
  return undefined;
}

/** Return whether a decision about several requests is being sent, after which another page loads. */
export function isBulkBeingSent() {
  return sending !== undefined && document.querySelector(".review") !== null;
}

/** Return a promise of whether the decision that is being sent is recorded, undefined without one. */
export function decisionBeingSent() {
  return sending?.isRecorded;
}

// A link that leaves the page would abort the request that decides: it is followed afterwards.
function followLater(event) {
  const link = event.target.closest("a[href]");
  const { button, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (!sending || !link || link.target || button || ctrlKey || metaKey || shiftKey || altKey)
    return;
  if (link.matches("[data-sheet]") || (link.hash && link.pathname === location.pathname)) return;
  drop(event);
  nextAddress = link.href;
}

addEventListener("click", followLater, true);

// The decision about several requests is a page of its own. It is sent once.
addEventListener("submit", (event) => {
  if (event.defaultPrevented || !event.target.matches(".review")) return;
  if (sending) event.preventDefault();
  else startSending();
});

// Back again, from the memory of the browser.
addEventListener("pageshow", ({ persisted }) => persisted && endSending(false));

// -- pointers -----------------------------------------------------------------------------------------

/** Let the buttons take no pointer until it moves: others are under it now than a moment ago. */
export function guardPointer() {
  clearTimeout(guardTimer);
  guardTimer = setTimeout(showGuard, GUARD_MS, false);
  const at = performance.now();
  guard = { at, until: at + GUARD_MS, from: pointer };
  showGuard(true);
}

function showGuard(isOn) {
  document.documentElement.toggleAttribute("data-guarded", isOn);
}

function isGuarded({ timeStamp }) {
  return guard !== undefined && timeStamp < guard.until;
}

function noteMove({ clientX: x, clientY: y, pointerType, timeStamp }) {
  if (guard && pointerType !== "touch" && timeStamp >= guard.at) {
    guard.from ??= { x, y };
    if (Math.hypot(x - guard.from.x, y - guard.from.y) > MOVED_PIXELS) {
      guard = undefined;
      showGuard(false);
    }
  }
  pointer = { x, y };
}

for (const name of ["pointermove", "pointerdown"]) {
  addEventListener(name, noteMove, { capture: true, passive: true });
}

addEventListener(
  "click",
  (event) => {
    const { target, detail, timeStamp } = event;
    // A key or a script pressed it.
    if (!detail) return;
    const isLateHere = timeStamp < view.at && target.closest("#detail");
    const isHeld = isGuarded(event) && target.closest(`${DECIDES}, ${BARS}`);
    if (!isLateHere && !isHeld && (detail === 1 || !target.closest(DECIDES))) {
      unsay();
      return;
    }
    drop(event);
    if (detail > 1) return;
    say();
    if (isLateHere) dropTyping(timeStamp);
  },
  true,
);

addEventListener(
  "pointerdown",
  ({ target, clientX: x, clientY: y }) => {
    const detail = document.querySelector("#detail");
    const { left, right, top, bottom } = detail?.getBoundingClientRect() ?? {};
    const isOnInert = detail?.inert && x >= left && x < right && y >= top && y < bottom;
    pressed = isOnInert ? null : target.closest("#detail") ? target : undefined;
  },
  true,
);

// Browsers send no click for a press whose element is gone when it ends, or was inert when it began.
addEventListener(
  "pointerup",
  ({ timeStamp }) => {
    if (pressed === null || pressed?.isConnected === false) {
      say();
      dropTyping(timeStamp);
    }
    pressed = undefined;
  },
  true,
);

// -- keys ---------------------------------------------------------------------------------------------

function isTypingIn(element) {
  return element.closest(`${FIELDS}, dialog`) !== null;
}

/** Drop what is typed next without a pause: the dialog or the field that it is for has no keys. */
function dropTyping(timeStamp) {
  typedAt = timeStamp;
  isTypingDropped = true;
}

/** Close the dialog although its reader may be typing into it. */
export function closeSheet() {
  document.querySelector("#sheet").close();
  dropTyping(performance.now());
}

function isStillTyping({ target, timeStamp }) {
  if (isTypingDropped) isTypingDropped = !isTypingIn(target) && timeStamp - typedAt < TYPING_MS;
  return isTypingDropped;
}

/** Return whether a key was pressed before the request on screen was shown. */
function isLate({ key, target, timeStamp }) {
  // Undo is about the decision that was sent before it, whatever is on screen by now.
  if (timeStamp >= view.at || isTypingIn(target) || key === "u") return false;
  // After j the letters wait for the next request; only it can be decided, once it is on screen.
  return view.followsDecision || key === "Enter" || key === " ";
}

addEventListener(
  "keydown",
  (event) => {
    const isDropped = isStillTyping(event) || (event.isTrusted && isLate(event));
    if (!event.repeat && (isTypingIn(event.target) || isTypingDropped)) typedAt = event.timeStamp;
    if (!isDropped) {
      unsay();
      return;
    }
    drop(event);
    say();
  },
  true,
);

if (sessionStorage.getItem(FOLLOWS)) {
  sessionStorage.removeItem(FOLLOWS);
  guardPointer();
}
