// Exports: says how many entries have come, and hands over the file once it is whole.

import { report } from "./post.js";

/** Beyond this the browser has surely taken the file. */
const KEPT_MS = 60_000;

/** Send the form of an export; a response that is no export is shown as a page. */
export async function download(form, submitter) {
  const received = form.querySelector("[data-received]");
  if (!received.hidden) return;
  received.hidden = false;
  try {
    const body = new URLSearchParams(new FormData(form, submitter));
    const response = await fetch(form.action, { method: "POST", body });
    const entries = response.headers.get("Signoff-Entries");
    if (entries === null) {
      form.dataset.download = "sent as a page";
      form.requestSubmit(submitter);
      return;
    }
    const lines = countLines((count) => show(received, Math.min(count, entries), Number(entries)));
    const file = await new Response(response.body.pipeThrough(lines)).blob();
    const [, name] = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition"));
    save(file, name);
  } catch {
    report(0);
  } finally {
    received.hidden = true;
  }
}

function countLines(onCount) {
  let count = 0;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) if (byte === 10) count += 1;
      onCount(count);
      controller.enqueue(chunk);
    },
  });
}

function show(received, count, entries) {
  const { format } = new Intl.NumberFormat(document.documentElement.lang);
  const progress = received.querySelector("progress");
  progress.max = entries;
  progress.value = count;
  received.querySelector("span").textContent = received.dataset.received
    .replace("{count}", format(count))
    .replace("{entries}", format(entries));
}

function save(file, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
