// Hides the page while its reader is signed out, so that nothing of it can be read after the session.

import { main } from "./page.js";

const notice = document.querySelector("#signed-out");
/** The title of the page, which it does not show while it is hidden. */
let title;

function hiddenTitle() {
  return `${notice.querySelector("h2").textContent} · Signoff`;
}

/** Return the title of the page, also while it is hidden. */
export function pageTitle() {
  return notice.hidden ? document.title : title;
}

/** Name the page; a hidden one only once it is shown again. */
export function setPageTitle(text) {
  if (notice.hidden) document.title = text;
  else title = text;
}

export function hidePage() {
  if (!notice.hidden) return;
  const link = notice.querySelector("a");
  link.search = new URLSearchParams({ next: location.pathname + location.search });
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  title = document.title;
  document.title = hiddenTitle();
  notice.hidden = false;
}

/** Hide the page of a browser without a connection once its session must have ended. */
export function hideEndedPage() {
  const { ends } = main.dataset;
  if (ends && Date.now() > 1000 * ends) hidePage();
}

/** Note when the session of a response ends; return false if it is of somebody else. */
export function noteSession(headerOf) {
  const reader = headerOf("X-Signoff-Reader");
  if (reader && reader !== main.dataset.me) {
    // Somebody else has signed in in another tab.
    hidePage();
    location.reload();
    return false;
  }
  if (reader) main.dataset.ends = headerOf("X-Signoff-Session-Ends");
  return true;
}

document.addEventListener("htmx:afterRequest", ({ detail: { xhr, successful } }) => {
  const isSamePerson = noteSession((name) => xhr?.getResponseHeader(name));
  if (isSamePerson && successful && !notice.hidden) {
    notice.hidden = true;
    // htmx has taken the title of the response already, if it has one.
    if (document.title === hiddenTitle()) document.title = title;
  }
});

// Shortcuts do nothing to a page that nobody sees.
window.addEventListener(
  "keydown",
  (event) => {
    if (!notice.hidden) event.stopPropagation();
  },
  true,
);
