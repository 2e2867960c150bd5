// Push messages in this browser: switching them on and off, on the page of one's notifications.

import { lang } from "./page.js";
import { csrfToken } from "./post.js";

const section = document.querySelector("#push");

/** Return the state of a browser, by which the page explains what is missing. */
export function stateOf({ isSecure, hasPush, isApple, permission, isSubscribed }) {
  if (!isSecure) return "insecure";
  if (!hasPush) return isApple ? "home" : "unsupported";
  if (permission === "denied") return "denied";
  return isSubscribed ? "on" : "off";
}

/** Return whether it is an iPhone or iPad, which have push on the Home Screen only. */
export function isAppleDevice({ userAgent, maxTouchPoints }) {
  // An iPad says that it is a Mac.
  return /iPhone|iPad/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1);
}

/** Return the base64url text of bytes. */
export function toText(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Return the bytes of a base64url text: Safari takes no texts. */
export function toBytes(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

async function subscription() {
  const registration = await navigator.serviceWorker.getRegistration("/");
  return (await registration?.pushManager.getSubscription()) ?? null;
}

function isCurrent(existing) {
  return toText(existing.options.applicationServerKey) === section.dataset.key;
}

/** Return the list item of this browser, null if the server does not know it. */
async function rowOf(existing) {
  const bytes = new TextEncoder().encode(existing.endpoint);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const text = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return section.querySelector(`[data-browser="${text}"]`);
}

function show(state) {
  for (const part of section.querySelectorAll("[data-push]")) {
    part.hidden = part.dataset.push !== state;
  }
}

async function showState() {
  const hasPush =
    "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  const existing = hasPush && window.isSecureContext ? await subscription() : null;
  const row = existing && (await rowOf(existing));
  const tag = row?.querySelector("[data-this-browser]");
  if (tag) tag.hidden = false;
  show(
    stateOf({
      isSecure: window.isSecureContext,
      hasPush,
      isApple: isAppleDevice(navigator),
      permission: window.Notification?.permission,
      isSubscribed: Boolean(row) && isCurrent(existing),
    }),
  );
}

/** Subscribe with the key of the server, and return the endpoint that a former key had, too. */
async function subscribe() {
  const options = { scope: "/", updateViaCache: "none" };
  await navigator.serviceWorker.register(section.dataset.worker, options);
  const { pushManager } = await navigator.serviceWorker.ready;
  const existing = await pushManager.getSubscription();
  if (existing && !isCurrent(existing)) await existing.unsubscribe();
  const key = toBytes(section.dataset.key);
  const added = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  return { added, former: existing?.endpoint };
}

async function send({ added, former }) {
  const { endpoint, keys } = added.toJSON();
  const body = { endpoint, keys, language: lang };
  if (former && former !== endpoint) body.former_endpoint = former;
  return fetch(section.dataset.channels, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
    body: JSON.stringify(body),
  });
}

async function switchOn() {
  const problem = section.querySelector("[data-push-problem]");
  const refusal = section.querySelector("[data-push-refusal]");
  problem.hidden = true;
  refusal.hidden = true;
  // Asked after the click only: browsers remember a refusal for good.
  if ((await Notification.requestPermission()) !== "granted") return showState();
  try {
    const answer = await send(await subscribe());
    if (answer.ok) return location.reload();
    refusal.textContent = (await answer.json()).detail;
    refusal.hidden = false;
  } catch {
    problem.hidden = false;
  }
}

/** Unsubscribe before the form is sent that removes this browser. */
async function remove(event) {
  const form = event.target;
  if (!form.matches("[data-remove-browser]")) return;
  event.preventDefault();
  try {
    const existing = await subscription();
    const row = existing && (await rowOf(existing));
    if (row?.contains(form)) await existing.unsubscribe();
  } finally {
    form.submit();
  }
}

if (section) {
  section.querySelector("[data-push-on]").addEventListener("click", switchOn);
  section.addEventListener("submit", remove);
  showState();
}
