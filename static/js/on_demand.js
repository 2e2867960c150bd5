// Loads the scripts of the palette, of dialogs, of mentions and of uploads when they are used first.

let fillPalette;

/** Open the palette at once, so that no key typed while it loads acts on the page. */
async function openPalette() {
  const palette = document.querySelector("#palette");
  if (palette.open) {
    palette.close();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  document.querySelector("#rail:popover-open")?.hidePopover();
  const field = palette.querySelector("input");
  field.value = "";
  palette.showModal();
  field.focus();
  fillPalette ??= (await import("./palette.js")).fill;
  fillPalette();
}

document.addEventListener("keydown", (event) => {
  const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (!isK || event.altKey || event.shiftKey || event.repeat) return;
  event.preventDefault();
  openPalette();
});

document.addEventListener("click", async (event) => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey) return;
  const link = event.target.closest("[data-sheet]");
  if (event.target.closest("[data-palette]")) openPalette();
  if (!link) return;
  event.preventDefault();
  (await import("./sheet.js")).openSheet(link);
});

document.addEventListener("focusin", async ({ target }) => {
  if (target.matches("[data-mentions]")) (await import("./mentions.js")).completeMentions();
  if (target.closest(".filter-form")) (await import("./filters.js")).applyLive();
});

for (const button of document.querySelectorAll("[data-palette]")) button.hidden = false;

function loadUploads() {
  if (document.querySelector("[data-upload]")) import("./uploads.js");
}

// Fields may come with a request that is swapped in.
new MutationObserver(loadUploads).observe(document.body, { childList: true, subtree: true });
loadUploads();
