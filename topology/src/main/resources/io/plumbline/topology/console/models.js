import { h, svg, table } from "./dom.js";
import { record } from "./feed.js";
import { ago, apart, moment, words } from "./format.js";
import { badge, siteName } from "./sites.js";

const ROW = 7;
const COLUMN = 5;
const SHOWN = 120;

/** From what a value over its threshold is called on: 1 is the threshold. */
const LEVELS = [[2, "twice"], [1, "above"], [0.8, "near"], [0.5, "half"], [-Infinity, "below"]];
const NONE = "none";

/** The models whose table is open: every window draws the page anew. */
const opened = new Set();

const levelOf = (over) => (over === null || over === undefined ? NONE : LEVELS.find(([from], i) => (i < 2 ? over > from : over >= from))[1]);

export const siteLink = (site) => h("a", { href: `#/site/${encodeURIComponent(site)}` }, siteName(site));

/** Shows every model: its verdict, where it begins and where it is worst, and a map of its layers over time. */
export function models(all) {
  return all.map((model) => {
    const newest = model.newest;
    if (!newest) {
      return h("section", { class: "part model" }, h("h2", null, `Model ${model.model}`),
        h("p", { class: "quiet" }, `No window yet: its ${model.sites.length} sites are judged as one when each has a window.`));
    }
    return h("section", { class: "part model" },
      h("div", { class: "title" }, h("h2", null, `Model ${model.model}`), badge(newest.verdict),
        h("span", { class: "quiet" }, `${sinceOf(model)}, ${ago(newest.window_end_ms)}`)),
      h("p", null, words(newest.reason), "."),
      newest.sites_above.length > 0 && h("p", null, "First layer above: ", siteLink(newest.first_site), ", worst: ", siteLink(newest.worst_site), "."),
      newest.missing_sites.length > 0 && h("p", { class: "warn" }, `Without a window: ${newest.missing_sites.join(", ")}.`),
      map(model), legend(),
      h("details", { class: "table", open: opened.has(model.model), ontoggle: (e) => opened[e.target.open ? "add" : "delete"](model.model) }, h("summary", null, "The newest window as a table, worst first"),
        table(`Sites of ${model.model}`, ["site", "verdict", "over its threshold", "statistic"],
          [...newest.sites].sort((a, b) => (b.over_threshold ?? -1) - (a.over_threshold ?? -1))
            .map((site) => [siteLink(site.site), badge(site.verdict), site.over_threshold === null ? "–" : apart(site.over_threshold, 1, 2), words(site.trigger)]), [2])));
  });
}

function sinceOf(model) {
  const windows = model.windows;
  let first = windows.length - 1;
  while (first > 0 && windows[first - 1].verdict === windows[windows.length - 1].verdict) first -= 1;
  return first === windows.length - 1 ? `window ended ${moment(windows[first].window_end_ms)}` : `since the window that ended ${moment(windows[first].window_end_ms)}`;
}

function map(model) {
  const windows = record ? model.windows : model.windows.slice(-SHOWN);
  const width = windows.length * COLUMN;
  const height = model.sites.length * ROW;
  const cells = model.sites.map((site, row) => {
    const runs = [];
    windows.forEach((window, column) => {
      const level = levelOf(window.sites[row]);
      const last = runs[runs.length - 1];
      if (last?.level === level) last.columns += 1;
      else runs.push({ level, column, columns: 1 });
    });
    return svg("g", null, svg("title", null, site),
      runs.map((run) => svg("rect", { class: `cell ${run.level}`, x: run.column * COLUMN, y: row * ROW, width: run.columns * COLUMN, height: ROW - 1 })));
  });
  const newest = model.newest;
  return h("figure", { class: "map" },
    svg("svg", { viewBox: `0 0 ${Math.max(width, 1)} ${height}`, preserveAspectRatio: "none", role: "img",
      height: Math.max(40, Math.min(420, height)),
      "aria-label": `Layers of ${model.model} by time, ${windows.length} windows: in the newest ${newest.sites_above.length} of ${model.sites.length} sites are above their thresholds.` }, cells),
    h("figcaption", null, h("span", null, `${model.sites[0]} on top, ${model.sites[model.sites.length - 1]} at the bottom`),
      h("span", null, `${moment(windows[0].window_end_ms)} to ${moment(windows[windows.length - 1].window_end_ms)}`)));
}

const legend = () => h("ul", { class: "legend" },
  [["below half of the threshold", "below"], ["from half on", "half"], ["from .8 on", "near"], ["above it", "above"], ["above twice of it", "twice"], ["no window", NONE]]
    .map(([label, name]) => h("li", null, h("i", { class: `key area cell-${name}`, "aria-hidden": "true" }), label)));
