// Selecting rows of a list by keys, for a review of several requests.

/** Select the focused or open row and the next one, and go there. */
export function extend(step) {
  const rows = [...document.querySelectorAll("#rows .row:has(> .row-pick)")];
  const row =
    document.activeElement.closest("#rows .row") ??
    document.querySelector("#rows .row[aria-current]");
  const index = rows.indexOf(row);
  const next = index < 0 ? rows[0] : rows[index + step];
  if (index >= 0) pick(row);
  if (!next) return;
  const fold = next.closest("[data-fold]");
  if (fold) fold.open = true;
  pick(next);
  next.querySelector(".row-title").focus();
}

function pick(row) {
  row.querySelector(".row-check").checked = true;
}

/** Open the page on which the selected requests are decided. */
export function review() {
  if (document.querySelector(".row-check:checked")) {
    document.querySelector("#selection").requestSubmit();
  }
}
