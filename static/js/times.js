// Times in the reader's time zone; the server renders UTC.

import { fill, lang, messages } from "./page.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const fullTime = new Intl.DateTimeFormat(lang, { dateStyle: "full", timeStyle: "long" });
const clockTime = new Intl.DateTimeFormat(lang, { timeStyle: "medium" });
const shortDate = new Intl.DateTimeFormat(lang, { day: "numeric", month: "short" });
const dateAndTime = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
const preciseTime = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" });

/** Format a duration in its largest unit: "4m". */
function formatDuration(milliseconds) {
  const [size, unit] = milliseconds < hour ? [minute, "minute"] : [hour, "hour"];
  const count = Math.floor(milliseconds / size);
  return new Intl.NumberFormat(lang, { style: "unit", unit, unitDisplay: "narrow" }).format(count);
}

/** By the value of `data-as`. */
const formats = {
  age(at) {
    const passed = Date.now() - at;
    if (passed < minute) return messages.now;
    return passed < day ? formatDuration(passed) : shortDate.format(at);
  },
  ago(at) {
    const passed = Date.now() - at;
    if (passed < minute) return messages.justNow;
    if (passed < hour) return relative.format(-Math.floor(passed / minute), "minute");
    if (passed < day) return relative.format(-Math.floor(passed / hour), "hour");
    return dateAndTime.format(at);
  },
  left(at) {
    const left = at - Date.now();
    if (left <= 0) return messages.now;
    if (left >= day) return dateAndTime.format(at);
    if (left >= 10 * minute) return fill(messages.left, { time: formatDuration(left) });
    const seconds = String(Math.floor((left % minute) / 1000)).padStart(2, "0");
    return fill(messages.left, { time: `${Math.floor(left / minute)}:${seconds}` });
  },
  in(at) {
    const left = at - Date.now();
    if (left < hour) return relative.format(Math.max(0, Math.floor(left / minute)), "minute");
    if (left < day) return relative.format(Math.floor(left / hour), "hour");
    return dateAndTime.format(at);
  },
  moment: (at) => preciseTime.format(at),
  clock(at) {
    return Math.abs(Date.now() - at) < day ? clockTime.format(at) : dateAndTime.format(at);
  },
};

export function showTimes() {
  for (const time of document.querySelectorAll("time[data-as]")) {
    const at = new Date(time.dateTime);
    const text = formats[time.dataset.as](at);
    if (time.textContent !== text) time.textContent = text;
    if (!time.title) time.title = fullTime.format(at);
  }
}
