// Other readers of the request, the renewal of claims, and read receipts.

import { fill, lang, messages } from "./page.js";
import { postHeaders } from "./post.js";
import { refresh } from "./refresh.js";

/** Claims last ten minutes. */
const RENEW_MS = 4 * 60_000;
const MOST_AVATARS = 4;

/** The other readers of this request, and the number of people online. */
let presence = { here: [], online: 1 };
/** Whether the reader has used the page since the last renewal of the claim. */
let isActive = false;

export function setPresence(message) {
  presence = message;
  showPresence();
}

/** Show the state of the connection in the rail. */
export function showConnection(state, text) {
  const live = document.querySelector("#live");
  live.dataset.state = state;
  const label = live.querySelector("#live-text");
  if (label.textContent !== text) label.textContent = text;
}

export function showPresence() {
  const { here: readers, online } = presence;
  if (document.querySelector("#live").dataset.state === "on") {
    showConnection("on", online > 1 ? fill(messages.online, { count: online }) : messages.live);
  }
  const place = document.querySelector("#presence");
  if (!place) return;
  const avatars = readers.slice(0, MOST_AVATARS).map(({ initials, hue }) => {
    const avatar = document.createElement("span");
    avatar.className = `av av-${hue}`;
    avatar.ariaHidden = "true";
    avatar.textContent = initials;
    return avatar;
  });
  const names = new Intl.ListFormat(lang).format(readers.map(({ name }) => name));
  const text = document.createElement("span");
  const pattern = readers.length > 1 ? messages.manyHere : messages.oneHere;
  if (readers.length) text.textContent = fill(pattern, { names });
  place.replaceChildren(...avatars, ...(readers.length ? [text] : []));
}

/** Renew the reader's claim if they have used the page; an idle page lets it expire. */
async function renewClaim() {
  const address = document.querySelector("#claim")?.dataset.renew;
  if (!address || !isActive) return;
  isActive = false;
  try {
    const response = await fetch(address, { method: "POST", headers: postHeaders() });
    if (!response.ok) refresh();
  } catch {
    // The connection is down: the claim lasts for two more attempts.
  }
}

/** Record in the audit trail that the reader has seen this request; hidden tabs do not count. */
export async function sendViewed() {
  const form = document.querySelector("[data-viewed]");
  if (!form || document.hidden) return;
  const address = form.dataset.viewed;
  delete form.dataset.viewed;
  const body = new URLSearchParams({ view_digest: form.elements.view_digest.value });
  try {
    await fetch(address, { method: "POST", headers: postHeaders(), body, keepalive: true });
  } catch {
    // The connection is down: try again when the tab becomes visible.
    form.dataset.viewed = address;
  }
}

for (const name of ["input", "keydown", "pointerdown", "scroll"]) {
  document.addEventListener(name, () => (isActive = true), { capture: true, passive: true });
}

document.addEventListener("visibilitychange", sendViewed);

setInterval(renewClaim, RENEW_MS);
