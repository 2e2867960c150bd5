// The toast about the last decision, and undoing decisions while that is possible.

import { showButtons } from "./buttons.js";
import { openRequest, opensHere } from "./navigation.js";
import { fill, main, messages } from "./page.js";
import { csrfToken, postHeaders } from "./post.js";
import { formatDuration } from "./times.js";

const TOAST_MS = 20_000;
/** Decisions without a limit of time are offered this long. */
const UNLIMITED_MS = 10 * 60_000;
const MOST_DECISIONS = 20;
/** In this tab only, and only decisions of this person. */
const STORE = `signoff.undo.${main.dataset.me}`;

let timer;
let isUndoing = false;

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
  const { undo, seconds, ids, list } = element?.dataset ?? {};
  if (!undo) return;
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
  const results = document.querySelector("#results[data-undo]");
  register(results ?? document.querySelector("#toast"));
  if (!results && !document.querySelector("#toast")) showNewest();
  startTimer();
  showCountdown();
  setInterval(showCountdown, 250);
}

function showNewest() {
  const decision = stored().filter((each) => each.isLimited && isInTime(each)).at(-1);
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
    const time = formatDuration(1000 * seconds, "long");
    toast.querySelector(".toast-left").textContent = fill(messages.left, { time });
  } else {
    toast.querySelector("form").remove();
    delete toast.dataset.undo;
  }
}

// -- undo -----------------------------------------------------------------------------------------

/** Undo the newest decision that can still be undone. */
export async function undo() {
  if (isUndoing) return;
  const decisions = stored();
  const decision = decisions.filter(isInTime).at(-1);
  if (!decision) {
    say(decisions.length ? messages.undoTooLate : messages.nothingToUndo);
    return;
  }
  if (decision.ids) {
    undoMany(decision);
    return;
  }
  isUndoing = true;
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
  } finally {
    isUndoing = false;
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
  await openRequest(url.href);
  document.querySelector("#toast")?.remove();
  showNewest();
}

/** Undo a bulk decision: its page says what came of each request. */
function undoMany(decision) {
  remove(decision);
  const form = document.createElement("form");
  form.method = "post";
  form.action = decision.undo;
  const fields = [["csrfmiddlewaretoken", csrfToken()], ["list", decision.list]];
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
