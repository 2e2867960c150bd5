// Starts the live parts of a page. The server renders everything; these scripts read the page
// again when something changed, and never replace what a reviewer is writing.

import "./busy.js";
import { showButtons } from "./buttons.js";
import { connect } from "./connection.js";
import { markUnsent } from "./decision_form.js";
import { showDraft } from "./drafts.js";
import "./keyboard.js";
import { centreRow, OPENED, openFirst, prefetch } from "./navigation.js";
import { sendViewed, showPresence } from "./presence.js";
import "./on_demand.js";
import { poll, refresh, REFRESHED } from "./refresh.js";
import "./submit.js";
import { rememberHtml } from "./swap.js";
import { showTimes } from "./times.js";
import { startToasts } from "./toast.js";

document.addEventListener(REFRESHED, () => {
  showTimes();
  showButtons();
  showPresence();
  prefetch();
});

document.addEventListener(OPENED, () => {
  markUnsent();
  showTimes();
  showButtons();
  showPresence();
  sendViewed();
  showDraft();
  prefetch();
  // The step of the guide that this was is done.
  if (document.querySelector("#first-steps")) refresh();
});

// The menu is a column on wide screens, for example after a phone is turned.
matchMedia("(width > 48rem)").addEventListener("change", () => {
  document.querySelector("#rail:popover-open")?.hidePopover();
});

rememberHtml(document);
markUnsent();
startToasts();
showTimes();
showButtons();
sendViewed();
setInterval(showTimes, 1000);
centreRow();
connect();
poll();
openFirst();
showDraft();
