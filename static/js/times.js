// Times in the reader's zone: what is relative moves on. The words are those of inbox/web/base/days.py.

import { fill, lang, messages } from "./page.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const units = [
  ["d", day],
  ["h", hour],
  ["min", minute],
  ["s", 1000],
];

/** Whether the server does not know the reader's zone yet: its times are in another one. */
const isFirstPage = storeZone();
/** Numbers of English pages are 24 h and days come first: the English of everybody. */
const locale = lang === "en" ? "en-GB" : lang;
const { zone: timeZone } = document.documentElement.dataset;
const fullTime = new Intl.DateTimeFormat(locale, {
  dateStyle: "full",
  timeStyle: "long",
  timeZone,
});
const clockTime = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const shortDate = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const shortTime = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** Return a duration in its largest units: "4 min", "2 h 14 min". */
export function durationText(milliseconds, count = 1) {
  const first = units.findIndex(([, size]) => milliseconds >= size);
  let left = Math.max(milliseconds, 0);
  const words = [];
  for (const [unit, size] of units.slice(first).slice(0, count)) {
    const whole = Math.floor(left / size);
    left -= whole * size;
    if (whole || words.length === 0) words.push(fill(messages.units[unit], { count: whole }));
  }
  return words.join(" ");
}

/** By the value of `data-as`: the words for a time that is so far away, or else its day and clock. */
const formats = {
  age(away, absolute) {
    if (away > -minute) return messages.now;
    return away > -day ? durationText(-away) : absolute;
  },
  ago(away, absolute) {
    if (away > -minute) return messages.justNow;
    return away > -day ? fill(messages.ago, { time: durationText(-away) }) : absolute;
  },
  left(away, absolute) {
    if (away <= 0) return messages.now;
    if (away >= 30 * day) return absolute;
    if (away >= 10 * minute) return fill(messages.left, { time: durationText(away) });
    const seconds = String(Math.floor((away % minute) / 1000)).padStart(2, "0");
    return fill(messages.left, { time: `${Math.floor(away / minute)}:${seconds}` });
  },
  in(away, absolute) {
    if (away <= 0) return messages.now;
    return away < day ? fill(messages.in, { time: durationText(away) }) : absolute;
  },
  /** A deadline: the moment, and how far it is away if it is near. */
  due(away, absolute) {
    if (away >= day) return absolute;
    if (away < 10 * minute) return formats.left(away, absolute);
    const clock = absolute.split(", ").at(-1);
    return `${clock}, ${fill(messages.left, { time: durationText(away, 2) })}`;
  },
};

function absoluteText({ dataset }, at) {
  if (!isFirstPage) return dataset.at;
  if (dataset.as === "age" || dataset.as === "left") return shortDate.format(at);
  const isToday = at.toDateString() === new Date().toDateString();
  return (dataset.as === "clock" && isToday ? clockTime : shortTime).format(at);
}

export function showTimes() {
  for (const time of document.querySelectorAll("time[data-as]")) {
    const at = new Date(time.dateTime);
    const absolute = absoluteText(time, at);
    const text = formats[time.dataset.as]?.(at - Date.now(), absolute) ?? absolute;
    if (text && time.textContent !== text) time.textContent = text;
    if (!time.title) time.title = fullTime.format(at);
  }
}

/** Tell the server the zone of the browser, unless the reader has chosen one; return if it is news. */
function storeZone() {
  if (document.documentElement.dataset.zone) return false;
  const { timeZone: zone } = new Intl.DateTimeFormat().resolvedOptions();
  const [prefix, secure] = location.protocol === "https:" ? ["__Host-", "; Secure"] : ["", ""];
  const pair = `${prefix}zone=${zone}`;
  if (document.cookie.split("; ").includes(pair)) return false;
  document.cookie = `${pair}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  return true;
}
