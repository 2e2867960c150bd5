// Hides the page while its reader is signed out: what it shows must not outlive the session.

import { saveDraft } from "./drafts.js";
import { main } from "./page.js";

const notice = document.querySelector("#signed-out");
let title;

export function hidePage() {
  if (!notice.hidden) return;
  const link = notice.querySelector("a");
  link.search = new URLSearchParams({ next: location.pathname + location.search });
  // Leaving the page would lose what is no draft, such as chosen files.
  link.target = saveDraft() ? "" : "_blank";
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  title = document.title;
  document.title = `${notice.querySelector("h2").textContent} · Signoff`;
  notice.hidden = false;
}

/** Hide the page of a browser without a connection once its session must have ended. */
export function hideEndedPage() {
  const { ends } = main.dataset;
  if (ends && Date.now() > 1000 * ends) hidePage();
}

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const reader = detail.xhr?.getResponseHeader("X-Signoff-Reader");
  if (reader && reader !== main.dataset.me) {
    // Somebody else has signed in in another tab.
    hidePage();
    location.reload();
  } else if (detail.successful && !notice.hidden) {
    notice.hidden = true;
    document.title = title;
  }
});
