// Keeps an open page up to date. The server renders everything; this file asks for it again when
// somebody says that something has changed, and never touches what a reviewer is writing.

/** The first poke is followed at once, the next ones not more often than this. */
const APART_MS = 150;
/** A page that was just built looks again only when others have had their turn. */
const NEW_PAGE_MS = 1_000;
/** A page that its answer leads away from looks again only if it is still there by then. */
const LEAVING_MS = 2_000;
const POLL_MS = { on: 30_000, lost: 10_000 };
const BACKOFF_MS = { first: 500, most: 15_000 };
const NOT_ALLOWED = 4403;
const TOAST_MS = 20_000;
/** A claim lasts for ten minutes. */
const RENEW_MS = 4 * 60_000;

const main = document.querySelector("#main");
/** What the server sent for each part, by id: only what differs from it is swapped. */
const served = new Map();

/** The texts of this script, in the reader's language. */
const words = JSON.parse(main.dataset.words);
const { lang } = document.documentElement;

/** A text with its `{names}` filled in. */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// -- times: the server writes UTC, the reader sees their own zone ---------------------------------

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const fullTime = new Intl.DateTimeFormat(lang, { dateStyle: "full", timeStyle: "long" });
const clockTime = new Intl.DateTimeFormat(lang, { timeStyle: "medium" });
const shortDate = new Intl.DateTimeFormat(lang, { day: "numeric", month: "short" });
const shortMoment = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" });

/** A length of time in its largest unit: "4m". */
function span(milliseconds) {
  const [size, unit] = milliseconds < hour ? [minute, "minute"] : [hour, "hour"];
  const count = Math.floor(milliseconds / size);
  return new Intl.NumberFormat(lang, { style: "unit", unit, unitDisplay: "narrow" }).format(count);
}

const spellings = {
  age(at) {
    const passed = Date.now() - at;
    if (passed < minute) return words.now;
    return passed < day ? span(passed) : shortDate.format(at);
  },
  ago(at) {
    const passed = Date.now() - at;
    if (passed < minute) return words.justNow;
    if (passed < hour) return relative.format(-Math.floor(passed / minute), "minute");
    if (passed < day) return relative.format(-Math.floor(passed / hour), "hour");
    return shortMoment.format(at);
  },
  left(at) {
    const left = at - Date.now();
    if (left <= 0) return words.now;
    if (left >= day) return shortMoment.format(at);
    if (left >= 10 * minute) return fill(words.left, { time: span(left) });
    const seconds = String(Math.floor((left % minute) / 1000)).padStart(2, "0");
    return fill(words.left, { time: `${Math.floor(left / minute)}:${seconds}` });
  },
  in(at) {
    const left = at - Date.now();
    if (left < hour) return relative.format(Math.max(0, Math.floor(left / minute)), "minute");
    if (left < day) return relative.format(Math.floor(left / hour), "hour");
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

// -- buttons that need a script -------------------------------------------------------------------

function showButtons() {
  for (const button of document.querySelectorAll("[data-copy], [data-close], [data-opens]")) {
    const { copy: source } = button.dataset;
    // There may be no edits to copy.
    button.hidden = Boolean(source) && !(navigator.clipboard && document.getElementById(source));
  }
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  if (!source) return;
  await navigator.clipboard.writeText(source.textContent);
  button.lastElementChild.textContent = words.copied;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-close], [data-opens]");
  if (button?.dataset.copy) copy(button);
  if (button?.dataset.opens) document.getElementById(button.dataset.opens).showModal();
  if (button?.dataset.close) document.getElementById(button.dataset.close)?.remove();
});

// -- the form: what is unsent, and what it would change ------------------------------------------

function isChanged(field) {
  if (field.type === "hidden" || field.type === "submit") return false;
  if (field.type === "radio" || field.type === "checkbox") {
    return field.name !== "opened" && field.checked !== field.defaultChecked;
  }
  if (field.options) return [...field.options].some((one) => one.selected !== one.defaultSelected);
  return "defaultValue" in field && field.value !== field.defaultValue;
}

function readForm() {
  const form = document.querySelector("#decision");
  if (!form) return;
  const unsent = "kept" in form.dataset || [...form.elements].some(isChanged);
  form.toggleAttribute("data-unsent", unsent);
}

let looking;
let drafting;

/** Ask the server what the form would change, a moment after the last key. */
function lookAtChanges(form) {
  clearTimeout(looking);
  looking = setTimeout(draft, 250, form, "look", ["changes", "approve-label"]);
}

/** Post the form without deciding, and take these parts of the answer; the latest one counts. */
async function draft(form, operation, parts) {
  clearTimeout(looking);
  drafting?.abort();
  drafting = new AbortController();
  const body = new FormData(form);
  body.set("draft", operation);
  try {
    // Not `form.action`: that is the buttons of this name.
    const response = await fetch(form.getAttribute("action"), {
      method: "POST",
      body,
      headers: postHeaders(),
      signal: drafting.signal,
    });
    if (!response.ok) return report(response.status);
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const id of parts) {
      const part = fresh.getElementById(id);
      if (part) document.getElementById(id)?.replaceWith(part);
    }
  } catch (problem) {
    if (problem.name !== "AbortError") report(0);
  }
}

/** Add or remove an item, choose a branch, change to JSON and back: the rest stays as typed. */
async function restructure(form, button) {
  const { id } = button;
  await draft(form, button.value, ["answer", "changes", "approve-label"]);
  form.dataset.kept = "";
  readForm();
  const next = document.getElementById(id) ?? document.querySelector("#answer [autofocus]");
  (next ?? firstField())?.focus();
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

function firstField() {
  return document.querySelector("#answer :is(input, textarea, select):enabled:not([type=hidden])");
}

/** Somebody else decided: what was written stays to be read and copied, and cannot be sent. */
function lock(form) {
  for (const field of form.elements) {
    if (field.dataset.copy || field.matches("fieldset, :disabled, :read-only:not(button)")) continue;
    field.dataset.locked = "";
    if (field.matches("textarea, input:not([type=radio], [type=checkbox])")) field.readOnly = true;
    else field.disabled = true;
  }
}

/** They took their decision back: it can be sent again. */
function unlock(form) {
  for (const field of form.querySelectorAll("[data-locked]")) {
    field.readOnly = field.disabled = false;
    delete field.dataset.locked;
  }
}

function isUnsent() {
  return document.querySelector("#decision[data-unsent]") !== null;
}

document.addEventListener("input", ({ target }) => {
  readForm();
  if (target.closest("#answer") && document.querySelector("#changes")) lookAtChanges(target.form);
});

// What is folded counts as read once it was opened.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.open || !target.matches("[data-fold]")) return;
    for (const box of target.querySelectorAll("[name=opened]")) box.checked = true;
  },
  true,
);

window.addEventListener("beforeunload", (event) => {
  const bar = document.querySelector("#decision[data-unsent] #bar");
  if (bar && isUndecided(bar) && bar.querySelector("button:enabled")) event.preventDefault();
});

// What is sent without htmx is not unsent any more either.
document.addEventListener("submit", ({ target, defaultPrevented }) => {
  if (target.id === "decision" && !defaultPrevented) delete target.dataset.unsent;
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

/** Whether an answer can still be sent with this bar, once the request is one's own again. */
function isUndecided({ dataset }) {
  return dataset.mode === "open" || dataset.mode === "claimed";
}

/** Who has claimed a request changes the buttons; the note that was begun goes along. */
function keepNote(bar, fresh) {
  const note = bar.querySelector(".note");
  if (!note) return;
  const place = fresh.querySelector(".note");
  if (place) place.replaceWith(note);
  else fresh.append(note);
  note.hidden = !place;
}

function maySwap(target, fresh) {
  const isSameMode = target.dataset.mode === fresh.dataset.mode;
  switch (target.dataset.live) {
    case "keyed":
      mergeChildren(target, fresh);
      return false;
    case "form":
      if (isSameMode) {
        if (isUndecided(fresh)) unlock(document.querySelector("#decision"));
        return false;
      }
      if (!isUnsent()) return true;
      if (isUndecided(target) && isUndecided(fresh)) {
        keepNote(target, fresh);
        return true;
      }
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
  if (!event.detail.shouldSwap) return;
  served.set(target.id, html);
  noteFocus(target);
});

/** What is to be focused once this part was swapped, if the focus is in it: see htmx:oobAfterSwap. */
let successor = "";

function noteFocus(part) {
  const focused = document.activeElement;
  if (!part.contains(focused)) return;
  const { id, dataset } = focused;
  if (id) successor = `#${CSS.escape(id)}`;
  else successor = dataset.key ? `#${part.id} [data-key="${dataset.key}"]` : `#${part.id} button`;
}

// A button that was pressed gives way to the next one, and what is gone to the whole request.
document.addEventListener("htmx:oobAfterSwap", () => {
  if (!successor) return;
  const next = document.querySelector(successor) ?? document.querySelector(".detail-scroll");
  if (document.activeElement === document.body) next?.focus({ preventScroll: true });
  successor = "";
});

// -- reading again --------------------------------------------------------------------------------

let timer;
let readAt = 0;
let apart = APART_MS;
let isReading = false;
let isStale = false;
/** Whether a decision of this page is on its way, whose answer makes reading again needless. */
let isSending = false;

/** Read the page again soon: one request at a time, however many pokes come in. */
function refresh() {
  isStale = true;
  if (!isReading && !isSending) timer ??= setTimeout(read, Math.max(0, readAt + apart - Date.now()));
}

async function read() {
  timer = undefined;
  isStale = false;
  isReading = true;
  const began = Date.now();
  const parts = Array.from(document.querySelectorAll("[data-live]"), (part) => `#${part.id}`);
  const scroller = scrollerAtItsEnd();
  try {
    await htmx.ajax("GET", main.dataset.url, {
      target: "body",
      swap: "none",
      selectOOB: parts.join(","),
      // A page that is left open does not keep its session.
      headers: { "X-Signoff-Refresh": "1" },
    });
  } catch {
    // The connection is down: the socket notices, and polling goes on.
  }
  showTimes();
  showButtons();
  showPresence();
  noteRows();
  scroller?.scrollTo({ top: scroller.scrollHeight });
  isReading = false;
  readAt = Date.now();
  // A page that takes long to build, as of a long text that is being written, is asked for less.
  apart = Math.max(APART_MS, 2 * (readAt - began));
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
  0: words.noConnection,
  401: words.mustSignIn,
  403: words.notAllowed,
  404: words.notThere,
};

function report(status) {
  const problem = document.querySelector("#problem");
  if (!problem) return;
  problem.textContent = problems[status] ?? words.broken;
  problem.hidden = false;
}

/** The token of a form is too old once its reader has signed in again in another tab. */
function csrfToken() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";
}

function postHeaders() {
  return { "HX-Request": "true", "X-CSRFToken": csrfToken() };
}

document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb === "post" && csrfToken()) {
    delete event.detail.parameters.csrfmiddlewaretoken;
    event.detail.headers["X-CSRFToken"] = csrfToken();
  }
});

// What was sent is not unsent any more: the next page opens without a question.
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  const form = document.querySelector("#decision");
  if (form && detail.xhr.getResponseHeader("HX-Redirect")) delete form.dataset.unsent;
});

// What the own decision has changed is on the page that its answer leads to.
function isDecision({ requestConfig }) {
  return requestConfig.verb === "post" && requestConfig.elt.id === "decision";
}

document.addEventListener("htmx:beforeSend", ({ detail }) => {
  if (isDecision(detail)) isSending = true;
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!isDecision(detail)) return;
  const isLeaving = detail.xhr.getResponseHeader("HX-Redirect");
  setTimeout(
    () => {
      isSending = false;
      if (isStale) refresh();
    },
    isLeaving ? LEAVING_MS : 0,
  );
});

document.addEventListener("htmx:afterSwap", (event) => {
  const detail = document.querySelector("#detail");
  if (event.detail.requestConfig?.verb !== "post" || !detail) return;
  remember(detail);
  readForm();
  showTimes();
  showButtons();
  showPresence();
  document.querySelector("#banner > *")?.focus();
  tellViewed();
});

for (const name of ["htmx:responseError", "htmx:sendError"]) {
  document.addEventListener(name, (event) => {
    const status = event.detail.xhr?.status ?? 0;
    if (event.detail.requestConfig?.verb === "post") report(status);
    if (status === 401) {
      isTurnedAway = true;
      say("lost", words.signedOut);
    } else if (status === 404 && isTurnedAway) {
      say("lost", words.notThere);
    }
  });
}

// Signed in again in another tab: the page goes on where it was.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!isTurnedAway || !detail.successful) return;
  isTurnedAway = false;
  if (socket) say("on", words.live);
  connect();
});

document.addEventListener("visibilitychange", () => {
  if (isTurnedAway && !document.hidden) refresh();
});

// -- keys -----------------------------------------------------------------------------------------

const KEYS_OFF = "signoff.keys-off";
/** The first key of a pair (`g p`), for as long as the second may follow. */
let pair = "";

const keys = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => focusOn("#search"),
  e: onFocusedRequest(() => firstField()?.focus()),
  d: onFocusedRequest(() => focusOn("#changes-title")),
  a: onFocusedRequest(startAccepting),
  r: onFocusedRequest(startRejecting),
  c: onFocusedRequest(() => press("[data-key=c]")),
  u: () => press("[data-key=u]"),
  x: () => select(document.activeElement.closest(".row")),
  g: () => {
    pair = "g";
    setTimeout(() => (pair = ""), 1000);
  },
  "g p": () => press("[data-key='g p']"),
  "g d": () => press("[data-key='g d']"),
  "g t": () => press("[data-key='g t']"),
  "g r": () => press("[data-key='g r']"),
  "?": () => document.querySelector("#keys")?.showModal(),
};

/** Whether a person can see it: no key acts on what is off screen. */
function isOnScreen(element) {
  if (!element?.checkVisibility()) return false;
  const box = element.getBoundingClientRect();
  const pane = element.closest(".list-scroll, .detail-scroll")?.getBoundingClientRect();
  const top = Math.max(0, pane?.top ?? 0);
  const bottom = Math.min(innerHeight, pane?.bottom ?? innerHeight);
  return box.bottom > top && box.top < bottom;
}

function focusOn(selector) {
  const element = document.querySelector(selector);
  if (!element?.checkVisibility()) return;
  element.focus();
  element.scrollIntoView({ block: "nearest" });
}

function press(selector) {
  const element = document.querySelector(selector);
  if (element?.checkVisibility()) element.click();
}

/** Move the focus along the rows, from the focused or the open one. */
function move(step) {
  const links = [...document.querySelectorAll(".row-title")].filter((one) => one.checkVisibility());
  const here = links.indexOf(document.activeElement);
  const open = links.findIndex((link) => link.closest("[aria-current]"));
  const next = here >= 0 ? here + step : open >= 0 && step ? open + step : 0;
  links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
}

/** Select a row for a decision on many; one that was scrolled away only comes back into sight. */
function select(row) {
  if (!row) return;
  const wasOnScreen = isOnScreen(row);
  row.scrollIntoView({ block: "nearest" });
  if (wasOnScreen) row.querySelector("input[type=checkbox]")?.click();
}

/** A key acts on the row that has the focus: if another request is open, that row opens first. */
function onFocusedRequest(act) {
  return () => {
    const row = document.activeElement.closest(".row:not([aria-current])");
    if (row) row.querySelector(".row-title").click();
    else act();
  };
}

function startAccepting() {
  stopRejecting();
  focusOn("#decide-buttons button[aria-keyshortcuts=a]");
}

/** The note asks why, and Enter in it rejects; without a note the button has the focus. */
function startRejecting() {
  const note = document.querySelector("#f-reason:enabled:read-write");
  if (!note) {
    focusOn("#decide-buttons button[aria-keyshortcuts=r]");
    return;
  }
  document.querySelector("#bar").dataset.intent = "reject";
  note.setAttribute("aria-describedby", "reject-hint");
  focusOn("#f-reason");
}

function stopRejecting() {
  const bar = document.querySelector("#bar[data-intent]");
  if (!bar) return;
  delete bar.dataset.intent;
  bar.querySelector("#f-reason")?.removeAttribute("aria-describedby");
}

document.addEventListener("focusout", ({ target, relatedTarget }) => {
  const bar = target.closest("#bar[data-intent]");
  if (bar && document.hasFocus() && !bar.contains(relatedTarget)) stopRejecting();
});

/** Ctrl+Enter decides only where it is plain what it means: on a button, and in the reject mode. */
function send() {
  const { activeElement } = document;
  if (activeElement.form && activeElement.form.id !== "decision") {
    if (activeElement.matches("button")) activeElement.click();
    else activeElement.form.requestSubmit();
    return;
  }
  const button = activeElement.closest("#decide-buttons button");
  if (button) {
    if (isOnScreen(button)) button.click();
  } else if (activeElement.id === "f-reason") {
    sendNote();
  } else {
    focusOn("#decide-buttons button");
  }
}

/** A note alone picks no side. */
function sendNote() {
  if (document.querySelector("#bar[data-intent=reject]")) {
    press("#decide-buttons button[value=reject]");
    return;
  }
  focusOn("#decide-buttons");
  const problem = document.querySelector("#problem");
  problem.textContent = words.chooseButton;
  problem.hidden = false;
}

/** Leave the field, else go back to the list. */
function leave(field) {
  if (document.querySelector("dialog[open], [popover]:popover-open")) return;
  if (field) field.blur();
  else document.querySelector("[data-key=Escape]")?.click();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const field = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    // Held down it would answer the next request as well, as soon as that opens.
    if (!event.repeat) send();
  } else if (event.key === "Enter" && event.target.id === "f-reason") {
    event.preventDefault();
    if (!event.repeat) sendNote();
  } else if (event.key === "Escape") {
    leave(field);
  } else if (isPlain && !field && !localStorage.getItem(KEYS_OFF)) {
    if (document.querySelector("dialog[open]")) return;
    const act = keys[pair ? `${pair} ${event.key}` : event.key];
    pair = "";
    if (!act) return;
    event.preventDefault();
    act();
  }
});

const keysSwitch = document.querySelector("#keys-on");
if (keysSwitch) {
  keysSwitch.checked = !localStorage.getItem(KEYS_OFF);
  keysSwitch.addEventListener("change", () => {
    if (keysSwitch.checked) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, "1");
  });
}

// -- the socket: it says that it is worth reading again, and what is too late to answer -----------

let socket;
let reconnecting;
let failures = 0;
let isNew = true;
/** Whether this reader may not listen: the socket waits until a request is answered again. */
let isTurnedAway = false;
/** Who else looks at the same request, and how many people are there at all. */
let presence = { here: [], online: 1 };

function connect() {
  clearTimeout(reconnecting);
  if (socket || isTurnedAway) return;
  const address = new URL("/ws/live/", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  for (const name of ["thread", "interrupt"]) {
    if (main.dataset[name]) address.searchParams.set(name, main.dataset[name]);
  }
  socket = new WebSocket(address);
  socket.addEventListener("message", ({ data }) => {
    const poke = JSON.parse(data);
    if (poke.type === "presence") {
      presence = poke;
      showPresence();
      return;
    }
    if (poke.type === "hello") {
      failures = 0;
      say("on", words.live);
      // Something may have changed before anybody listened; little, if the page is new.
      setTimeout(refresh, isNew ? NEW_PAGE_MS : 0);
      isNew = false;
    } else if (poke.type === "decided") {
      showDecided(poke);
    } else {
      refresh();
    }
  });
  socket.addEventListener("close", ({ code }) => {
    socket = undefined;
    if (!isTurnedAway) say("lost", words.reconnecting);
    if (code === NOT_ALLOWED) {
      // Signed out in another tab, or out of a team: the answer says which.
      isTurnedAway = true;
      refresh();
      return;
    }
    const most = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** failures);
    failures += 1;
    reconnecting = setTimeout(connect, most * (0.5 + Math.random() / 2));
  });
}

/** Somebody was faster: nobody goes on answering while the page reads what was decided. */
function showDecided({ interrupts, by }) {
  for (const id of interrupts) {
    const row = document.getElementById(`row-${id}`);
    row?.classList.add("is-done");
    // Whatever comes from the server now counts, even if it is what was there before.
    served.delete(`row-${id}`);
  }
  const banner = document.querySelector("#banner:not([data-refused])");
  if (isSending || !banner || !interrupts.includes(main.dataset.interrupt)) return;
  for (const id of ["banner", "bar"]) served.delete(id);
  lock(document.querySelector("#decision"));
  const text = document.createElement("p");
  text.textContent = fill(words.decided, { who: by });
  // Without a role: what follows in a moment says more, and is read out then.
  const said = document.createElement("div");
  said.className = "banner banner-late";
  said.append(text);
  banner.replaceChildren(said);
}

// -- who else is there, and holding on to what I have claimed -------------------------------------

let isAtWork = false;

for (const name of ["input", "keydown", "pointerdown", "scroll"]) {
  document.addEventListener(name, () => (isAtWork = true), { capture: true, passive: true });
}

/** A claim lasts as long as its holder works on it, and not as long as a page is left open. */
async function renew() {
  const address = document.querySelector("#claim")?.dataset.renew;
  if (!address || !isAtWork) return;
  isAtWork = false;
  try {
    const answer = await fetch(address, { method: "POST", headers: postHeaders() });
    if (!answer.ok) refresh();
  } catch {
    // The connection is down: the claim outlasts two more tries.
  }
}

setInterval(renew, RENEW_MS);

/** The trail says who has seen what; a tab that was opened behind this one shows nothing yet. */
async function tellViewed() {
  const form = document.querySelector("[data-viewed]");
  if (!form || document.hidden) return;
  const address = form.dataset.viewed;
  delete form.dataset.viewed;
  const body = new URLSearchParams({ view_digest: form.elements.view_digest.value });
  try {
    await fetch(address, { method: "POST", headers: postHeaders(), body, keepalive: true });
  } catch {
    // The connection is down: whoever comes back to the tab is told of then.
    form.dataset.viewed = address;
  }
}

document.addEventListener("visibilitychange", tellViewed);

function say(state, text) {
  const live = document.querySelector("#live");
  live.dataset.state = state;
  const shown = live.querySelector("#live-text");
  if (shown.textContent !== text) shown.textContent = text;
}

function showPresence() {
  const { here, online } = presence;
  if (document.querySelector("#live").dataset.state === "on") {
    say("on", online > 1 ? fill(words.online, { count: online }) : words.live);
  }
  const place = document.querySelector("#presence");
  if (!place) return;
  const faces = here.slice(0, 4).map(({ initials, hue }) => {
    const face = document.createElement("span");
    face.className = `av av-${hue}`;
    face.ariaHidden = "true";
    face.textContent = initials;
    return face;
  });
  const names = new Intl.ListFormat(lang).format(here.map(({ name }) => name));
  const text = document.createElement("span");
  const pattern = here.length > 1 ? words.manyHere : words.oneHere;
  if (here.length) text.textContent = fill(pattern, { names });
  place.replaceChildren(...faces, ...(here.length ? [text] : []));
}

// -- new requests: on the page's title, and, where the reader wants it, from the browser ----------

let seenRows;

function noteRows() {
  const rows = [...document.querySelectorAll("#rows[data-notify] > .row")];
  const fresh = seenRows ? rows.filter((row) => !seenRows.has(row.id)) : [];
  seenRows = new Set([...(seenRows ?? []), ...rows.map((row) => row.id)]);
  if (!fresh.length || !document.hidden || window.Notification?.permission !== "granted") return;
  for (const row of fresh.slice(0, 3)) {
    const link = row.querySelector(".row-title");
    const note = new Notification(words.newRequest, { body: link.textContent, tag: row.id });
    note.addEventListener("click", () => {
      window.focus();
      location.assign(link.href);
    });
  }
}

function offerNotifications() {
  const button = document.querySelector("#notify");
  if (!button || !("Notification" in window)) return;
  button.hidden = Notification.permission !== "default";
  button.addEventListener("click", async () => {
    await Notification.requestPermission();
    button.hidden = Notification.permission !== "default";
  });
}

/** Rings may be lost: a page looks by itself every now and then. */
function poll() {
  const { state } = document.querySelector("#live").dataset;
  setTimeout(() => {
    refresh();
    poll();
  }, POLL_MS[state] ?? POLL_MS.lost);
}

// A phone that is turned, or a window that grows, has the menu as a column.
matchMedia("(width > 48rem)").addEventListener("change", () => {
  document.querySelector("#rail:popover-open")?.hidePopover();
});

/** A toast leaves by itself, unless somebody is about to use it. */
function dismissToast() {
  const toast = document.querySelector("#toast");
  if (toast && !toast.matches(":hover, :focus-within")) toast.remove();
}

remember(document);
readForm();
setTimeout(dismissToast, TOAST_MS);
showTimes();
showButtons();
noteRows();
offerNotifications();
tellViewed();
setInterval(showTimes, 1000);
document.querySelector(".row[aria-current]")?.scrollIntoView({ block: "nearest" });
document.querySelector("[data-follow]")?.scrollTo({ top: Number.MAX_SAFE_INTEGER });
connect();
poll();
