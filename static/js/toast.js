// The toast about the last decision, and undoing decisions while that is possible.

import { showButtons } from "./buttons.js";
import { decisionBeingSent, isBulkBeingSent } from "./input_owner.js";
import { openRequest, opensHere } from "./navigation.js";
import { fill, main, messages } from "./page.js";
import { csrfToken, postHeaders } from "./post.js";
import { durationText } from "./times.js";

const TOAST_MS = 20_000;
/** Decisions without a limit of time are offered this long. */
const UNLIMITED_MS = 10 * 60_000;
const MOST_DECISIONS = 20;
/** In this tab only, and only decisions of this person. */
const STORE = `signoff.undo.${main.dataset.me}`;

/** Set when undo was pressed while a decision about several requests was being sent. */
const WAITS = "signoff.undo-waits";

let timer;
/** The end of the undo that runs; further ones follow it. */
let undoing = Promise.resolve();

// -- the decisions that can be undone, the newest last ----------------------------------------------

function stored() {
  return JSON.parse(sessionStorage.getItem(STORE) ?? "[]");
}

function store(decisions) {
  sessionStorage.setItem(STORE, JSON.stringify(decisions.slice(-MOST_DECISIONS)));
}

function add(decision) {
  store([...stored().filter(({ id }) => id !== decision.id), decision]);
}

function remove({ id }) {
  store(stored().filter((decision) => decision.id !== id));
}

function isInTime({ until }) {
  return until > Date.now();
}

/** Store the decision of a toast, or of the page with the results of a bulk decision. */
function register(element) {
  if (!element) return;
  // Without an address too: then the decision before it is not the last one.
  const { undo, seconds, ids, list } = element.dataset;
  const until = Date.now() + (seconds ? Number(seconds) * 1000 : UNLIMITED_MS);
  const html = element.id === "toast" ? element.outerHTML : "";
  const { interrupt: id = ids } = element.dataset;
  add({ id, undo, ids, list, html, until, isLimited: Boolean(seconds) });
}

// -- the toast ------------------------------------------------------------------------------------

/** Show the toast of a response in place of the last one. */
export function showToast(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const toast = page.querySelector("#toast");
  document.querySelector("#toast")?.remove();
  if (!toast) return;
  document.body.append(document.adoptNode(toast));
  showButtons();
  startTimer();
  register(toast);
  showCountdown();
}

/** Show the toast that the page came with, or that of a decision which can still be undone. */
export function startToasts() {
  const results = document.querySelector("#results");
  register(results ?? document.querySelector("#toast"));
  if (!results && !document.querySelector("#toast")) showNewest();
  startTimer();
  showCountdown();
  setInterval(showCountdown, 250);
  if (results && sessionStorage.getItem(WAITS)) undo();
  sessionStorage.removeItem(WAITS);
}

function showNewest() {
  const decision = stored()
    .filter((each) => each.isLimited && isInTime(each))
    .at(-1);
  if (!decision?.html) return;
  const page = new DOMParser().parseFromString(decision.html, "text/html");
  document.body.append(document.adoptNode(page.querySelector("#toast")));
  startTimer();
  showCountdown();
}

function say(text) {
  document.querySelector("#toast")?.remove();
  const toast = document.createElement("div");
  toast.id = "toast";
  toast.className = "toast";
  toast.role = "status";
  const line = document.createElement("p");
  toast.append(line);
  document.body.append(toast);
  line.textContent = text;
  startTimer();
}

/** Remove the toast after a while, unless the reader is about to use it. */
function startTimer() {
  clearTimeout(timer);
  timer = setTimeout(dismiss, TOAST_MS);
}

function dismiss() {
  const toast = document.querySelector("#toast");
  if (toast && !toast.matches(":hover, :focus-within")) toast.remove();
}

/** Show the time that is left, and take the button away after them. */
function showCountdown() {
  const toast = document.querySelector("#toast[data-undo]");
  if (!toast) return;
  const decision = stored().find(({ id }) => id === toast.dataset.interrupt);
  if (!decision?.isLimited) return;
  const seconds = Math.ceil((decision.until - Date.now()) / 1000);
  if (seconds > 0) {
    const time = durationText(1000 * seconds);
    toast.querySelector(".toast-left").textContent = fill(messages.left, { time });
  } else {
    toast.querySelector("form").remove();
    delete toast.dataset.undo;
  }
}

// -- undo -----------------------------------------------------------------------------------------

/** Undo the last decision: one that is being sent once it is recorded, and each press another one. */
export function undo() {
  const sent = decisionBeingSent();
  if (isBulkBeingSent()) sessionStorage.setItem(WAITS, "1");
  if (sent) say(messages.undoWaits);
  undoing = undoing.then(() => undoAfter(sent)).catch(() => say(messages.notUndone));
  return undoing;
}

async function undoAfter(sent) {
  if (sent && !(await sent)) {
    say(messages.nothingToUndo);
    return;
  }
  const decision = stored().at(-1);
  if (!decision?.undo || !isInTime(decision)) {
    say(decision ? messages.undoTooLate : messages.nothingToUndo);
    return;
  }
  if (decision.ids) undoMany(decision);
  else await undoOne(decision);
}

async function undoOne(decision) {
  try {
    const response = await fetch(decision.undo, {
      method: "POST",
      headers: { ...postHeaders(), "X-Signoff-Part": "request" },
    });
    remove(decision);
    if (response.ok) {
      await open(decision);
    } else {
      say(response.status === 409 ? messages.undoTooLate : messages.notUndone);
    }
  } catch {
    say(messages.noConnection);
  }
}

async function open({ id }) {
  const list = new URL(main.dataset.url, location.href);
  const isList = document.querySelector("#rows[data-notify]");
  const url = new URL(`/interrupts/${id}/${isList ? list.search : ""}`, location.href);
  if (!opensHere(url)) {
    location.assign(url);
    return;
  }
  await openRequest(url.href, { followsDecision: true });
  document.querySelector("#toast")?.remove();
  showNewest();
}

/** Undo a bulk decision: its page says what came of each request. */
function undoMany(decision) {
  remove(decision);
  const form = document.createElement("form");
  form.method = "post";
  form.action = decision.undo;
  const fields = [
    ["csrfmiddlewaretoken", csrfToken()],
    ["list", decision.list],
  ];
  for (const id of decision.ids.split(" ")) fields.push(["id", id]);
  for (const [name, value] of fields) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    field.value = value;
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}

document.addEventListener("submit", (event) => {
  const toast = event.target.closest("#toast");
  if (!toast) return;
  event.preventDefault();
  undo();
});
