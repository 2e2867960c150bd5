// Keeps an open page up to date. The server renders everything; this file asks for it again when
// somebody says that something has changed, and never touches what a reviewer is writing.

/** The first poke is followed at once, the next ones not more often than this. */
const APART_MS = 150;
const POLL_MS = { on: 30_000, lost: 10_000 };
const BACKOFF_MS = { first: 500, most: 15_000 };
const SIGNED_OUT = 4401;
const NOT_ALLOWED = 4403;
/** A claim lasts for ten minutes. */
const RENEW_MS = 4 * 60_000;

const main = document.querySelector("#main");
/** What the server sent for each part, by id: only what differs from it is swapped. */
const served = new Map();

// -- times: the server writes UTC, the reader sees their own zone ---------------------------------

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const fullTime = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const shortDate = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const shortMoment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const spellings = {
  age(at) {
    const passed = Date.now() - at;
    if (passed < minute) return "now";
    if (passed < hour) return `${Math.floor(passed / minute)}m`;
    if (passed < day) return `${Math.floor(passed / hour)}h`;
    return shortDate.format(at);
  },
  ago(at) {
    const passed = Date.now() - at;
    if (passed < minute) return "just now";
    if (passed < hour) return `${Math.floor(passed / minute)} min ago`;
    if (passed < day) return `${Math.floor(passed / hour)} h ago`;
    return shortMoment.format(at);
  },
  left(at) {
    const left = at - Date.now();
    if (left <= 0) return "now";
    if (left < 10 * minute) {
      const seconds = Math.floor(left / 1000);
      return `in ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    }
    if (left < hour) return `in ${Math.floor(left / minute)} min`;
    if (left < day) return `in ${Math.floor(left / hour)} h`;
    return shortMoment.format(at);
  },
  clock(at) {
    return Date.now() - at < day ? clockTime.format(at) : shortMoment.format(at);
  },
};

function showTimes() {
  for (const time of document.querySelectorAll("time[data-as]")) {
    const at = new Date(time.dateTime);
    const text = spellings[time.dataset.as](at);
    if (time.textContent !== text) time.textContent = text;
    if (!time.title) time.title = fullTime.format(at);
  }
}

// -- copying --------------------------------------------------------------------------------------

function showCopyButtons() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const fields = [...source.querySelectorAll("textarea")].map((field) => field.value);
  await navigator.clipboard.writeText(fields.length ? fields.join("\n\n") : source.textContent);
  button.lastElementChild.textContent = "Copied";
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});

// -- the form: what is unsent, and what the buttons say -------------------------------------------

function isChanged(field) {
  if (field.type === "radio") return field.checked !== field.defaultChecked;
  return "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue;
}

function readForm() {
  const form = document.querySelector("#decision");
  if (!form) return;
  const unsent = "kept" in form.dataset || [...form.elements].some(isChanged);
  form.toggleAttribute("data-unsent", unsent);
  const args = form.querySelector("#f-args");
  const offered = form.querySelector("#offered");
  if (!args || !offered) return;
  const edited = args.value !== offered.textContent;
  form.toggleAttribute("data-edited", edited);
  const label = form.querySelector("#approve-label");
  if (label) label.textContent = edited ? nameChanges(offered.textContent, args.value) : "Approve";
}

function nameChanges(before, after) {
  try {
    const number = countChanges(JSON.parse(before), JSON.parse(after));
    if (number > 0) return `Approve with ${number} ${number === 1 ? "change" : "changes"}`;
  } catch {
    // Not JSON yet: the server says what is wrong with it when it is sent.
  }
  return "Approve with changes";
}

function countChanges(before, after) {
  const isTree = (value) => typeof value === "object" && value !== null;
  if (!isTree(before) || !isTree(after)) return before === after ? 0 : 1;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].reduce((sum, key) => sum + countChanges(before[key], after[key]), 0);
}

/** Somebody else decided: what was written stays to be read and copied, and cannot be sent. */
function lock(form) {
  for (const field of form.elements) {
    if (field.dataset.copy) continue;
    if (field.matches("textarea, input:not([type=radio])")) field.readOnly = true;
    else field.disabled = true;
  }
}

function isUnsent() {
  return document.querySelector("#decision[data-unsent]") !== null;
}

document.addEventListener("input", readForm);

window.addEventListener("beforeunload", (event) => {
  if (document.querySelector("#decision[data-unsent] #bar[data-mode=open] button:enabled")) {
    event.preventDefault();
  }
});

// -- swapping parts by id -------------------------------------------------------------------------

function remember(root) {
  for (const part of root.querySelectorAll("[data-live]")) {
    served.set(part.id, part.outerHTML);
    if (part.dataset.live === "keyed") {
      for (const child of part.children) served.set(child.id, child.outerHTML);
    }
  }
}

/** Bring a list up to date child by child: those that stay keep their focus and selection. */
function mergeChildren(list, fresh) {
  const known = new Map(Array.from(list.children, (child) => [child.id, child]));
  const wanted = Array.from(fresh.children, (child) => {
    const html = child.outerHTML;
    const stays = known.has(child.id) && served.get(child.id) === html;
    served.set(child.id, html);
    return stays ? known.get(child.id) : child;
  });
  const focused = document.activeElement?.id;
  for (const child of known.values()) {
    if (!wanted.includes(child)) child.remove();
  }
  wanted.forEach((child, index) => {
    if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null);
  });
  if (focused && document.activeElement?.id !== focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

function maySwap(target, fresh) {
  const isSameMode = target.dataset.mode === fresh.dataset.mode;
  switch (target.dataset.live) {
    case "keyed":
      mergeChildren(target, fresh);
      return false;
    case "form":
      if (isSameMode) return false;
      if (!isUnsent()) return true;
      lock(document.querySelector("#decision"));
      return false;
    case "banner":
      // Why an answer was refused stays to be read until the state itself changes.
      return !("refused" in target.dataset && isSameMode);
    default:
      return true;
  }
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  const fresh = fragment.firstElementChild;
  const html = fresh.outerHTML;
  event.detail.shouldSwap = served.get(target.id) !== html && maySwap(target, fresh);
  if (event.detail.shouldSwap) served.set(target.id, html);
});

// -- reading again --------------------------------------------------------------------------------

let timer;
let readAt = 0;
let isReading = false;
let isStale = false;

/** Read the page again soon: one request at a time, however many pokes come in. */
function refresh() {
  isStale = true;
  if (!isReading) timer ??= setTimeout(read, Math.max(0, readAt + APART_MS - Date.now()));
}

async function read() {
  timer = undefined;
  isStale = false;
  isReading = true;
  const parts = Array.from(document.querySelectorAll("[data-live]"), (part) => `#${part.id}`);
  const scroller = scrollerAtItsEnd();
  try {
    await htmx.ajax("GET", main.dataset.url, {
      target: "body",
      swap: "none",
      selectOOB: parts.join(","),
    });
  } catch {
    // The connection is down: the socket notices, and polling goes on.
  }
  showTimes();
  showCopyButtons();
  scroller?.scrollTo({ top: scroller.scrollHeight });
  isReading = false;
  readAt = Date.now();
  if (isStale) refresh();
}

/** What scrolls the thread's end into sight, if the reader is there to see more arrive. */
function scrollerAtItsEnd() {
  const pane = document.querySelector("[data-follow]");
  if (!pane) return null;
  const own = pane.scrollHeight > pane.clientHeight;
  const scroller = own ? pane : document.scrollingElement;
  const below = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  return below < 80 ? scroller : null;
}

// -- sending --------------------------------------------------------------------------------------

const problems = {
  0: "There is no connection to the server. Your text is still here.",
  401: "You are signed out. Sign in in another tab, then send this again: your text is still here.",
  403: "You are not allowed to decide this, or the page is too old. Your text is still here.",
  404: "This is not there any more, or not yours to see.",
};

function report(status) {
  const problem = document.querySelector("#problem");
  if (!problem) return;
  problem.textContent =
    problems[status] ?? "The server had a problem. See whether this was decided before you try again.";
  problem.hidden = false;
}

document.addEventListener("htmx:configRequest", (event) => {
  // The token of the form is too old once its reader has signed in again in another tab.
  const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  if (event.detail.verb === "post" && cookie) {
    delete event.detail.parameters.csrfmiddlewaretoken;
    event.detail.headers["X-CSRFToken"] = cookie[1];
  }
});

document.addEventListener("htmx:afterSwap", (event) => {
  const detail = document.querySelector("#detail");
  if (event.detail.requestConfig?.verb !== "post" || !detail) return;
  remember(detail);
  readForm();
  showTimes();
  showCopyButtons();
  showPresence();
  document.querySelector("#banner > *")?.focus();
});

for (const name of ["htmx:responseError", "htmx:sendError"]) {
  document.addEventListener(name, (event) => {
    const status = event.detail.xhr?.status ?? 0;
    if (event.detail.requestConfig?.verb === "post") report(status);
    if (status === 401) say("lost", "Signed out");
  });
}

// -- the socket: it only says that it is worth reading again --------------------------------------

let failures = 0;

function connect() {
  const address = new URL("/ws/live/", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  for (const name of ["thread", "interrupt"]) {
    if (main.dataset[name]) address.searchParams.set(name, main.dataset[name]);
  }
  const socket = new WebSocket(address);
  socket.addEventListener("message", ({ data }) => {
    const poke = JSON.parse(data);
    if (poke.type === "presence") {
      present = poke;
      showPresence();
      return;
    }
    if (poke.type === "hello") {
      failures = 0;
      say("on", "Live");
    }
    // Also after hello: something may have changed before anybody listened.
    refresh();
  });
  socket.addEventListener("close", ({ code }) => {
    say("lost", code === SIGNED_OUT ? "Signed out" : "Reconnecting");
    // Signed out in another tab, or out of a team: the answer says which.
    if (code === NOT_ALLOWED) refresh();
    const most = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** failures);
    failures += 1;
    setTimeout(connect, most * (0.5 + Math.random() / 2));
  });
}

// -- who else is there, and holding on to what I have claimed -------------------------------------

let present = { here: [], online: 0 };

function showPresence() {
  const place = document.querySelector("#presence");
  if (!place) return;
  const names = present.here.map(({ name }) => name);
  const faces = present.here.map(({ initials, hue }) => {
    const face = document.createElement("span");
    face.className = `av av-${hue}`;
    face.textContent = initials;
    face.ariaHidden = "true";
    return face;
  });
  const text = document.createElement("span");
  const pattern = names.length === 1 ? place.dataset.one : place.dataset.many;
  text.textContent = pattern.replace("{names}", new Intl.ListFormat(document.documentElement.lang).format(names));
  place.replaceChildren(...(names.length ? [...faces, text] : []));
}

/** The form's own token may be too old by now; the cookie's never is. */
async function renew() {
  const address = document.querySelector("#claim[data-renew]")?.dataset.renew;
  const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  if (!address || !cookie) return;
  try {
    const headers = { "X-CSRFToken": cookie[1], "HX-Request": "true" };
    const answer = await fetch(address, { method: "POST", headers });
    if (!answer.ok) refresh();
  } catch {
    // The connection is down: the claim outlasts two more tries.
  }
}

setInterval(renew, RENEW_MS);

function say(state, words) {
  const live = document.querySelector("#live");
  live.dataset.state = state;
  const text = live.querySelector("#live-text");
  if (text.textContent !== words) text.textContent = words;
}

/** Rings may be lost: a page looks by itself every now and then. */
function poll() {
  const { state } = document.querySelector("#live").dataset;
  setTimeout(() => {
    refresh();
    poll();
  }, POLL_MS[state] ?? POLL_MS.lost);
}

remember(document);
readForm();
showTimes();
showCopyButtons();
setInterval(showTimes, 1000);
document.querySelector(".row[aria-current]")?.scrollIntoView({ block: "nearest" });
document.querySelector("[data-follow]")?.scrollTo({ top: Number.MAX_SAFE_INTEGER });
connect();
poll();
