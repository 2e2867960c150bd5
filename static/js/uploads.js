// Uploads in forms: a file is sent as soon as it is chosen or dropped, with its progress.

import { markUnsent } from "./decision_form.js";
import { csrfToken } from "./post.js";

const UPLOAD = "[data-upload]";

function part(upload, name) {
  return upload.querySelector(`[data-upload-${name}]`);
}

/** Send one file; resolve to the response's status and JSON. */
function send(upload, file, onProgress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.set("accepts", upload.dataset.accepts);
    body.set("file", file);
    request.open("POST", upload.dataset.upload);
    request.setRequestHeader("X-CSRFToken", csrfToken());
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(loaded / total));
    request.addEventListener("loadend", () =>
      resolve({ status: request.status, answer: request.response ?? {} }),
    );
    request.send(body);
  });
}

function say(upload, text, isProblem = false) {
  const status = part(upload, "status");
  status.textContent = text;
  status.classList.toggle("err", isProblem);
}

async function sendAll(upload, files) {
  const progress = part(upload, "progress");
  const stored = [];
  upload.setAttribute("aria-busy", "true");
  progress.hidden = false;
  say(upload, "");
  for (const [index, file] of files.entries()) {
    if (file.size > Number(upload.dataset.limit)) {
      say(upload, `${file.name}: ${upload.dataset.tooLarge}`, true);
      break;
    }
    const { status, answer } = await send(upload, file, (share) => {
      progress.value = (100 * (index + share)) / files.length;
    });
    if (status !== 200) {
      const problem = answer.problem || answer.detail || upload.dataset.failed;
      say(upload, `${file.name}: ${problem}`, true);
      break;
    }
    stored.push(answer);
  }
  progress.hidden = true;
  upload.removeAttribute("aria-busy");
  if (stored.length) show(upload, stored);
}

/** Put the stored files into the form: the id of one, or new rows of a list. */
function show(upload, stored) {
  const form = upload.closest("form");
  form.dataset.kept = "";
  const ids = part(upload, "ids");
  if (ids) {
    ids.value = stored.map(({ id }) => id).join();
    part(upload, "button").click();
    return;
  }
  const { id, name, size } = stored.at(-1);
  part(upload, "id").value = id;
  part(upload, "name").textContent = name;
  part(upload, "size").textContent = `${Math.max(1, Math.round(size / 1024))} kB`;
  part(upload, "file").hidden = false;
  part(upload, "choose").hidden = true;
  say(upload, `${upload.dataset.done}: ${name}`);
  upload.querySelector("[data-upload-file] button").focus();
  markUnsent();
}

/** Send files, and leave none in the control: they would be part of every preview of the form. */
function take(upload, files) {
  const isList = part(upload, "ids") !== null;
  const chosen = [...files].slice(0, isList ? undefined : 1);
  upload.querySelector("[type=file]").value = "";
  if (chosen.length && !upload.hasAttribute("aria-busy")) sendAll(upload, chosen);
}

/** Hide what only forms without scripts need. */
function prepareUploads() {
  for (const upload of document.querySelectorAll(`${UPLOAD}:not([data-ready])`)) {
    upload.dataset.ready = "";
    part(upload, "button").hidden = true;
    part(upload, "hint").hidden = false;
    // Files may have been chosen while this script was loaded.
    take(upload, upload.querySelector("[type=file]").files);
  }
}

document.addEventListener("change", ({ target }) => {
  const upload = target.matches("[type=file]") && target.closest(UPLOAD);
  if (upload) take(upload, target.files);
});

document.addEventListener("dragover", (event) => {
  const upload = event.target.closest(UPLOAD);
  if (upload) event.preventDefault();
  for (const other of document.querySelectorAll(`${UPLOAD}.is-target`)) {
    if (other !== upload) other.classList.remove("is-target");
  }
  upload?.classList.add("is-target");
});

document.addEventListener("drop", (event) => {
  const upload = event.target.closest(UPLOAD);
  if (!upload) return;
  event.preventDefault();
  upload.classList.remove("is-target");
  if (!upload.closest("fieldset:disabled")) take(upload, event.dataTransfer.files);
});

// An answer is not sent without the file that is on its way.
document.addEventListener(
  "submit",
  (event) => {
    const busy = event.target.querySelector(`${UPLOAD}[aria-busy]`);
    if (!busy) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    say(busy, busy.dataset.busy, true);
  },
  true,
);

new MutationObserver(prepareUploads).observe(document.body, { childList: true, subtree: true });
prepareUploads();
