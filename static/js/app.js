// Starts the live parts of a page. The server renders everything; these scripts read the page
// again when something changed, and never replace what a reviewer is writing.

import "./ask_back.js";
import { showButtons } from "./buttons.js";
import { connect } from "./connection.js";
import { markUnsent } from "./decision_form.js";
import "./keyboard.js";
import { notifyNewRows, offerNotifications } from "./notifications.js";
import { sendViewed, showPresence } from "./presence.js";
import { poll, REFRESHED } from "./refresh.js";
import "./submit.js";
import { rememberHtml } from "./swap.js";
import { showTimes } from "./times.js";

const TOAST_MS = 20_000;

document.addEventListener(REFRESHED, () => {
  showTimes();
  showButtons();
  showPresence();
  notifyNewRows();
});

// The menu is a column on wide screens, for example after a phone is turned.
matchMedia("(width > 48rem)").addEventListener("change", () => {
  document.querySelector("#rail:popover-open")?.hidePopover();
});

/** Remove the toast, unless the reader is about to use it. */
function dismissToast() {
  const toast = document.querySelector("#toast");
  if (toast && !toast.matches(":hover, :focus-within")) toast.remove();
}

rememberHtml(document);
markUnsent();
setTimeout(dismissToast, TOAST_MS);
showTimes();
showButtons();
notifyNewRows();
offerNotifications();
sendViewed();
setInterval(showTimes, 1000);
document.querySelector(".row[aria-current]")?.scrollIntoView({ block: "nearest" });
document.querySelector("[data-follow]")?.scrollTo({ top: Number.MAX_SAFE_INTEGER });
connect();
poll();
