import { answers } from "./answers.js";
import { WindowChart } from "./chart.js";
import { baselines } from "./baselines.js";
import { breakdown } from "./breakdown.js";
import { decoders } from "./decoders.js";
import { h } from "./dom.js";
import { get, now, record, Refresh, siteUrl } from "./feed.js";
import { ago, apart, count, decoder, moment, number, percent, span, time, words } from "./format.js";
import { PARTS, sections } from "./sections.js";
import { badge } from "./sites.js";
import { statistics } from "./statistics.js";
import { period, windowTable } from "./windows.js";

const GAP = "faithfulness_gap";
const RANGES = [60, 240, Infinity];
const KEPT = 1000;
const DAY_MS = 86400000;

const gapSeries = [
  { label: "upper bound", key: (w) => w.gap_upper_bound, stroke: "--bound", width: 1, band: "--band" },
  { label: "lower bound", key: (w) => w.gap_lower_bound, stroke: "--bound", width: 1 },
  { label: "threshold", key: (w) => w.gap_threshold, stroke: "--threshold", dash: [6, 4] },
  { label: "gap of the decoder in service", key: (w) => (w.decoder_version > 0 ? w.active_faithfulness_gap : null), stroke: "--active", width: 1.5 },
  { label: "gap", key: (w) => w.faithfulness_gap, stroke: "--value", width: 2.2 },
];

const level = (name, part) => (w) => w.statistics.find((one) => one.statistic === name)?.[part];

const otherSeries = (name) => [
  { label: "threshold", key: level(name, "threshold"), stroke: "--threshold", dash: [6, 4] },
  { label: words(name), key: (w) => w[name], stroke: "--value", width: 2.2 },
];

const fvuSeries = [
  { label: "trained", key: (w) => w.reconstruction_fvu_trained, stroke: "--value", width: 2 },
  { label: "in service", key: (w) => (w.decoder_version > 0 ? w.reconstruction_fvu : null), stroke: "--active", width: 2 },
];

const key = (label, name, shape = "line") => h("li", null, h("i", { class: `key ${shape} ${name}`, "aria-hidden": "true" }), label);

/** Everything about one site. */
export class SitePage {
  constructor(root, overview, summary) {
    this.root = root;
    this.overview = overview;
    this.summary = summary;
    this.windows = [];
    this.range = RANGES[record ? 2 : 1];
    this.closed = false;
    this.statistic = null;
    this.told = null;
    this.fitted = null;
    this.versions = null;
    this.behind = record !== null;
    this.body = h("div", { class: "body" });
    this.head = h("header", { class: "site-head" });
    root.replaceChildren(this.head, this.body);
    this.history = new Refresh(() => this.readHistory());
    this.reports = new Refresh(() => this.readReports());
    this.decoders = new Refresh(() => this.readDecoders());
    this.baselines = new Refresh(() => this.readBaselines());
    this.account = new Refresh(() => this.readAccount());
    this.reload(summary, overview);
  }

  get site() { return this.summary.site; }

  async reload(summary, overview) {
    this.summary = summary ?? this.summary;
    this.overview = overview;
    this.showHead();
    try {
      await this.history.now();
    } catch (problem) {
      if (!this.closed) this.body.replaceChildren(h("p", { class: "empty" }, `The windows of this site could not be read: ${problem.message}.`));
    }
  }

  async readHistory() {
    const answer = await get(siteUrl(this.site, "windows"));
    if (this.closed) return;
    this.windows = answer.windows;
    this.lay();
  }

  /** Anything but a window, which brings its own figures. */
  async changed() {
    this.showHead();
    await Promise.all([this.decoders.now(), this.baselines.now()]);
  }

  /** A window closed. */
  window(window, summary) {
    this.summary = summary;
    this.history.heard();
    const at = this.windows.findIndex((w) => w.window_start_ms === window.window_start_ms && w.window_end_ms === window.window_end_ms);
    if (at >= 0) this.windows[at] = window;
    else {
      this.windows.push(window);
      this.windows.sort((a, b) => a.window_end_ms - b.window_end_ms || a.window_start_ms - b.window_start_ms);
    }
    this.windows = this.windows.slice(-KEPT);
    this.showHead();
    if (!this.gap) {
      this.lay();
      return;
    }
    this.draw();
    for (const part of [this.reports, this.account]) part.now().catch(() => {});
  }

  showHead() {
    const s = this.summary;
    const w = s.newest;
    const old = w && now() - s.heard_ms > this.overview.stale_after_ms;
    this.head.replaceChildren(...[
      h("a", { class: "back", href: "#/" }, "← all sites"),
      h("div", { class: "title" }, h("h1", null, s.site), badge(w?.verdict),
        w && h("span", { class: "quiet" }, s.since_ms === w.window_end_ms ? `newest window ended ${moment(w.window_end_ms)}`
          : `since the window that ended ${moment(s.since_ms)}; the newest ended ${moment(w.window_end_ms)}`)),
      answers({ window: w, summary: s, reports: this.told, decoders: this.fitted }),
      w?.warning && w.warning !== "aligned" && h("p", { class: "warn" }, `Warning (${w.warning}): ${w.warning_reason}.`),
      w?.coverage?.moved && h("p", { class: "warn" }, `Coverage moved: ${w.coverage.moved}.`),
      w?.energy_warning && h("p", { class: "warn" }, `Warning: ${w.energy_warning}.`),
      old && h("p", { class: "warn" }, `No window for ${ago(s.heard_ms).replace(" ago", "")}: what stands here is old. Do rows still arrive? The account of rows below says, and so does the alert PlumblineNoWindows in the runbook.`),
      w && h("details", { class: "behind", open: this.behind, ontoggle: (e) => { this.behind = e.target.open; } },
        h("summary", null, "Reason and figures"),
        h("p", { class: "reason" }, words(w.reason)),
        w.details.length > 0 && h("ul", { class: "reason" }, w.details.map((detail) => h("li", null, detail))),
        h("dl", { class: "figures" }, figures(w, s).map(([name, value, more]) =>
          h("div", null, h("dt", null, name), h("dd", null, value, more && h("small", null, more)))))),
    ].filter(Boolean));
  }

  lay() {
    this.gap?.close();
    this.fvu?.close();
    this.gap = this.fvu = null;
    this.parts = Object.fromEntries([...PARTS, "breakdown", "decoders", "baselines", "rows", "statistics"].map((name) => [name, h("section", { class: `part ${name}`, id: `part-${name}` })]));
    if (this.windows.length === 0) {
      this.body.replaceChildren(this.noWindow(), this.parts.decoders, this.parts.baselines, this.parts.rows);
      this.fill();
      return;
    }
    const newest = this.windows[this.windows.length - 1];
    const meanings = Object.fromEntries(this.overview.statistics.map((one) => [one.statistic, one.help]));
    const names = [...new Set([GAP, ...newest.statistics.map((one) => one.statistic), ...Object.keys(meanings)])];
    this.statistic = names.includes(this.statistic) ? this.statistic : newest.trigger;
    if (!names.includes(this.statistic)) names.push(this.statistic);
    const choose = h("select", { id: "statistic", onchange: (e) => {
      this.statistic = e.target.value;
      this.lay();
      document.getElementById("statistic").focus();
      document.dispatchEvent(new CustomEvent("statistic", { detail: this.statistic }));
    } }, names.map((name) => h("option", { value: name, title: meanings[name], selected: name === this.statistic }, words(name))));
    const range = h("select", { id: "range", onchange: (e) => { this.range = Number(e.target.value); this.draw(); } },
      RANGES.map((n) => h("option", { value: n, selected: n === this.range }, n === RANGES[2] ? "all windows" : `last ${n}`)));
    this.csv = h("a", { download: true }, "CSV");
    this.json = h("a", { download: `windows-${this.site.replace(/[^a-zA-Z0-9._-]/g, "_")}.json` }, "JSON");
    this.period = h("p", { class: "quiet" });
    this.readout = h("p", { class: "readout", id: "readout" });
    const gapRoot = h("div", { class: "plot" });
    const fvuRoot = h("div", { class: "plot" });
    const isGap = this.statistic === GAP;
    const legend = isGap
      ? [key("gap", "value"), key("threshold", "threshold", "dashed"), key("between lower and upper bound", "band", "area"), key("gap of the decoder in service", "active")]
      : [key(words(this.statistic), "value"), key("threshold", "threshold", "dashed")];
    this.stage = h("div", { class: "stage", tabindex: "0", role: "group", "aria-describedby": "readout",
      "aria-label": "Charts over event time. Arrow keys move from window to window; the table below has the same numbers.",
      onkeydown: (e) => this.key(e) },
    h("ul", { class: "legend" }, legend, key("drifted", "drifted", "area"), key("undecided", "undecided", "area"), key("another decoder", "swap", "dotted")),
    gapRoot, h("ul", { class: "legend" }, h("li", null, h("b", null, "FVU")), key("trained decoder", "value"), key("decoder in service", "active")), fvuRoot);
    this.tableRoot = h("div");
    const details = h("details", { class: "table", open: record !== null, ontoggle: () => this.table() }, h("summary", null, "The same as a table"), this.tableRoot);
    this.details = details;
    this.body.replaceChildren(
      h("section", { class: "part charts", "aria-labelledby": "windows-title" },
        h("div", { class: "bar" }, h("h2", { id: "windows-title" }, "Windows"),
          h("label", null, h("span", { class: "hidden" }, "Statistic"), choose), h("label", null, h("span", { class: "hidden" }, "Range"), range),
          h("span", { class: "export" }, "export ", this.csv, " ", this.json)),
        this.period, this.readout, this.stage, details),
      h("div", { class: "column" }, this.parts.breakdown, this.parts.decoders, this.parts.baselines, this.parts.rows), h("div", { class: "column" }, PARTS.map((name) => this.parts[name])),
      this.parts.statistics);
    const { window } = this.overview;
    const tumbling = window.advance_ms === window.size_ms;
    const common = { tumbling, onWindow: (w) => this.read(w ?? this.shown[this.shown.length - 1]) };
    this.gap = new WindowChart(gapRoot, isGap ? gapSeries : otherSeries(this.statistic), { ...common, height: 280, labels: true });
    this.fvu = new WindowChart(fvuRoot, fvuSeries, { ...common, height: 130, labels: false });
    this.draw();
    this.fill();
  }

  /** What stands beside the charts: the parts are new and empty. A file has no account of rows and no baselines. */
  fill() {
    for (const part of [this.reports, this.decoders, ...(record ? [] : [this.baselines, this.account])]) part.now().catch(() => {});
  }

  draw() {
    this.shown = this.windows.slice(-this.range);
    this.gap.show(this.shown);
    this.fvu.show(this.shown);
    this.period.textContent = period(this.shown);
    this.read(this.shown[this.shown.length - 1]);
    breakdown(this.parts.breakdown, this.shown[this.shown.length - 1]);
    const query = this.shown.length < this.windows.length ? `?from_ms=${this.shown[0].window_end_ms}` : "";
    this.csv.href = siteUrl(this.site, "windows.csv") + query;
    this.json.href = siteUrl(this.site, "windows") + query;
    this.table();
  }

  key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: "first", End: "last" }[event.key];
    if (by === undefined || event.target !== this.stage) return;
    event.preventDefault();
    this.gap.windows = this.shown;
    const w = this.gap.step(by);
    if (w) this.read(w, true);
  }

  read(w, spoken = false) {
    const own = this.statistic === GAP
      ? `gap ${number(w.faithfulness_gap)}, threshold ${number(w.gap_threshold)}, bounds ${number(w.gap_lower_bound, 2)} to ${number(w.gap_upper_bound, 2)}`
      : `${words(this.statistic)} ${number(w[this.statistic])}, threshold ${number(level(this.statistic, "threshold")(w))}`;
    this.readout.setAttribute("aria-live", spoken ? "polite" : "off");
    this.readout.replaceChildren(h("b", null, `${moment(w.window_start_ms).replace(" UTC", "")} to ${time(w.window_end_ms)} UTC`),
      ` ${own} · FVU ${number(w.reconstruction_fvu_trained)}${w.decoder_version > 0 ? `, in service ${number(w.reconstruction_fvu)}` : ""} · ${count(w.rows)} rows · ${decoder(w.decoder_version)} · `,
      h("span", { class: `word ${w.verdict}` }, w.verdict));
  }

  table() {
    if (this.details.open) this.tableRoot.replaceChildren(windowTable(this.shown));
  }

  async readReports() {
    const reports = await get(siteUrl(this.site, "reports"));
    if (this.closed || !this.gap) return;
    sections(this.parts, this.overview.sections, { ...reports, windows: this.windows });
    statistics(this.parts.statistics, this.overview.statistics, reports.newest);
    this.told = reports;
    this.showHead();
    this.showBaselines();
  }

  async readDecoders() {
    const answer = await get(siteUrl(this.site, "decoders"));
    if (this.closed || !this.parts) return;
    decoders(this.parts.decoders, answer, this.summary.version_in_service);
    this.fitted = answer;
    this.showHead();
  }

  async readBaselines() {
    const answer = await get(siteUrl(this.site, "baselines"));
    if (this.closed || !this.parts) return;
    this.versions = answer;
    this.showBaselines();
  }

  /** A window changes no baseline, but may be judged by another one than the window before. */
  showBaselines() {
    if (this.versions) baselines(this.parts.baselines, this.versions, this.told?.newest);
  }

  async readAccount() {
    const summary = await get(siteUrl(this.site));
    if (this.closed || !this.parts) return;
    rows(this.parts.rows, summary.rows);
  }

  noWindow() {
    const { window } = this.overview;
    const end = Math.floor(now() / window.advance_ms) * window.advance_ms + window.advance_ms;
    return h("section", { class: "part empty" }, h("h2", null, "No window closed yet"),
      h("p", null, `A window is ${span(window.size_ms)} of event time. Rows stamped now lie in the one that ends at ${moment(end)}; it closes when rows later than ${time(end + window.grace_ms)} come${window.idle_close_ms === null ? "" : `, or when the site has been silent for ${span(window.idle_close_ms)}`}.`),
      h("p", null, "Nothing after that? Records need the header ", h("code", null, "site"), " (or the key) ", h("code", null, this.site),
        ", on its topic of activations. What was refused stands beside the list of sites, what came too late below."));
  }

  close() {
    this.closed = true;
    this.gap?.close();
    this.fvu?.close();
  }
}

/** How long the thresholds keep quiet on clean traffic, by what they rest on: clean windows, or requests beside them. */
function promises(w) {
  return [["clean_windows", "clean windows"], ["clean_requests", "requests"]].flatMap(([key, by]) => {
    const rates = w.statistics.filter((one) => one.role === "trigger" && one[key] != null && one.alarms_per_day > 0).map((one) => one.alarms_per_day);
    return rates.length ? [[`false alarm, by ${by}`, `1 in ${span(DAY_MS / Math.max(...rates))}`]] : [];
  });
}

function figures(w, s) {
  return [
    [`${words(w.trigger)} over its threshold`, apart(w.over_threshold, 1, 2), ` ${apart(w.trigger_value, w.threshold)} of ${apart(w.threshold, w.trigger_value)}`],
    ["gap", number(w.faithfulness_gap), ` of ${number(w.largest_gap, 2)} at most`],
    ["bounds", `${number(w.gap_lower_bound, 2)} – ${number(w.gap_upper_bound, 2)}`, w.gap_upper_bound_vacuous ? " upper says nothing" : null],
    ["request shift", number(w.request_shift, 2)],
    ["request evidence", number(w.request_evidence, 2)],
    ["gap to baseline", number(w.baseline_gap)],
    ["shift", percent(w.second_moment_shift_ratio)],
    ["whitened mean shift", number(w.whitened_mean_shift, 2)],
    ["FVU trained", number(w.reconstruction_fvu_trained)],
    ["FVU in service", number(w.reconstruction_fvu)],
    ...(w.kl == null ? [] : [["KL", number(w.kl, 3), " nats, explainer in place"], ["top-1 agreement", percent(w.top1_agreement)]]),
    ...promises(w),
    ["rows", count(w.rows), w.masked_share > 0 ? ` ${percent(w.masked_share)} masked` : null],
    ...(w.coverage ? [["coverage", percent(w.coverage.delivered_share), missing(w.coverage)]] : []),
    ["decoder in service", decoder(s.version_in_service), ` ${s.mode}${s.pinned ? ", pinned" : ""}`],
  ];
}

/** Why rows are missing, as far as producers say. */
function missing(coverage) {
  const reasons = ["cached", "not_sampled", "dropped"].filter((why) => coverage[`${why}_share`] > 0);
  return reasons.length ? ` ${reasons.map((why) => `${percent(coverage[`${why}_share`])} ${words(why)}`).join(", ")}` : " of the tokens served";
}

/** What became of every row. */
function rows(root, account) {
  const head = h("h2", null, "Rows");
  if (!account) {
    root.replaceChildren(head, h("p", { class: "quiet" }, "No row of this site has been accounted for yet."));
    return;
  }
  const some = ([, n]) => n > 0;
  const late = Object.entries(account.late);
  const masked = Object.entries(account.masked);
  const lines = [["accepted", account.in], ["in closed windows", account.in_windows], ["in open windows", account.open],
    ...masked.filter(some).map(([why, n]) => [`masked, ${words(why)}`, n]), ...late.filter(some).map(([why, n]) => [`late, ${words(why)}`, n])];
  if (account.unaccounted !== 0) lines.push(["unaccounted", account.unaccounted]);
  root.replaceChildren(head, h("dl", { class: "pairs" }, lines.map(([what, n]) => [h("dt", null, what), h("dd", null, count(n))])),
    ...(!late.some(some) ? [h("p", { class: "quiet" }, "None came too late for its window.")] : []));
}
