// Sending forms with htmx: the CSRF token, and what follows a response.

import { showButtons } from "./buttons.js";
import { markUnsent } from "./decision_form.js";
import { endDraft } from "./drafts.js";
import { endSending, isOfShown, startSending } from "./input_owner.js";
import { canOpen, openRequest } from "./navigation.js";
import { csrfToken } from "./post.js";
import { sendViewed, showPresence } from "./presence.js";
import { pauseRefresh, refresh, resumeRefresh } from "./refresh.js";
import { putNoteAside } from "./reject_note.js";
import { rememberHtml } from "./swap.js";
import { showTimes } from "./times.js";
import { showToast } from "./toast.js";

/** After a redirect the page is left; it refreshes only if it is still open by then. */
const LEAVING_MS = 2_000;

let isLeaving = false;

function isDecision({ requestConfig }) {
  return requestConfig.verb === "post" && requestConfig.elt.id === "decision";
}

document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb === "post" && csrfToken()) {
    delete event.detail.parameters.csrfmiddlewaretoken;
    event.detail.headers["X-CSRFToken"] = csrfToken();
    delete event.detail.parameters.other_note;
  }
});

// The form may be older than the session: a refresh keeps forms that have not changed.
document.addEventListener("submit", ({ target }) => {
  const field = target.querySelector('[name="csrfmiddlewaretoken"]');
  if (field && csrfToken()) field.value = csrfToken();
});

// While another request is being opened, a key pressed just before can still press a button of this one.
document.addEventListener("htmx:confirm", (event) => {
  const { elt } = event.detail;
  if (elt.id === "decision" && !isOfShown(elt)) event.preventDefault();
});

/** Show the request that follows a decision in this page, and what was decided. */
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { xhr } = event.detail;
  const address = xhr.getResponseHeader("HX-Redirect");
  if (!address || !isDecision(event.detail)) return;
  // The form was sent: leaving it loses nothing.
  endDraft();
  showToast(xhr.responseText);
  const followed = endSending(true);
  const next = new URL(followed ?? address, location.href);
  if (canOpen(next)) {
    event.preventDefault();
    openRequest(next.href, { followsDecision: true });
    return;
  }
  isLeaving = true;
  if (!followed) return;
  event.preventDefault();
  location.assign(next);
});

document.addEventListener("htmx:beforeSend", ({ detail }) => {
  if (!isDecision(detail)) return;
  pauseRefresh();
  startSending();
});

// A form that was replaced meanwhile is out of reach of the listeners of the document, and htmx would
// look for what to swap in the tree that the form was removed with.
document.addEventListener("htmx:beforeSend", ({ detail: { elt } }) => {
  const onResponse = (event) => {
    if (elt.isConnected) return;
    event.preventDefault();
    refresh();
  };
  elt.addEventListener("htmx:beforeOnLoad", onResponse, { once: true });
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!isDecision(detail)) return;
  endSending(false);
  setTimeout(resumeRefresh, isLeaving ? LEAVING_MS : 0);
});

/** Return the first field whose message says what is wrong, unless something else was refused. */
function firstInvalid() {
  if (!document.querySelector("#banner .errsum")) return undefined;
  const fields = document.querySelectorAll("#answer .is-invalid :is(input, textarea, select)");
  return [...fields].find((field) => !field.disabled && field.checkVisibility());
}

document.addEventListener("htmx:afterSwap", (event) => {
  const detail = document.querySelector("#detail");
  if (event.detail.requestConfig?.verb !== "post" || !detail) return;
  rememberHtml(detail);
  if (event.detail.requestConfig.triggeringEvent?.submitter?.value === "reject") putNoteAside();
  markUnsent();
  showTimes();
  showButtons();
  showPresence();
  (firstInvalid() ?? document.querySelector("#banner > *"))?.focus();
  sendViewed();
});
