import { now, record } from "./feed.js";

// Numbers, times and words as the page writes them. Times are UTC: an incident is read by people in several places.

const two = (n) => String(n).padStart(2, "0");

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-3 ? value.toExponential(Math.max(2, digits - 1)) : value.toFixed(digits);
}

/** Writes a number with as many digits as tell it from another one. */
export function apart(value, other, digits = 3) {
  let enough = digits;
  while (value !== other && enough < 15 && number(value, enough) === number(other, enough)) enough += 1;
  return number(value, enough);
}

export const percent = (value) => (value === null || value === undefined ? "–" : (100 * value).toFixed(1) + " %");

export const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en-US"));

export function time(ms) {
  const d = new Date(ms);
  return `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`;
}

export const day = (ms) => new Date(ms).toISOString().slice(0, 10);

/** With the day where it is not today's, and always in a file, which is read on other days. */
export const moment = (ms) => (!record && day(ms) === day(now()) ? time(ms) : `${day(ms)} ${time(ms)}`) + " UTC";

export function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} d`;
}

export const ago = (ms) => `${span(now() - ms)} ago`;

/** faithfulness_gap reads "faithfulness gap". */
export const words = (name) => name.replaceAll("_", " ").replace("fvu", "FVU");

export const decoder = (version) => (version === 0 ? "trained" : `v${version}`);

/** How many times its threshold the deciding statistic is, and which; nothing where the window is undecided. */
export const headline = (w) => (w.headline === null ? "" : words(w.headline));
