// Shows the part of a page that a link with `data-sheet` leads to in a dialog.

import { report } from "./post.js";

/** Read the page of a link, and show its part; without a connection say so. */
export async function openSheet(link) {
  let html;
  try {
    const response = await fetch(link.href, { headers: { "HX-Request": "true" } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    html = await response.text();
  } catch {
    report(0);
    return;
  }
  const page = new DOMParser().parseFromString(html, "text/html");
  const part = document.adoptNode(page.querySelector("#sheet-part"));
  const dialog = document.querySelector("#sheet");
  dialog.querySelector(".dlg-body").replaceChildren(part);
  dialog.showModal();
  (part.querySelector(".choice") ?? part.querySelector("#sheet-title"))?.focus();
}
