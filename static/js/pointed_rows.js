// Rows keep their places while a pointer is over them: a click must not open the neighbour.

import { fill, messages } from "./page.js";
import { refresh } from "./refresh.js";

let isPointing = false;
/** Whether the list on the server has other rows, or another order. */
let isHeld = false;

function point({ target, pointerType }) {
  const isOver = pointerType !== "touch" && target.closest?.("#rows") !== null;
  if (isPointing && !isOver) release();
  else isPointing = isOver;
}

/** Let the rows move again: the pointer has left them, or the reader goes on with keys. */
function release() {
  isPointing = false;
  if (isHeld) refresh();
}

for (const name of ["pointermove", "pointerdown", "pointerover"]) {
  document.addEventListener(name, point, { passive: true });
}
document.documentElement.addEventListener("pointerleave", release);
addEventListener("keydown", release, true);

/** Leave in a new list only what moves no row of the old one: changed rows, and more at the end. */
export function holdPlaces(list, newList) {
  const place = document.querySelector("#rows-new");
  if (!place) return;
  const oldIds = new Set(Array.from(list.children, ({ id }) => id));
  const rows = [...newList.children];
  const last = rows.findLastIndex(({ id }) => oldIds.has(id));
  const heldRows = Array.from(
    list.children,
    (row) => rows.find(({ id }) => id === row.id) ?? row.cloneNode(true),
  );
  heldRows.push(...rows.slice(last + 1));
  const isOther =
    heldRows.length !== rows.length || rows.some((row, index) => row !== heldRows[index]);
  isHeld = isPointing && !document.hidden && last >= 0 && isOther;
  // A heading that comes with a row is no new request.
  const isNew = ({ id, className }) => !oldIds.has(id) && className !== "day";
  const count = rows.slice(0, last + 1).filter(isNew).length;
  place.textContent = isHeld && count ? fill(messages.newRows, { count }) : "";
  if (isHeld) newList.replaceChildren(...heldRows);
}
