import { h, svg, table } from "./dom.js";
import { named } from "./features.js";
import { count, moment, percent, time } from "./format.js";

/** Windows over which the page says whether a group grows. */
const COMPARED = 12;

const WIDTH = 120;
const HEIGHT = 24;

/** Groups of like requests in the last windows, most evidence first; nothing where the site has no totals of requests. */
export function groups(root, { newest, windows }) {
  const of = newest?.groups;
  root.hidden = !of;
  root.replaceChildren(...(!of ? [] : [
    h("h2", null, "Groups of new traffic"),
    h("p", { class: "quiet" }, `${count(of.unusual)} of the last ${count(of.requests)} requests are unlike the baseline's. ${of.groups.length
      ? "A group is requests that are also like each other; look first at the nearest to its centre." : "No three of them are like each other."}`),
    of.groups.length > 0 && h("ul", { class: "group-list" }, of.groups.map((group) => line(group, of.requests, newest, windows))),
  ].filter(Boolean)));
}

function line(group, requests, newest, windows) {
  const past = windows.filter((w) => w.group_shares && w.window_end_ms <= newest.window_end_ms).slice(-COMPARED);
  const shares = past.map((w) => w.group_shares[group.number] ?? 0);
  const origin = Object.entries(group.origin).map(([name, value]) => `${name} ${value}`);
  const facts = [
    ["share of evidence", percent(group.evidence_share)],
    ["seen", `${moment(group.first_ms).replace(" UTC", "")} to ${moment(group.last_ms)}, ${count(group.in_window)} in this window`],
    ["nearest requests", group.nearest.map((name) => h("code", null, name))],
    origin.length > 0 && ["all of them have", origin.map((one) => h("code", null, one))],
  ].filter(Boolean);
  return h("li", null,
    h("div", { class: "title" },
      h("h3", null, `Group ${group.number}`),
      h("span", { class: `word ${group.kind === "new" ? "drifted" : "undecided"}` }, kind(group)),
      h("span", null, `${count(group.requests)} requests, ${percent(group.share)} of all`),
      shares.length > 1 && spark(group.number, shares),
      h("span", { class: "quiet" }, growth(shares, requests, past))),
    h("dl", { class: "pairs" }, facts.map(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
    group.features.length > 0 && h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Features of group ${group.number}` },
      table(`Features of group ${group.number}`, ["feature", "active in", "in baseline", "p"],
        group.features.map((f) => [named(newest.feature_names ?? {}, f.feature), percent(f.frequency), percent(f.frequency_baseline),
          f.p_value > 1e-300 ? f.p_value.toExponential(1) : "< 1e-300"]), [1, 2, 3])));
}

const kind = (group) => (group.kind === "known" ? `known: ${percent(group.baseline_share)} of the baseline` : group.kind === "new" ? "new" : "new or known");

/** Compares the share with the first window's. Less than two standard errors of the difference is no change. */
function growth(shares, requests, past) {
  if (shares.length < 2) return "";
  const first = shares[0];
  const last = shares[shares.length - 1];
  const error = Math.sqrt((first * (1 - first) + last * (1 - last)) / requests);
  const change = last - first > 2 * error ? "grows" : first - last > 2 * error ? "shrinks" : "steady";
  return `${change}: ${percent(first)} in the window that ended ${time(past[0].window_end_ms)}`;
}

function spark(name, shares) {
  // A report may be newer than the windows that the page has.
  const most = Math.max(...shares) || 1;
  const points = shares.map((share, i) => `${((i * WIDTH) / (shares.length - 1)).toFixed(1)},${(HEIGHT - 2 - (share / most) * (HEIGHT - 4)).toFixed(1)}`);
  return svg("svg", { class: "figure share", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
    "aria-label": `Share of group ${name} over ${shares.length} windows: ${percent(shares[0])} to ${percent(shares[shares.length - 1])}.` },
  svg("polyline", { class: "line value", points: points.join(" ") }));
}
