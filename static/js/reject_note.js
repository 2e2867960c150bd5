// The reject mode of the bar: its note goes out with a rejection only, and waits there meanwhile.
//
// There is one field on screen. A hidden one beside it has the note of the other mode: it moves with
// the bar, and is stored with the draft.

/** The field on screen, and the hidden one; undefined where the bar takes no note. */
function fields() {
  const note = document.querySelector("#bar #f-reason");
  return { note, other: note?.parentElement.querySelector("[name=other_note]") };
}

export function isRejecting() {
  return document.querySelector("#bar[data-intent=reject]") !== null;
}

/** Return the texts of both fields as they are outside of the reject mode. */
export function notesOf({ elements: { reason, other_note: other } }) {
  if (!isRejecting()) return { reason: reason?.value, other_note: other?.value };
  return { reason: other.value, other_note: reason.value === other.value ? "" : reason.value };
}

/** Show the note of the rejection and focus it; return false where the bar takes no note. */
export function startRejecting() {
  const { note, other } = fields();
  if (!note?.matches(":enabled:read-write")) return false;
  if (!isRejecting()) {
    // Without a note of its own the rejection starts with what is on screen.
    const plain = note.value;
    if (other.value) note.value = other.value;
    other.value = plain;
    document.querySelector("#bar").dataset.intent = "reject";
    note.setAttribute("aria-describedby", "reject-hint");
  }
  note.focus();
  note.scrollIntoView({ block: "nearest" });
  return true;
}

export function stopRejecting() {
  if (!isRejecting()) return;
  const { note, other } = fields();
  const notes = notesOf(note.form);
  delete document.querySelector("#bar").dataset.intent;
  note.removeAttribute("aria-describedby");
  note.value = notes.reason;
  other.value = notes.other_note;
}

/** Move the note of a rejection that was refused out of the way of an approval. */
export function putNoteAside() {
  const { note, other } = fields();
  if (!note || isRejecting()) return;
  other.value = note.value;
  note.value = "";
}

/** Show a note that waits for a rejection: nothing can be sent now, and it can be copied. */
export function exposeNote(part) {
  stopRejecting();
  const { note, other } = fields();
  if (note.value || !other.value) return;
  note.value = other.value;
  other.value = "";
  part.dataset.exposed = "";
}

/** Let an exposed note wait again: the decision was undone, and an approval would send it. */
export function coverNote(part) {
  if (!("exposed" in part.dataset)) return;
  delete part.dataset.exposed;
  putNoteAside();
}

/** Start the note with a reason of the team; Enter in it rejects. */
function chooseReason({ textContent: reason }) {
  startRejecting();
  const { note } = fields();
  note.value = reason;
  note.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("click", ({ target }) => {
  const reason = target.closest("#bar [data-reason]");
  if (reason) chooseReason(reason);
});

// A finger that rejects is asked for the reason first, and a note that waits is shown before it is
// sent: the second click rejects.
document.addEventListener(
  "click",
  (event) => {
    if (!event.target.closest("#decide-buttons button[value=reject]") || isRejecting()) return;
    const asks = event.pointerType === "touch" && document.querySelector("#reasons");
    if (!asks && !fields().other?.value) return;
    event.preventDefault();
    startRejecting();
  },
  true,
);

document.addEventListener("focusout", ({ target, relatedTarget }) => {
  const bar = target.closest("#bar[data-intent]");
  if (bar && document.hasFocus() && !bar.contains(relatedTarget)) stopRejecting();
});
