// Browser notifications about new requests, if the reader has turned them on.

import { messages } from "./page.js";
import { REFRESHED } from "./refresh.js";

const MOST_AT_ONCE = 3;

/** The ids of the rows that were on the page before; undefined at first. */
let knownIds;

function notifyNewRows() {
  const rows = [...document.querySelectorAll("#rows[data-notify] > .row")];
  const newRows = knownIds ? rows.filter((row) => !knownIds.has(row.id)) : [];
  knownIds = new Set([...(knownIds ?? []), ...rows.map((row) => row.id)]);
  if (!newRows.length || !document.hidden) return;
  if (window.Notification?.permission !== "granted") return;
  for (const row of newRows.slice(0, MOST_AT_ONCE)) {
    const link = row.querySelector(".row-title");
    const note = new Notification(messages.newRequest, {
      body: link.textContent.trim(),
      tag: row.id,
    });
    note.addEventListener("click", () => {
      window.focus();
      location.assign(link.href);
    });
  }
}

/** Notify of the rows that come from now on. */
export function watchRows() {
  notifyNewRows();
  document.addEventListener(REFRESHED, notifyNewRows);
}

/** Ask the reader for the permission. */
export async function turnOn(button) {
  await Notification.requestPermission();
  button.hidden = Notification.permission !== "default";
  watchRows();
}
