// Times in the zone that the reader has chosen, or else in the one of the browser.

import { fill, lang, messages } from "./page.js";

/** The zone that the reader has chosen; undefined stands for the one of the browser. */
const timeZone = document.documentElement.dataset.zone;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const fullTime = new Intl.DateTimeFormat(lang, { dateStyle: "full", timeStyle: "long", timeZone });
const shortTime = new Intl.DateTimeFormat(lang, { timeStyle: "short", timeZone });
const shortDate = new Intl.DateTimeFormat(lang, { day: "numeric", month: "short", timeZone });
const dateAndTime = new Intl.DateTimeFormat(lang, {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone,
});
const preciseTime = new Intl.DateTimeFormat(lang, {
  dateStyle: "medium",
  timeStyle: "medium",
  timeZone,
});
const relative = new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" });

const units = [
  [1000, "second"],
  [minute, "minute"],
  [hour, "hour"],
  [day, "day"],
];

/** Format a duration in its largest unit: "4m", or with the display "long" "4 minutes". */
export function formatDuration(milliseconds, unitDisplay = "narrow") {
  const [size, unit] = units.findLast(([smallest]) => milliseconds >= smallest) ?? units[0];
  const count = Math.floor(milliseconds / size);
  return new Intl.NumberFormat(lang, { style: "unit", unit, unitDisplay }).format(count);
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
    if (left >= 30 * day) return shortDate.format(at);
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
  /** A deadline: the moment, and how far it is away if it is near. */
  due(at) {
    const left = at - Date.now();
    if (left >= day) return dateAndTime.format(at);
    if (left < 10 * minute) return formats.left(at);
    const away = [Math.floor(left / hour), Math.floor((left % hour) / minute)];
    const words = ["hour", "minute"].flatMap((unit, at) =>
      away[at]
        ? new Intl.NumberFormat(lang, { style: "unit", unit, unitDisplay: "short" }).format(
            away[at],
          )
        : [],
    );
    return `${shortTime.format(at)}, ${fill(messages.left, { time: words.join(" ") })}`;
  },
  moment: (at) => preciseTime.format(at),
  clock(at) {
    return Math.abs(Date.now() - at) < day ? shortTime.format(at) : dateAndTime.format(at);
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

// The server renders days and fields in this zone, too.
if (!timeZone) {
  const { timeZone: zone } = new Intl.DateTimeFormat().resolvedOptions();
  const [prefix, secure] = location.protocol === "https:" ? ["__Host-", "; Secure"] : ["", ""];
  const pair = `${prefix}zone=${zone}`;
  if (!document.cookie.split("; ").includes(pair)) {
    document.cookie = `${pair}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  }
}
