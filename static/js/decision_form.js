// The decision form: unsent edits, the preview of changes, and locking.

import { postHeaders, report } from "./post.js";

const PREVIEW_DELAY_MS = 250;
/** The texts in the bar, which has their fields only for whom it offers a decision. */
export const BAR_TEXTS = ["reason", "other_note", "feedback"];

/** The parts in which the server says what the answer in the form would do. */
const PREVIEWED = ["changes", "title-words", "approve-label", "confirm"];

export function isChanged(field) {
  if (field.type === "hidden" || field.type === "submit") return false;
  if (field.type === "radio" || field.type === "checkbox") {
    return field.name !== "opened" && field.checked !== field.defaultChecked;
  }
  if (field.options) {
    return [...field.options].some((option) => option.selected !== option.defaultSelected);
  }
  return "defaultValue" in field && field.value !== field.defaultValue;
}

/** Mark the form as unsent if a field differs from what the server rendered. */
export function markUnsent() {
  const form = document.querySelector("#decision");
  if (!form) return;
  const hasOtherNote = Boolean(form.elements.other_note?.value);
  const isUnsent = "kept" in form.dataset || hasOtherNote || [...form.elements].some(isChanged);
  form.toggleAttribute("data-unsent", isUnsent);
}

export function isUnsent() {
  return document.querySelector("#decision[data-unsent]") !== null;
}

let previewTimer;
let draftRequest;
/** Changes of the answer, and how many of them the server has seen. */
let changes = 0;
let previewedChanges = 0;

/** Ask the server for the changes that the form would make, shortly after the last keystroke. */
function previewChanges(form) {
  clearTimeout(previewTimer);
  changes += 1;
  previewTimer = setTimeout(postDraft, PREVIEW_DELAY_MS, form, "changes", PREVIEWED);
}

/** Bring what the server says about the answer up to date; return whether it is. */
export async function preview(form) {
  if (previewedChanges < changes) await postDraft(form, "changes", PREVIEWED);
  return previewedChanges === changes;
}

/** Post the form without deciding, and replace these elements; a later request aborts this one. */
async function postDraft(form, operation, ids) {
  clearTimeout(previewTimer);
  draftRequest?.abort();
  draftRequest = new AbortController();
  const body = new FormData(form);
  const sent = changes;
  body.set("draft", operation);
  try {
    // Not `form.action`: the form has buttons named "action".
    const response = await fetch(form.getAttribute("action"), {
      method: "POST",
      body,
      headers: postHeaders(),
      signal: draftRequest.signal,
    });
    if (!response.ok) return report(response.status);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const id of ids) {
      const element = page.getElementById(id);
      if (element) document.getElementById(id)?.replaceWith(element);
    }
    previewedChanges = sent;
  } catch (error) {
    if (error.name !== "AbortError") report(0);
  }
}

/** Let the server render the form with these values; return whether that was shown. */
export async function restoreDraft(form, entries, isUntouched) {
  abortDraft();
  const { signal } = (draftRequest = new AbortController());
  const body = new FormData();
  for (const [name, value] of entries) body.append(name, value);
  body.set("view_digest", form.elements.view_digest.value);
  body.set("draft", "look");
  try {
    const address = form.getAttribute("action");
    const response = await fetch(address, { method: "POST", body, headers: postHeaders(), signal });
    if (!response.ok) return false;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    // The request is not open for this reader now, so the response has no fields for the draft.
    const isOpen = page.querySelector("#answer[data-mode=open]") !== null;
    if (!isOpen || !isUntouched()) return false;
    for (const id of ["answer", ...PREVIEWED, "special-approvals", "ask-back"]) {
      const element = page.getElementById(id);
      if (element) document.getElementById(id)?.replaceWith(element);
    }
  } catch {
    return false; // another request is on screen, or the connection is down
  }
  // The response has no such fields if somebody has claimed the request a moment ago.
  for (const name of BAR_TEXTS) showText(form.elements[name], body.get(name) ?? "");
  form.dataset.kept = "";
  return true;
}

/** Show a text of a draft in its field of the bar, if there is one. */
export function showText(field, text) {
  if (!field) return;
  field.value = text;
  const details = field.closest("details");
  if (details && text) details.open = true;
}

/** Drop the answer to the last draft: another request is on screen. */
export function abortDraft() {
  clearTimeout(previewTimer);
  previewedChanges = changes;
  draftRequest?.abort();
}

/** Add or remove an item, choose a branch, or switch to JSON; other input is kept. */
async function restructure(form, button) {
  const { id } = button;
  const isChange = isUnsent() || !button.matches("[data-edit], [data-edit-all]");
  await postDraft(form, button.value, ["answer", ...PREVIEWED]);
  if (isChange) form.dataset.kept = "";
  markUnsent();
  const next = document.getElementById(id) ?? document.querySelector("#answer [autofocus]");
  (next ?? firstField())?.focus();
}

/** Return the first visible field of the answer: values that are read hide their fields. */
function firstField() {
  const fields = document.querySelectorAll(
    "#answer :is(input, textarea, select):enabled:not([type=hidden], [name=opened], .code-diff-split)",
  );
  return [...fields].find((field) => field.checkVisibility());
}

/** Lock the form after another person's decision; its input can still be read and copied. */
export function lock(form) {
  for (const field of form.elements) {
    // Selects and radio buttons match :read-only whatever their state.
    const isText = field.matches("textarea, input:not([type=radio], [type=checkbox])");
    if (field.dataset.copy || field.matches("fieldset, :disabled")) continue;
    if (isText && field.matches(":read-only")) continue;
    field.dataset.locked = "";
    if (isText) field.readOnly = true;
    else field.disabled = true;
  }
}

/** Unlock the form after that decision was withdrawn. */
export function unlock(form) {
  for (const field of form.querySelectorAll("[data-locked]")) {
    field.readOnly = field.disabled = false;
    delete field.dataset.locked;
  }
}

/** Return whether an answer can be sent with this bar, perhaps after a claim ends. */
export function isUndecided({ dataset }) {
  return dataset.mode === "open" || dataset.mode === "claimed";
}

document.addEventListener(
  "submit",
  (event) => {
    if (event.submitter?.name !== "draft") return;
    event.preventDefault();
    event.stopPropagation();
    restructure(event.target, event.submitter);
  },
  true,
);

document.addEventListener("input", ({ target }) => {
  markUnsent();
  // The switch of a diff belongs to no form.
  const { form } = target;
  if (form && target.closest("#answer") && document.querySelector("#changes")) previewChanges(form);
});

// A folded text counts as read after it was opened, and a long value after its last part came.
function markRead(fold) {
  fold.toggleAttribute("data-partial", Boolean(fold.querySelector(".value-more")));
  if (fold.hasAttribute("data-partial")) return;
  for (const box of fold.querySelectorAll("[name=opened]")) box.checked = true;
}

document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target.open && target.matches("[data-long]")) markRead(target);
  },
  true,
);
document.addEventListener("htmx:afterSettle", () => {
  for (const fold of document.querySelectorAll("[data-partial]")) markRead(fold);
});

// Forms can also be submitted without htmx.
document.addEventListener("submit", ({ target, defaultPrevented }) => {
  if (target.id === "decision" && !defaultPrevented) delete target.dataset.unsent;
});
