import { h, svg, table } from "./dom.js";
import { count, moment, number, percent, time } from "./format.js";

const WIDTH = 420;
const HEIGHT = 170;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;

/** lines: [{ name, values }] against their index; ticks: [[value, label]]. */
function plot(label, lines, scale, ticks, mark) {
  const most = Math.max(2, ...lines.map((line) => line.values.length));
  const x = (i) => LEFT + (i * (WIDTH - LEFT - 8)) / (most - 1);
  const y = (v) => HEIGHT - BOTTOM - scale(v) * (HEIGHT - BOTTOM - TOP);
  const root = svg("svg", { class: "figure", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  for (const [value, text] of ticks) {
    root.append(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 6, y: y(value) + 3.5, "text-anchor": "end" }, text));
  }
  for (const i of [0, Math.floor((most - 1) / 2), most - 1]) {
    root.append(svg("text", { x: x(i), y: HEIGHT - 6, "text-anchor": i === 0 ? "start" : i === most - 1 ? "end" : "middle" }, String(i + 1)));
  }
  if (mark) {
    const at = (x(mark - 1) + x(Math.min(most - 1, mark))) / 2;
    root.append(svg("line", { class: "mark", x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM }),
      svg("text", { class: "mark", x: at - 4, y: TOP + 9, "text-anchor": "end" }, `rank ${mark}`));
  }
  for (const line of lines) {
    root.append(svg("polyline", { class: `line ${line.name}`, points: line.values.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" ") }));
  }
  return root;
}

const key = (name, label) => h("li", null, h("i", { class: `key line ${name}`, "aria-hidden": "true" }), label);

/** Eigenvalues and angles of the newest window against the baseline. */
export function spectrum(root, { newest }) {
  const head = h("h2", null, "Spectrum and angles");
  const of = newest?.spectrum;
  if (!of) {
    root.replaceChildren(head, h("p", { class: "quiet" }, !newest
      ? "Comes with the first window." : "The newest report was written by a version that did not report its spectrum; the next one will."));
    return;
  }
  const positive = [...of.window, ...of.baseline].filter((v) => v > 0);
  const high = Math.ceil(Math.log10(Math.max(...positive)));
  const low = Math.min(high - 1, Math.floor(Math.log10(Math.min(...positive))));
  const log = (v) => (v > 0 ? Math.max(0, (Math.log10(v) - low) / (high - low)) : 0);
  const step = Math.max(1, Math.ceil((high - low) / 4));
  const powers = [];
  for (let power = low; power <= high; power += step) powers.push([10 ** power, `1e${power}`]);
  const degrees = (list) => (list ?? []).map((v) => (v * 180) / Math.PI);
  const explainer = degrees(newest.principal_angles);
  const baseline = degrees(of.baseline_angles);
  const last = (list) => (list.length ? `${list[list.length - 1].toFixed(1)}°` : "undefined");
  root.replaceChildren(
    head,
    h("p", { class: "quiet" }, `Of the window that ended ${moment(newest.window_end_ms)}, beside the baseline.`),
    h("div", { class: "figures-row" },
      h("figure", null, h("figcaption", null, "Eigenvalues of the second moment",
        h("ul", { class: "legend" }, key("baseline", "baseline"), key("value", "window"))),
      plot(`Leading eigenvalues on a logarithmic scale. First: window ${number(of.window[0])}, baseline ${number(of.baseline[0])}.`,
        [{ name: "baseline", values: of.baseline }, { name: "value", values: of.window }], log, powers, newest.rank)),
      h("figure", null, h("figcaption", null, "Principal angles to the window",
        h("ul", { class: "legend" }, key("baseline", "baseline's directions"), key("value", "explainer's directions"))),
      baseline.length || explainer.length
        ? plot(`Principal angles. Largest: to the baseline ${last(baseline)}, to the explainer ${last(explainer)}.`,
          [{ name: "baseline", values: baseline }, { name: "value", values: explainer }].filter((line) => line.values.length),
          (v) => v / 90, [[0, "0°"], [30, "30°"], [60, "60°"], [90, "90°"]])
        : h("p", { class: "quiet" }, `Undefined in this window: ${newest.undefined.principal_angles ?? newest.undefined.baseline_gap ?? "no subspace"}.`))),
    h("details", { class: "table" }, h("summary", null, "The same as a table"),
      table("Eigenvalues and angles", ["direction", "eigenvalue, window", "baseline", "angle to baseline", "to explainer"],
        of.window.map((v, i) => [String(i + 1), number(v), number(of.baseline[i]),
          baseline[i] === undefined ? "–" : `${baseline[i].toFixed(1)}°`, explainer[i] === undefined ? "–" : `${explainer[i].toFixed(1)}°`]), [0, 1, 2, 3, 4])));
}

/** Requests of the newest drifted window, else of the newest, that are farthest from those of the baseline. */
export function requests(root, { newest, newest_drifted: drifted }) {
  const head = h("h2", null, "Farthest requests");
  const report = drifted?.worst_requests?.length ? drifted : newest;
  if (!report?.worst_requests?.length) {
    root.replaceChildren(head, h("p", { class: "quiet" }, report?.undefined.request_shift ?? "None: no request was scored yet."));
    return;
  }
  const cells = (r) => [r.request, count(r.rows), number(r.score, 1), r.p_value.toExponential(1), percent(r.share)];
  const left = report.records_not_scored > 0 ? `, ${count(report.records_not_scored)} records of others not scored` : "";
  root.replaceChildren(
    head,
    h("p", { class: "quiet" }, `${report.window_end_ms === newest.window_end_ms ? "Newest window" : "Last drifted window"}, ${moment(report.window_start_ms).replace(" UTC", "")} to ${time(report.window_end_ms)} UTC: ${count(report.requests_scored)} requests scored${left}. “p”: chance that a clean request is as far; beyond the 20 farthest an estimate.`),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Farthest requests" },
      table("Requests farthest from the baseline's", ["request", "rows", "score", "p", "share of evidence"], report.worst_requests.map(cells), [1, 2, 3, 4])));
}
