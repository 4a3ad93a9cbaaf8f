import { byId, h, say } from "./dom.js";
import { follow, get, record, Refresh, RETRY_MS, siteUrl } from "./feed.js";
import { ago, moment, words } from "./format.js";
import { overview } from "./overview.js";
import { refused, SiteList } from "./sites.js";
import { SitePage } from "./site.js";

const SPARKS = 60;
const state = { overview: null, sites: new Map(), selected: null, page: null };
const list = new SiteList(byId("sites"), byId("filter"));

function selectedName() {
  const match = location.hash.match(/^#\/site\/(.*)$/);
  if (match) {
    try { return decodeURIComponent(match[1]); } catch { return match[1]; }
  }
  return record?.site ?? null;
}

function route() {
  const name = selectedName();
  document.body.classList.toggle("chosen", name !== null);
  const summary = name === null ? undefined : state.sites.get(name);
  list.select(summary?.site);
  if (!summary) {
    state.page?.close();
    state.page = null;
    state.selected = null;
    document.title = "Plumbline";
    if (name !== null) {
      byId("main").replaceChildren(h("p", { class: "empty" }, `No site “${name}” is configured here. The list shows those that are.`));
    } else if (state.sites.size === 0) {
      byId("main").replaceChildren(h("p", { class: "empty" }, "The configuration names no site."));
    } else {
      overview(byId("main"), [...state.sites.values()], state.overview);
    }
    return;
  }
  if (state.selected !== summary.site || !state.page) {
    state.selected = summary.site;
    state.page?.close();
    state.page = new SitePage(byId("main"), state.overview, summary);
  }
  document.title = `${summary.newest ? summary.newest.verdict + " · " : ""}${summary.site} · Plumbline`;
}

function tally() {
  const counts = {};
  for (const site of state.sites.values()) {
    const verdict = site.newest?.verdict ?? "no window yet";
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
  byId("tally").textContent = ["drifted", "undecided", "aligned", "no window yet"]
    .filter((verdict) => counts[verdict]).map((verdict) => `${counts[verdict]} ${verdict}`).join(", ");
}

function show() {
  list.show([...state.sites.values()], state.overview);
  refused(byId("refused"), state.overview);
  tally();
  showConnection();
  route();
}

const everything = new Refresh(async () => {
  const overview = await get("api/sites");
  state.overview = overview;
  state.sites = new Map(overview.sites.map((site) => [site.site, site]));
  byId("application").textContent = overview.application;
  byId("reader").textContent = overview.reader ? `reader: ${overview.reader}` : "";
  show();
});

const summaries = new Map();

/** What the list and the head of a page say of a site. */
function summaryOf(name) {
  if (!summaries.has(name)) {
    summaries.set(name, new Refresh(async () => {
      const answer = await get(siteUrl(name));
      Object.assign(state.sites.get(name) ?? {}, answer);
      show();
    }));
  }
  return summaries.get(name);
}

/** Everything anew, the open site too. */
async function reload() {
  try {
    await everything.now();
    await state.page?.reload(state.sites.get(state.selected), state.overview);
  } catch (problem) {
    connection("lost", problem.message);
  }
}

/** Whether events come, why not, and what /readyz complains of. */
const link = { word: "lost", why: "", complaint: null };

function connection(word, why) {
  Object.assign(link, { word, why });
  showConnection();
}

/** A stream of events that is open says nothing of the data: an outage of the brokers leaves it open. */
function showConnection() {
  const ends = [...state.sites.values()].map((site) => site.newest?.window_end_ms ?? 0);
  const newest = Math.max(0, ...ends);
  const sign = byId("connection");
  const sentence = record ? `record, written ${moment(record.written_ms)}`
    : link.word !== "live" ? `not connected; what is shown may be old${link.why ? ` (${link.why})` : ""}`
    : link.complaint ? `not live: ${link.complaint}` : "live";
  sign.className = `connection ${sentence === "live" ? "live" : record ? "" : "lost"}`;
  if (sign.textContent !== sentence) sign.textContent = sentence; // read aloud when it changes
  byId("newest").textContent = newest ? `newest window ended ${ago(newest)}` : "";
}

async function askReady() {
  try {
    link.complaint = (await get("api/ready")).complaint;
    showConnection();
  } catch { /* the stream of events says that nobody answers */ }
}

function onWindow({ site, window }) {
  everything.heard();
  summaryOf(site).heard();
  const summary = state.sites.get(site);
  if (!summary) return;
  const before = summary.newest;
  if (!before || window.window_end_ms >= before.window_end_ms) {
    if (before && before.verdict !== window.verdict) {
      say(`${site} is ${window.verdict}: ${window.reason}`);
      summary.since_ms = window.window_end_ms;
    }
    summary.since_ms ??= window.window_end_ms;
    summary.newest = window;
    summary.heard_ms = Date.now();
    summary.windows += 1;
    summary.recent = [...summary.recent, {
      window_end_ms: window.window_end_ms, over_threshold: window.over_threshold, verdict: window.verdict,
    }].slice(-SPARKS);
  }
  show();
  if (site === state.selected) state.page?.window(window, summary);
}

function onModel({ model, window, report }) {
  everything.heard();
  const known = state.overview.models.find((one) => one.model === model);
  if (!known) return;
  if (known.newest && known.newest.verdict !== report.verdict) say(`model ${model} is ${report.verdict}: ${report.reason}`);
  known.windows = [...known.windows.filter((one) => one.window_end_ms !== window.window_end_ms), window]
    .sort((a, b) => a.window_end_ms - b.window_end_ms);
  if (!known.newest || report.window_end_ms >= known.newest.window_end_ms) known.newest = report;
  show();
}

async function onSite({ site }) {
  everything.heard();
  try {
    await summaryOf(site).now();
    if (site === state.selected) await state.page?.changed();
  } catch {
    // There may be no other event for hours.
    setTimeout(() => onSite({ site }), RETRY_MS);
  }
}

async function start() {
  try {
    await everything.now();
    if (record) return;
    follow(state.overview.place, {
      state: connection,
      window: onWindow,
      site: onSite,
      model: onModel,
      letters: ({ dead_letters }) => {
        state.overview.dead_letters = dead_letters;
        refused(byId("refused"), state.overview);
      },
      reset: reload,
    });
  } catch (problem) {
    connection("lost", problem.message);
    byId("main").replaceChildren(h("p", { class: "empty" },
      `The monitor did not answer (${problem.message}). This page asks again in 3 seconds; whether the process runs, /healthz says.`));
    setTimeout(start, RETRY_MS);
  }
}

addEventListener("hashchange", () => {
  route();
  byId("main").focus();
  scrollTo(0, 0);
});
setInterval(() => {
  if (record || !state.overview) return;
  list.ages(state.overview);
  askReady();
}, 5000);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
document.body.classList.toggle("record", record !== null);
document.body.classList.toggle("one", typeof record?.site === "string");
document.addEventListener("statistic", (event) => say(`Chart of ${words(event.detail)}`));
start();
