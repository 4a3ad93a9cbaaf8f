import { h, table } from "./dom.js";
import { count, moment, number, percent, time } from "./format.js";

const SHOWN = 12;

/** The first rows of a table, and the others behind a word. */
function shortTable(caption, headings, rows, numeric) {
  return [
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
      table(caption, headings, rows.slice(0, SHOWN), numeric)),
    ...(rows.length > SHOWN
      ? [h("details", { class: "table" }, h("summary", null, `${rows.length - SHOWN} more`),
        table(`More: ${caption}`, headings, rows.slice(SHOWN), numeric))] : []),
  ];
}

const span = (from, to) => `${moment(from).replace(" UTC", "")} to ${time(to)} UTC`;

/** Features whose decoder columns are wrong on the rows of the window, and those that are active more or less often. */
export function features(root, { newest, newest_drifted: drifted }) {
  const names = { ...drifted?.feature_names, ...newest?.feature_names };
  root.replaceChildren(...failing(drifted, names, drifted?.window_end_ms === newest?.window_end_ms), ...activity(newest, names));
}

/** The index, which is a link where somebody has a page about the feature, and the label. */
export function named(names, feature) {
  const name = names[feature];
  if (!name) return String(feature);
  const index = name.link === null ? String(feature)
    : h("a", { href: name.link, target: "_blank", rel: "noopener noreferrer" }, String(feature));
  return name.label === null ? index : h("span", null, index, ` ${name.label}`);
}

function failing(report, names, isNewest) {
  const head = h("h2", null, "Features that fail");
  if (!report?.failing_features?.length) {
    return [head, h("p", { class: "quiet" }, !report
      ? "None: they are named while a site is drifted." : "The drifted window named none: no column is more wrong on its rows than on the baseline's.")];
  }
  const cells = (f) => [named(names, f.feature), percent(f.systematic_residual), percent(f.systematic_residual_baseline), percent(f.usefulness),
    percent(f.usefulness_baseline), percent(f.share_of_error), percent(f.activity), percent(f.frequency),
    f.direction_change === null ? "–" : number(f.direction_change)];
  const headings = ["feature", "systematic residual", "in baseline", "usefulness", "in baseline", "share of error", "share of writing", "active in", "turned"];
  return [
    head,
    h("p", { class: "quiet" }, `${isNewest ? "Newest window" : "Last drifted window"}, ${span(report.window_start_ms, report.window_end_ms)}. “Systematic residual”: the error that goes with the feature's code. “Usefulness”: FVU that taking it out would add.`),
    ...shortTable("Features that fail", headings, report.failing_features.map(cells), [1, 2, 3, 4, 5, 6, 7, 8]),
  ];
}

function activity(report, names) {
  const head = h("h2", null, "Features that fell silent or woke up");
  const changes = report?.feature_activity;
  if (!changes || changes.undefined !== null) {
    return [head, h("p", { class: "quiet" }, changes ? `Not compared: ${changes.undefined}.` : "The newest window has no comparison with the baseline's rows.")];
  }
  const where = `Newest window, ${span(report.window_start_ms, report.window_end_ms)}: ${count(changes.tested)} features compared on ${count(changes.rows)} rows of ${count(changes.requests)} requests`;
  if (changes.features.length === 0) {
    return [head, h("p", { class: "quiet" }, `${where}. None is active more or less often than on the baseline's rows, beyond chance.`)];
  }
  const cells = (f) => [named(names, f.feature), f.direction === "less_active" ? "less active" : "more active", percent(f.frequency),
    percent(f.frequency_baseline), number(f.mean_activation, 3), number(f.mean_activation_baseline, 3), count(f.active_requests), f.p_value > 1e-300 ? f.p_value.toExponential(1) : "< 1e-300"];
  const headings = ["feature", "direction", "active in", "in baseline", "mean activation", "in baseline", "requests", "p"];
  return [
    head,
    h("p", { class: "quiet" }, `${where}; ${count(changes.less_active)} less active, ${count(changes.more_active)} more active. The surest first.`),
    ...shortTable("Features that fell silent or woke up", headings, changes.features.map(cells), [2, 3, 4, 5, 6, 7]),
  ];
}
