import uPlot from "./uplot/uPlot.esm.js";
import { decoder } from "./format.js";

// Windows where they lie in event time: a value holds from the start of its window to its end. Where windows overlap, at their ends.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Columns for uPlot; rows[i] is the window at column i, or null in a hole. */
function columns(windows, keys, tumbling) {
  const x = [];
  const rows = [];
  const at = (seconds, row) => { x.push(seconds); rows.push(row); };
  windows.forEach((w, i) => {
    if (!tumbling) { at(w.window_end_ms / 1000, w); return; }
    at(w.window_start_ms / 1000, w);
    const next = windows[i + 1];
    if (!next) at(w.window_end_ms / 1000, w);
    else if (next.window_start_ms > w.window_end_ms) at(w.window_end_ms / 1000, null);
  });
  return { rows, data: [x, ...keys.map((key) => rows.map((row) => (row === null ? null : key(row) ?? null)))] };
}

/** Where another decoder came into service. */
export function swaps(windows) {
  const found = [];
  for (let i = 1; i < windows.length; i++) {
    if (windows[i].decoder_version !== windows[i - 1].decoder_version) {
      found.push({ ms: windows[i].window_start_ms, label: decoder(windows[i].decoder_version) });
    }
  }
  return found;
}

/** series: [{ label, key(window), stroke, width, dash, band }], band fills down to the series after it. */
export class WindowChart {
  constructor(root, series, { height, tumbling, labels, onWindow }) {
    this.root = root;
    this.series = series;
    this.options = { height, tumbling, labels };
    this.onWindow = onWindow;
    this.windows = [];
    this.resize = new ResizeObserver(() => this.plot?.setSize({ width: this.width(), height }));
    this.resize.observe(root);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.repaint = () => this.build();
    this.scheme.addEventListener("change", this.repaint);
  }

  width() { return Math.max(200, this.root.clientWidth); }

  show(windows) {
    this.windows = windows;
    const { rows, data } = columns(windows, this.series.map((one) => one.key), this.options.tumbling);
    this.rows = rows;
    this.data = data;
    if (this.plot) this.plot.setData(data);
    else this.build();
  }

  build() {
    if (!this.data) return;
    this.plot?.destroy();
    const steps = this.options.tumbling ? uPlot.paths.stepped({ align: 1 }) : undefined;
    const axis = { stroke: css("--quiet"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
    const bands = [];
    this.series.forEach((one, i) => one.band && bands.push({ series: [i + 1, i + 2], fill: css(one.band) }));
    this.plot = new uPlot({
      width: this.width(),
      height: this.options.height,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, sync: { key: "site" }, points: { size: 6 }, y: false },
      scales: { y: { range: (u, low, high) => this.range(low, high) } },
      axes: [{ ...axis, space: 70, size: 28, values: utc }, { ...axis, size: 46, values: (u, splits) => splits.map(short) }],
      series: [{}, ...this.series.map((one) => ({
        label: one.label, stroke: css(one.stroke), width: one.width ?? 1.5, dash: one.dash, paths: steps,
        points: { show: !this.options.tumbling && this.data[0].length < 40, size: 5 },
      }))],
      bands,
      hooks: {
        drawClear: [(u) => this.tint(u)],
        draw: [(u) => this.mark(u)],
        setCursor: [(u) => this.onWindow?.(this.rows[u.cursor.idx] ?? null)],
      },
    }, this.data, this.root);
  }

  range(low, high) {
    if (low === null || low === undefined) return [0, 1];
    const pad = high === low ? Math.max(Math.abs(high) * 0.1, 0.1) : (high - low) * 0.08;
    return [low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
  }

  /** Behind the lines: which windows were not aligned. */
  tint(u) {
    const { ctx, bbox } = u;
    ctx.save();
    for (const w of this.windows) {
      if (w.verdict === "aligned") continue;
      const from = u.valToPos((this.options.tumbling ? w.window_start_ms : w.window_end_ms - 1) / 1000, "x", true);
      const to = Math.max(from + 2, u.valToPos(w.window_end_ms / 1000, "x", true));
      ctx.fillStyle = css(w.verdict === "drifted" ? "--drifted-tint" : "--undecided-tint");
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
    }
    ctx.restore();
  }

  /** In front: swaps, at the first window of the new decoder. */
  mark(u) {
    const { ctx, bbox } = u;
    const scale = devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = css("--ink");
    ctx.lineWidth = scale;
    ctx.font = `600 ${11 * scale}px system-ui, sans-serif`;
    ctx.textBaseline = "top";
    ctx.textAlign = "left";
    for (const swap of swaps(this.windows)) {
      const x = Math.round(u.valToPos(swap.ms / 1000, "x", true)) + 0.5;
      ctx.setLineDash([2 * scale, 3 * scale]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      if (!this.options.labels) continue;
      const wide = ctx.measureText(swap.label).width;
      const left = Math.min(x + 4 * scale, bbox.left + bbox.width - wide - 2 * scale);
      ctx.fillText(swap.label, left, bbox.top + 3 * scale);
    }
    ctx.restore();
  }

  /** Moves the cursor by windows, for who uses keys. */
  step(by) {
    if (this.windows.length === 0) return null;
    const last = this.windows.length - 1;
    this.at = Math.min(last, Math.max(0, by === "first" ? 0 : by === "last" ? last : (this.at ?? last + (by < 0 ? 1 : 0)) + by));
    const w = this.windows[this.at];
    const middle = this.options.tumbling ? (w.window_start_ms + w.window_end_ms) / 2 : w.window_end_ms;
    this.plot.setCursor({ left: this.plot.valToPos(middle / 1000, "x"), top: 10 });
    return w;
  }

  close() {
    this.resize.disconnect();
    this.scheme.removeEventListener("change", this.repaint);
    this.plot?.destroy();
  }
}

const two = (n) => String(n).padStart(2, "0");

/** The day where it changes. */
function utc(u, splits) {
  let day = null;
  const fine = splits.length > 1 && splits[1] - splits[0] < 60;
  return splits.map((seconds) => {
    const d = new Date(seconds * 1000);
    const here = d.toISOString().slice(5, 10);
    const text = `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}${fine ? ":" + two(d.getUTCSeconds()) : ""}`;
    const first = day !== null && day !== here;
    day = here;
    return first ? here : text;
  });
}

const short = (value) => (Math.abs(value) >= 1e4 ? value.toExponential(0) : String(Math.round(value * 1e4) / 1e4));
