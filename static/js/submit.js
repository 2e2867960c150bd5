// Sending forms with htmx: the CSRF token, and what follows a response.

import { showButtons } from "./buttons.js";
import { markUnsent } from "./decision_form.js";
import { csrfToken } from "./post.js";
import { sendViewed, showPresence } from "./presence.js";
import { pauseRefresh, resumeRefresh } from "./refresh.js";
import { rememberHtml } from "./swap.js";
import { showTimes } from "./times.js";

/** After a redirect the page is left; it refreshes only if it is still open by then. */
const LEAVING_MS = 2_000;

function isDecision({ requestConfig }) {
  return requestConfig.verb === "post" && requestConfig.elt.id === "decision";
}

document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb === "post" && csrfToken()) {
    delete event.detail.parameters.csrfmiddlewaretoken;
    event.detail.headers["X-CSRFToken"] = csrfToken();
  }
});

// The form was sent, so leaving the page needs no confirmation.
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  const form = document.querySelector("#decision");
  if (form && detail.xhr.getResponseHeader("HX-Redirect")) delete form.dataset.unsent;
});

document.addEventListener("htmx:beforeSend", ({ detail }) => {
  if (isDecision(detail)) pauseRefresh();
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!isDecision(detail)) return;
  setTimeout(resumeRefresh, detail.xhr.getResponseHeader("HX-Redirect") ? LEAVING_MS : 0);
});

document.addEventListener("htmx:afterSwap", (event) => {
  const detail = document.querySelector("#detail");
  if (event.detail.requestConfig?.verb !== "post" || !detail) return;
  rememberHtml(detail);
  markUnsent();
  showTimes();
  showButtons();
  showPresence();
  document.querySelector("#banner > *")?.focus();
  sendViewed();
});
