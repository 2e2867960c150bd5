// The second tap of an approval on a phone: it says what is approved, and takes input after the guard.

import { preview } from "./decision_form.js";
import { GUARD_MS, guardPointer } from "./input_owner.js";
import { REFRESHED } from "./refresh.js";

/** Without pointers too: a keyboard may be connected, and a screen reader clicks without one. */
let guardedUntil = 0;
/** The words on screen, of a form that may change meanwhile. */
let words;

function shown() {
  return document.querySelector("#decide-buttons > .confirm");
}

function guard() {
  guardedUntil = performance.now() + GUARD_MS;
  guardPointer();
}

/** Say as which of several approvals it counts; return whether that was another a moment ago. */
function showCounts() {
  const line = document.querySelector("#confirm-counts");
  const text = document.querySelector("#quorum")?.dataset.counts ?? "";
  if (line.textContent === text) return false;
  line.textContent = text;
  return true;
}

function currentWords() {
  return document.querySelector("#confirm").innerHTML;
}

/** Show the confirmation in the place of the buttons, with the values that are in the form. */
export async function ask(button) {
  const isCurrent = await preview(button.form);
  if (!isCurrent || !button.isConnected || shown()) return;
  words = currentWords();
  button.parentElement.append(document.querySelector("#confirm").content.cloneNode(true));
  document.querySelector("#bar").dataset.confirming = "";
  showCounts();
  guard();
  shown().querySelector("button").focus({ preventScroll: true });
}

/** Show the buttons again; return the one that was tapped first. */
function goBack() {
  if (!shown()) return undefined;
  const hadFocus = shown().contains(document.activeElement);
  shown().remove();
  delete document.querySelector("#bar").dataset.confirming;
  const button = document.querySelector("#decide-buttons > [value=approve]");
  if (hadFocus) button.focus({ preventScroll: true });
  guard();
  return button;
}

document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest(".confirm button");
    if (!button) return;
    if (event.timeStamp < guardedUntil) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if ("back" in button.dataset) goBack();
    else if (words !== currentWords()) {
      event.preventDefault();
      ask(goBack());
    }
  },
  true,
);

// Something else would be approved than the confirmation says.
document.addEventListener("input", ({ target }) => target.form?.id === "decision" && goBack());
document.addEventListener(REFRESHED, () => shown() && showCounts() && guard());
addEventListener("pageshow", ({ persisted }) => persisted && goBack());

// The approval was refused or did not arrive: the bar says why, and has all its buttons again.
document.addEventListener("htmx:afterRequest", ({ detail: { elt, xhr } }) => {
  if (elt.id === "decision" && !xhr.getResponseHeader("HX-Redirect")) goBack();
});
