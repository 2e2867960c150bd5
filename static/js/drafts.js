// Drafts: what a person has written and not sent survives leaving the page.
//
// They stay in this browser, by person, request and version of the request: nothing that was not
// sent leaves the device. The server leaves out `data-drafts` where a field may hold a secret.

import { BAR_TEXTS, isUnsent, markUnsent, restoreDraft, showText } from "./decision_form.js";
import { main, messages } from "./page.js";
import { isRefreshPaused, REFRESHED } from "./refresh.js";
import { notesOf } from "./reject_note.js";

const PREFIX = "signoff.draft.";
const MINE = `${PREFIX}${main.dataset.me}.`;
const MAX_AGE_MS = 3 * 24 * 3_600_000;
const SAVE_DELAY_MS = 300;
/** Not values: confirmations are given anew, and the others belong to the page. */
const LEFT_OUT = new Set([
  "csrfmiddlewaretoken",
  "view_digest",
  "opened",
  "seen",
  "unseen",
  "despite_restore",
]);

let saveTimer;
/** The form whose stored draft is not shown yet: leaving it must not remove the draft. */
let pendingForm;
/** The answer whose draft is on its way. */
let awaited;
/** Texts of a draft that the bar has no fields for, while somebody else holds the claim. */
let withheld = { form: undefined, texts: [] };

/** Return the form, if what is typed into it may be stored. */
function draftForm() {
  return document.querySelector("#answer[data-drafts]") && document.querySelector("#decision");
}

function keyOf(form) {
  return `${MINE}${main.dataset.interrupt}.${form.elements.view_digest.value}`;
}

/** Return the draft that is stored for the request on screen, null if there is none. */
function storedDraft(form) {
  return JSON.parse(localStorage.getItem(keyOf(form)));
}

/** Store what is unsent; return whether leaving the page loses nothing. */
export function saveDraft() {
  clearTimeout(saveTimer);
  const form = draftForm();
  const comment = document.querySelector("#f-comment")?.value ?? "";
  // Signing out in another tab has removed the drafts.
  const isHidden = document.querySelector("#signed-out:not([hidden])") !== null;
  if (!form) return !isUnsent();
  if (!isUnsent() && !comment) {
    if (form !== pendingForm && !isHidden) localStorage.removeItem(keyOf(form));
    return true;
  }
  const entries = [];
  const notes = notesOf(form);
  for (const [name, text] of new FormData(form)) {
    const value = notes[name] ?? text;
    if (typeof value !== "string" && value.size) return false;
    if (typeof value === "string" && !LEFT_OUT.has(name)) entries.push([name, value]);
  }
  if (isHidden) return true;
  if (withheld.form === form) entries.push(...withheld.texts);
  // A comment beside a stored draft that could not be shown yet must not take its place.
  const untouched = form === pendingForm ? (storedDraft(form)?.entries ?? []) : [];
  const draft = { at: Date.now(), entries: isUnsent() ? entries : untouched, comment };
  try {
    localStorage.setItem(keyOf(form), JSON.stringify(draft));
  } catch {
    return false; // no room
  }
  return true;
}

/** Forget the draft of the request on screen: it was sent, or discarded. */
export function dropDraft() {
  clearTimeout(saveTimer);
  const form = draftForm();
  if (form) localStorage.removeItem(keyOf(form));
}

/** Forget the draft for good: the form was sent, or the reader signs out. */
export function endDraft() {
  dropDraft();
  document.querySelector("#decision")?.removeAttribute("data-unsent");
  document.querySelector("#answer")?.removeAttribute("data-drafts");
}

/** Put the stored draft of the request on screen back into its form. */
export async function showDraft() {
  prune();
  const form = draftForm();
  const draft = form && storedDraft(form);
  if (!draft || "kept" in form.dataset || isUnsent()) return;
  const { entries, comment } = draft;
  const field = document.querySelector("#f-comment");
  if (comment && field && !field.value) field.value = comment;
  pendingForm = form;
  if (entries.length && !(await restore(form, entries))) return;
  pendingForm = undefined;
  const isWithheld = ([name, value]) => BAR_TEXTS.includes(name) && value && !form.elements[name];
  withheld = { form, texts: entries.filter(isWithheld) };
  markUnsent();
  showBanner(form);
}

/** Show texts of the draft in the bar that has fields for them now. */
function showWithheld() {
  const form = draftForm();
  if (!form || withheld.form !== form) return;
  withheld.texts = withheld.texts.filter(([name, value]) => {
    const field = form.elements[name];
    showText(field, value);
    return !field;
  });
}

/** Restore the values; meanwhile nothing can be typed that they would replace. */
async function restore(form, entries) {
  const parts = () => form.querySelectorAll("#answer, #bar .note, #ask-back");
  const answer = form.querySelector("#answer");
  if (awaited === answer) return false;
  awaited = answer;
  for (const part of parts()) part.inert = true;
  const isShown = await restoreDraft(form, entries, () => isUntouched(answer));
  if (awaited !== answer) return false;
  awaited = undefined;
  for (const part of parts()) part.inert = false;
  return isShown;
}

/** Return whether this answer is still on screen as it was rendered, and not on its way. */
function isUntouched(answer) {
  return answer.isConnected && !isUnsent() && !isRefreshPaused();
}

function showBanner(form) {
  const banner = document.createElement("div");
  banner.className = "banner banner-ok";
  banner.id = "draft";
  banner.role = "status";
  const text = document.createElement("p");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn-sm";
  button.dataset.discard = "";
  button.textContent = messages.discard;
  banner.append(text, button);
  form.querySelector("#banner").before(banner);
  text.textContent = messages.draftRestored;
}

/** Remove drafts that are old, and those of other people who used this browser. */
function prune() {
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(PREFIX)) continue;
    const isFresh = Date.now() - timeOf(localStorage.getItem(key)) <= MAX_AGE_MS;
    if (!isFresh || !key.startsWith(MINE)) localStorage.removeItem(key);
  }
}

/** Return when a stored draft was written, in milliseconds; NaN for one that cannot be read. */
function timeOf(stored) {
  try {
    return Number(JSON.parse(stored).at);
  } catch {
    return NaN;
  }
}

document.addEventListener("input", ({ target }) => {
  if (!target.closest("#decision") && target.id !== "f-comment") return;
  clearTimeout(saveTimer);
  // A draft that was taken back is removed at once: it would be shown again after a swap.
  if (isUnsent()) saveTimer = setTimeout(saveDraft, SAVE_DELAY_MS);
  else saveDraft();
});

// The fields are shown again: a decision was undone, or the request is open for the reader now.
document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  // htmx sends the event also for elements that stay.
  if (!detail.shouldSwap) return;
  if (detail.target.id === "answer") showDraft();
  if (detail.target.id === "bar") showWithheld();
});

// The draft could not be shown before: somebody had decided, or the connection was down.
document.addEventListener(REFRESHED, () => {
  if (!pendingForm || pendingForm !== draftForm() || isRefreshPaused()) return;
  // Restoring takes the focus out of a field, and the next keys would be shortcuts.
  if (document.activeElement.closest("#answer, #bar .note, #ask-back")) return;
  showDraft();
});

// A comment that was sent is no draft any more.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.requestConfig.elt.id === "comment-form") saveDraft();
});

document.addEventListener("submit", ({ target }) => {
  const isSignOut = target.getAttribute("action") === "/logout/";
  if (!isSignOut) return;
  endDraft();
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  }
  for (const key of Object.keys(sessionStorage)) sessionStorage.removeItem(key);
});

window.addEventListener("beforeunload", (event) => {
  const bar = document.querySelector("#bar[data-mode=open], #bar[data-mode=claimed]");
  if (!saveDraft() && bar?.querySelector("button:enabled")) event.preventDefault();
});
