import { h, table } from "./dom.js";
import { features } from "./features.js";
import { count, number, words } from "./format.js";
import { groups } from "./groups.js";
import { requests, spectrum } from "./spectrum.js";
import { watched } from "./watched.js";

/** The sections that are drawn in a way of their own, by the part of the page that shows them. */
const DRAWN = {
  groups: [groups, "groups"],
  requests: [requests, "worst_requests"],
  features: [features, "failing_features", "feature_activity"],
  watched: [watched, "watched"],
  spectrum: [spectrum, "spectrum"],
};

export const PARTS = [...Object.keys(DRAWN), "others"];

/** Draws the sections of the newest reports of a site; those without a drawing of their own as lines and tables. */
export function sections(parts, places, answer) {
  for (const [part, [draw]] of Object.entries(DRAWN)) draw(parts[part], answer);
  const drawn = Object.values(DRAWN).flatMap(([, ...keys]) => keys);
  const report = { newest: answer.newest, newest_drifted: answer.newest_drifted ?? answer.newest };
  const others = Object.entries(places)
    .map(([key, place]) => (drawn.includes(key) ? null : [key, report[place]?.[key]]))
    .filter((one) => one?.[1] !== null && one?.[1] !== undefined);
  parts.others.hidden = others.length === 0;
  parts.others.replaceChildren(...others.flatMap(([key, value]) => [h("h2", null, words(key)), ...lines(key, value)]));
}

const text = (value) => (value === null ? "–" : typeof value !== "number" ? String(value) : Number.isInteger(value) ? count(value) : number(value));

const isPlain = (value) => value === null || typeof value !== "object";

/** A value as what it is: a sentence, a table of a list, lines of an object. */
function lines(key, value) {
  if (isPlain(value)) return [h("p", null, text(value))];
  if (Array.isArray(value)) {
    if (value.every(isPlain)) return [h("p", null, value.map(text).join(", "))];
    const columns = [...new Set(value.flatMap((one) => Object.keys(one)))].filter((name) => value.every((one) => isPlain(one[name] ?? null)));
    return [h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": words(key) },
      table(words(key), columns.map(words), value.map((one) => columns.map((name) => text(one[name] ?? null)))))];
  }
  const pairs = Object.entries(value);
  return [
    h("dl", { class: "pairs" }, pairs.filter(([, one]) => isPlain(one) && one !== null).map(([name, one]) => [h("dt", null, words(name)), h("dd", null, text(one))])),
    ...pairs.filter(([, one]) => !isPlain(one)).flatMap(([name, one]) => [h("h3", null, words(name)), ...lines(name, one)]),
  ];
}
