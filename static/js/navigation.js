// Opens another request of the list without loading a page: the detail is swapped, the list stays.

import { abortDraft } from "./decision_form.js";
import { dropDraft, saveDraft } from "./drafts.js";
import { openCurrentFold } from "./folds.js";
import { isBeingLeft, noteOpening, noteView, noteStays } from "./input_owner.js";
import { main } from "./page.js";
import { report } from "./post.js";
import { isRefreshPaused, showMoreRows } from "./refresh.js";
import { noteSession, pageTitle, setPageTitle } from "./signed_out.js";
import { rememberHtml } from "./swap.js";

/** The event after another request was shown. */
export const OPENED = "signoff:opened";
/** Prefetched requests are shown only if they are younger, and nothing about them has changed. */
const MAX_AGE_MS = 60_000;
/** Prefetching is no activity of the reader: from time to time a request is read when it opens. */
const ACTIVITY_MS = 5 * 60_000;
const PREFETCH_DELAY_MS = 100;
const MOST_PREFETCHED = 4;
const REQUEST = /^\/(interrupts|decided)\/([0-9a-f-]{36})\/$/;

/** By URL: when it was read, the thread of the request, and a promise of the HTML. */
const prefetched = new Map();
let prefetchTimer;
let direction = 1;
let activeAt = Date.now();
/** The request that is being opened, with its controller and a promise of the end. */
let opening;
/** The state of entries of the history that show requests without a page load, also after one. */
const OURS = { isOurs: true };

/** Return whether a URL leads to a request of the list on this page, so that it can be swapped. */
export function canOpen(url) {
  const [, kind] = url.pathname.match(REQUEST) ?? [];
  if (!kind || url.origin !== location.origin || !document.querySelector("#list #rows"))
    return false;
  // The list stays, so it has to be the one that the link belongs to.
  const list = withoutToast(new URL(main.dataset.url, location.href));
  const isOfDecided = list.pathname.startsWith("/decided/");
  return isOfDecided === (kind === "decided") && withoutToast(url).search === list.search;
}

/** Return the URL without the parameter that shows the toast once more. */
function withoutToast(url) {
  const copy = new URL(url);
  copy.searchParams.delete("done");
  copy.hash = "";
  return copy;
}

function isWide() {
  return matchMedia("(width > 48rem)").matches;
}

/** Return whether a click here opens a request in the page; on phones the list is a page. */
export function opensHere(url) {
  const isSwapped = isWide() || document.querySelector("#detail.is-chosen");
  return Boolean(isSwapped) && !isRefreshPaused() && canOpen(url) && saveDraft();
}

/**
 * Act once the request that is being opened is on screen, or not at all if it is not opened.
 *
 * What was pressed for a request that has just been decided is not for the next one.
 */
export function whenOpened(act) {
  if (isBeingLeft()) return;
  if (opening) opening.done.then((isShown) => isShown && act());
  else act();
}

/**
 * Open a request: show it, and note it in the history by `push`, `replace` or not at all.
 *
 * Until it is shown the old one takes no input, so that no key or click decides it by mistake.
 */
export function openRequest(address, options = {}) {
  opening?.controller.abort();
  const current = { address, controller: new AbortController() };
  opening = current;
  const detail = document.querySelector("#detail");
  noteOpening();
  detail.inert = true;
  detail.ariaBusy = "true";
  current.done = show(current, options).finally(() => {
    if (opening === current) opening = undefined;
  });
  return current.done;
}

/** Return whether the request is on screen now. */
async function show({ address, controller }, options) {
  const { history: entry = "push", movesFocus = true, followsDecision = false } = options;
  const url = new URL(address, location.href);
  const clean = withoutToast(url);
  let html;
  try {
    html = await (take(clean) ?? read(clean, controller.signal));
  } catch (error) {
    if (controller.signal.aborted) return false;
    if (error instanceof TypeError) {
      // No connection.
      keepShown();
      report(0);
    } else {
      location.assign(url);
    }
    return false;
  }
  if (controller.signal.aborted) return false;
  swap(html, clean);
  noteView({ followsDecision });
  if (entry !== "none") {
    history.replaceState(OURS, "");
    history[`${entry}State`](OURS, "", url);
  }
  document.dispatchEvent(new Event(OPENED));
  if (movesFocus) focusHeading();
  return true;
}

/** Leave the request that is shown on screen, and let it take input again. */
function keepShown() {
  const detail = document.querySelector("#detail");
  detail.inert = false;
  detail.ariaBusy = null;
  noteStays();
}

function swap(html, url) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const detail = document.adoptNode(page.querySelector("#detail"));
  const [, , id] = url.pathname.match(REQUEST);
  abortDraft();
  document.querySelector("#detail").replaceWith(detail);
  htmx.process(detail);
  main.dataset.interrupt = id;
  main.dataset.url = url.pathname + url.search;
  const [count] = pageTitle().match(/^\(\d+\+?\) /) ?? [""];
  setPageTitle(count + page.title);
  for (const field of document.querySelectorAll(".languages [name=next]")) {
    field.value = main.dataset.url;
  }
  document.querySelector(".topbar .topbar-back")?.removeAttribute("hidden");
  showCurrentRow(id);
  rememberHtml(detail);
}

function showCurrentRow(id) {
  for (const row of document.querySelectorAll(".row[aria-current]")) {
    row.removeAttribute("aria-current");
  }
  document.getElementById(`row-${id}`)?.setAttribute("aria-current", "true");
  openCurrentFold();
  centreRow();
}

/** Show the current row with the rows around it. */
export function centreRow() {
  document.querySelector("#list .row[aria-current]")?.scrollIntoView({ block: "center" });
}

/** Focus the heading, unless the reader writes elsewhere: the next letters would be shortcuts. */
function focusHeading() {
  if (document.activeElement.matches("input[type=search], dialog *")) return;
  document.querySelector("#detail-title")?.focus({ preventScroll: true });
}

// -- reading ------------------------------------------------------------------------------------

function isLive() {
  return document.querySelector("#live")?.dataset.state === "on";
}

/** Return a promise of the prefetched HTML, or null if it is missing or may be out of date. */
function take(url) {
  const stored = prefetched.get(url.href);
  prefetched.delete(url.href);
  if (!stored || !isLive()) return null;
  const now = Date.now();
  return now - stored.at < MAX_AGE_MS && now - activeAt < ACTIVITY_MS ? stored.html : null;
}

async function read(url, signal, headers = {}) {
  if (!headers["X-Signoff-Refresh"]) activeAt = Date.now();
  const response = await fetch(url, {
    headers: { "HX-Request": "true", "X-Signoff-Part": "request", ...headers },
    signal,
  });
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`);
  if (!noteSession((name) => response.headers.get(name))) throw new Error("of another reader");
  return response.text();
}

/** Read the request that is likely to be opened next. It is neither marked as viewed nor claimed. */
export function prefetch() {
  clearTimeout(prefetchTimer);
  prefetchTimer = setTimeout(prefetchNext, PREFETCH_DELAY_MS);
}

function prefetchNext() {
  if (document.hidden || !isLive() || isRefreshPaused() || !main.dataset.interrupt) return;
  const links = requestLinks().filter((link) => !link.closest(".is-done"));
  const index = links.findIndex((link) => link.closest("[aria-current]"));
  const link = links[index + direction] ?? (index === 0 ? links[1] : links[0]);
  if (!link || link.closest("[aria-current]")) return;
  const url = withoutToast(new URL(link.href));
  if (!canOpen(url) || prefetched.has(url.href)) return;
  const entry = { at: Date.now(), thread: "" };
  entry.html = read(url, undefined, { "X-Signoff-Refresh": "1" }).then((html) => {
    [, entry.thread] = html.match(/id="detail"[^>]* data-thread="([^"]+)"/) ?? [];
    return html;
  });
  // Whoever opens it meets the error; otherwise it is not needed.
  entry.html.catch(() => prefetched.delete(url.href));
  prefetched.set(url.href, entry);
  for (const [key] of [...prefetched].slice(0, -MOST_PREFETCHED)) prefetched.delete(key);
}

/** Forget the prefetched requests of a thread that has changed, or all of them. */
export function forgetPrefetched(thread) {
  for (const [key, entry] of prefetched) {
    if (!thread || !entry.thread || entry.thread === thread) prefetched.delete(key);
  }
}

// -- moving -------------------------------------------------------------------------------------

function requestLinks() {
  return [...document.querySelectorAll("#rows .row-title")];
}

/** Open the next or the previous request; at the end of the list load more rows. */
export async function move(step) {
  direction = step;
  const link = await neighbour(step);
  if (link) await follow(link);
}

async function neighbour(step) {
  const links = requestLinks();
  const isOpening = (link) => opening && link.href === new URL(opening.address, location.href).href;
  let index = links.findIndex(isOpening);
  if (index < 0) index = links.findIndex((link) => link.closest("[aria-current]"));
  if (index < 0) return links[step > 0 ? 0 : links.length - 1];
  if (index + step >= links.length && (await loadMore())) return requestLinks()[index + step];
  return links[index + step];
}

function follow(link) {
  if (opensHere(new URL(link.href))) return openRequest(link.href);
  link.click();
}

/** Add rows below the last one; return whether there were any. */
export async function loadMore() {
  if (!document.querySelector("#more [data-more]")) return false;
  const count = requestLinks().length;
  await showMoreRows(count);
  return requestLinks().length > count;
}

/** Open the first request of a list of open ones, where there is room beside the list. */
export function openFirst() {
  const link = document.querySelector("#rows[data-notify] .row-title");
  if (!link || main.dataset.interrupt || !isWide() || !document.querySelector("#choose")) return;
  if (canOpen(new URL(link.href)))
    openRequest(link.href, { history: "replace", movesFocus: false });
}

/** Show the request on screen as the agent sent it. */
function discardDraft() {
  dropDraft();
  openRequest(location.href, { history: "none" });
}

/** Return whether a link leads to a place of this page, such as a field with a problem. */
function isOnThisPage({ hash, pathname }) {
  return Boolean(hash) && pathname === location.pathname;
}

document.addEventListener("click", (event) => {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || button || ctrlKey || metaKey || shiftKey || altKey) return;
  if (target.closest("[data-more]")) {
    event.preventDefault();
    loadMore();
    return;
  }
  if (target.closest("[data-discard]")) {
    discardDraft();
    return;
  }
  const link = target.closest("#list a[href], #detail a[href], #toast a[href]");
  if (!link || link.target || isOnThisPage(link) || !opensHere(new URL(link.href))) return;
  event.preventDefault();
  openRequest(link.href);
});

addEventListener("popstate", ({ state }) => {
  if (!state?.isOurs) return;
  const url = withoutToast(new URL(location.href));
  if (url.pathname + url.search === main.dataset.url) {
    // Back again before the other request was shown.
    opening?.controller.abort();
    opening = undefined;
    keepShown();
    return;
  }
  if (!isRefreshPaused() && canOpen(url) && saveDraft())
    openRequest(location.href, { history: "none" });
  else location.reload();
});
