// The WebSocket that reports changes, other readers and decisions.

import { lock } from "./decision_form.js";
import { forgetPrefetched, OPENED, prefetch } from "./navigation.js";
import { fill, main, messages } from "./page.js";
import { report } from "./post.js";
import { setPresence, showConnection } from "./presence.js";
import { isRefreshPaused, refresh } from "./refresh.js";
import { hideEndedPage, hidePage } from "./signed_out.js";
import { forgetHtml } from "./swap.js";

const BACKOFF_MS = { first: 500, most: 15_000 };
/** The close code for a reader who is signed out or has no access. */
const NOT_ALLOWED = 4403;

let socket;
let reconnectTimer;
let failures = 0;
let isNewPage = true;
/** Whether the server refused this reader; the socket waits until a request succeeds again. */
let isRefused = false;

export function connect() {
  clearTimeout(reconnectTimer);
  if (socket || isRefused) return;
  const address = new URL("/ws/live/", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  for (const name of ["thread", "interrupt"]) {
    if (main.dataset[name]) address.searchParams.set(name, main.dataset[name]);
  }
  socket = new WebSocket(address);
  socket.addEventListener("message", ({ data }) => receive(JSON.parse(data)));
  socket.addEventListener("close", ({ code }) => {
    socket = undefined;
    if (!isRefused) showConnection("lost", messages.reconnecting);
    if (code === NOT_ALLOWED) {
      // Signed out in another tab, or removed from a team: the response says which.
      isRefused = true;
      refresh();
      return;
    }
    const delay = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** failures);
    failures += 1;
    reconnectTimer = setTimeout(connect, delay * (0.5 + Math.random() / 2));
  });
}

function receive(message) {
  switch (message.type) {
    case "presence":
      setPresence(message);
      break;
    case "hello":
      failures = 0;
      showConnection("on", messages.live);
      // Catch up on changes from before the socket was open, if there were any.
      if (!isNewPage || message.position !== main.dataset.position) catchUp();
      else prefetch();
      isNewPage = false;
      break;
    case "decided":
      showDecided(message);
      break;
    default:
      forgetPrefetched(message.thread);
      refresh();
  }
}

function catchUp() {
  forgetPrefetched();
  refresh();
}

// Tell the others which request is open now.
document.addEventListener(OPENED, () => {
  if (socket?.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify({ type: "here", interrupt: main.dataset.interrupt }));
});

/** Show another person's decision at once; the refresh that follows has its details. */
function showDecided({ interrupts, by }) {
  for (const id of interrupts) {
    document.getElementById(`row-${id}`)?.classList.add("is-done");
    forgetHtml(`row-${id}`);
  }
  const banner = document.querySelector("#banner:not([data-refused])");
  if (isRefreshPaused() || !banner || !interrupts.includes(main.dataset.interrupt)) return;
  for (const id of ["banner", "bar"]) forgetHtml(id);
  lock(document.querySelector("#decision"));
  const text = document.createElement("p");
  text.textContent = fill(messages.decided, { who: by });
  // Without a role: screen readers read the details that follow instead.
  const box = document.createElement("div");
  box.className = "banner banner-late";
  box.append(text);
  banner.replaceChildren(box);
}

for (const name of ["htmx:responseError", "htmx:sendError"]) {
  document.addEventListener(name, (event) => {
    const status = event.detail.xhr?.status ?? 0;
    if (event.detail.requestConfig?.verb === "post") report(status);
    if (status === 401) {
      isRefused = true;
      showConnection("lost", messages.signedOut);
      hidePage();
    } else if (status === 404 && isRefused) {
      showConnection("lost", messages.notThere);
    } else if (status === 0) {
      hideEndedPage();
    }
  });
}

// The reader has signed in again in another tab.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!isRefused || !detail.successful) return;
  isRefused = false;
  if (socket) showConnection("on", messages.live);
  connect();
});

document.addEventListener("visibilitychange", () => {
  if (isRefused && !document.hidden) refresh();
});
