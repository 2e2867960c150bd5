// A row that leaves the list fades to the side, and those below it slide up. The list is in its new
// order at once: only what is seen comes later, so that no key, click or focus waits for it.

const LESS_MOTION = "(prefers-reduced-motion: reduce)";
const TIMING = { duration: 180, easing: "cubic-bezier(0.2, 0, 0, 1)" };
const PIXELS = 24;

/** Change the rows of a list, and show which of them have left it. */
export function showLeaving(list, change) {
  const areas = matchMedia(LESS_MOTION).matches ? [] : areasOf(list);
  change();
  const leaving = areas.filter(({ id }) => !document.getElementById(id));
  if (!leaving.length) return;
  for (const area of leaving) fade(area);
  for (const area of areas) slide(area);
}

/** Return where the rows are that can be seen whole. */
function areasOf(list) {
  const { top, bottom } = list.closest(".list-scroll").getBoundingClientRect();
  return Array.from(list.querySelectorAll(":scope > .row, :scope > .fold"), (row) => ({
    id: row.id,
    row,
    box: row.getBoundingClientRect(),
  })).filter(({ box }) => box.top >= top && box.bottom <= bottom);
}

/** Show a row that is no longer in the page over its old place. */
function fade({ row, box }) {
  // Ids and fields belong to rows of the list only.
  for (const part of [row, ...row.querySelectorAll("[id]")]) part.removeAttribute("id");
  row.querySelector(".row-pick")?.remove();
  row.inert = true;
  row.classList.add("is-leaving");
  const { left, top, width, height } = box;
  Object.assign(row.style, {
    left: `${left}px`,
    top: `${top}px`,
    width: `${width}px`,
    height: `${height}px`,
  });
  document.body.append(row);
  const side = document.dir === "rtl" ? -PIXELS : PIXELS;
  const motion = row.animate({ opacity: [1, 0], translate: ["0", `${side}px`] }, TIMING);
  motion.onfinish = motion.oncancel = () => row.remove();
}

function slide({ id, box }) {
  const row = document.getElementById(id);
  const distance = row ? box.top - row.getBoundingClientRect().top : 0;
  if (distance > 0) row.animate({ translate: [`0 ${distance}px`, "0"] }, TIMING);
}
