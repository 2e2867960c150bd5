// Reads the page again when something changed, and swaps the elements that differ.

import { main } from "./page.js";

/** The shortest time between two refreshes. */
const MIN_INTERVAL_MS = 150;
/** The event after the elements were swapped. */
export const REFRESHED = "signoff:refreshed";
/** The shortest time between two refreshes of a page that nobody sees. */
const HIDDEN_INTERVAL_MS = 10_000;
/** Without wake-ups the page polls; with them the server tells when one was lost. */
const POLL_MS = { on: 300_000, lost: 10_000 };

let timer;
let readAt = 0;
let intervalMs = MIN_INTERVAL_MS;
let isReading = false;
let isStale = false;
let isPaused = false;
/** The number of rows to read, if more than a page were loaded. */
let rowCount = 0;
const PAGE_ROWS = 50;

/** Read the page again soon: one request at a time, however many wake-ups arrive. */
export function refresh() {
  isStale = true;
  if (!isReading && !isPaused) {
    const interval = document.hidden ? Math.max(intervalMs, HIDDEN_INTERVAL_MS) : intervalMs;
    timer ??= setTimeout(read, Math.max(0, readAt + interval - Date.now()));
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden || !isStale) return;
  clearTimeout(timer);
  timer = undefined;
  refresh();
});

/** Stop refreshing while a decision is being sent: its response replaces the page. */
export function pauseRefresh() {
  isPaused = true;
}

export function resumeRefresh() {
  isPaused = false;
  if (isStale) refresh();
}

export function isRefreshPaused() {
  return isPaused;
}

/** Read the page with another page of rows below the `count` that are shown. */
export async function showMoreRows(count) {
  rowCount = count + PAGE_ROWS;
  clearTimeout(timer);
  await read();
}

async function read() {
  timer = undefined;
  isStale = false;
  isReading = true;
  const startedAt = Date.now();
  const selectors = Array.from(document.querySelectorAll("[data-live]"), ({ id }) => `#${id}`);
  const scroller = scrollerAtItsEnd();
  try {
    await htmx.ajax("GET", main.dataset.url, {
      target: "body",
      swap: "none",
      selectOOB: selectors.join(","),
      headers: {
        // Refreshes do not extend the session.
        "X-Signoff-Refresh": "1",
        ...(rowCount ? { "X-Signoff-Rows": rowCount } : {}),
      },
    });
  } catch {
    // The connection is down: the socket reconnects, and polling continues.
  }
  document.dispatchEvent(new Event(REFRESHED));
  scroller?.scrollTo({ top: scroller.scrollHeight });
  isReading = false;
  readAt = Date.now();
  // Refresh slow pages less often, for example a long text that is being written.
  intervalMs = Math.max(MIN_INTERVAL_MS, 2 * (readAt - startedAt));
  if (isStale) refresh();
}

/** Return the scrolling element of an open conversation if the reader is at its end, else null. */
function scrollerAtItsEnd() {
  const pane = document.querySelector("[data-follow]:has(#conversation[open])");
  if (!pane) return null;
  const isScrolling = pane.scrollHeight > pane.clientHeight;
  const scroller = isScrolling ? pane : document.scrollingElement;
  const below = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  return below < 80 ? scroller : null;
}

/** Refresh from time to time, because wake-ups may be lost. */
export function poll() {
  const { state } = document.querySelector("#live").dataset;
  setTimeout(() => {
    refresh();
    poll();
  }, POLL_MS[state] ?? POLL_MS.lost);
}
