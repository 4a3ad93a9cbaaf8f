import { command, h, svg } from "./dom.js";
import { now } from "./feed.js";
import { ago, count, decoder, headline, words } from "./format.js";

const WIDTH = 120;
const HEIGHT = 28;

/** How many times its threshold the deciding statistic is, whichever it is: 1 is the threshold, and where it was drifted. */
export function sparkline(points) {
  const values = points.map((p) => p.over_threshold).filter((v) => v !== null);
  const root = svg("svg", { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true", preserveAspectRatio: "none" });
  if (values.length === 0) return root;
  const low = Math.min(...values, 1);
  const high = Math.max(...values, 1);
  const x = (i) => (points.length === 1 ? WIDTH / 2 : (i * (WIDTH - 4)) / (points.length - 1) + 2);
  const y = (v) => (high === low ? HEIGHT / 2 : HEIGHT - 3 - ((v - low) * (HEIGHT - 6)) / (high - low));
  let pen = "M";
  const path = points.map((p, i) => {
    if (p.over_threshold === null) { pen = "M"; return ""; }
    const step = `${pen}${x(i).toFixed(1)} ${y(p.over_threshold).toFixed(1)}`;
    pen = "L";
    return step;
  }).join("");
  const wide = points.length === 1 ? WIDTH : (WIDTH - 4) / (points.length - 1);
  points.forEach((p, i) => {
    if (p.verdict !== "aligned") {
      root.append(svg("rect", { class: `tint ${p.verdict}`, x: Math.max(0, x(i) - wide / 2), y: 0, width: wide, height: HEIGHT }));
    }
  });
  root.append(svg("path", { class: "threshold", d: `M0 ${y(1).toFixed(1)}H${WIDTH}` }), svg("path", { class: "value", d: path }));
  const last = points[points.length - 1];
  if (last.over_threshold !== null) {
    root.append(svg("path", { class: `now ${last.verdict}`, d: `M${x(points.length - 1).toFixed(1)} ${y(last.over_threshold).toFixed(1)}h.01` }));
  }
  return root;
}

const TAIL = 12;

/** A name that is cut in its middle where it is too long: sites of one model differ at both ends. */
export function siteName(name) {
  const letters = [...name];
  const at = Math.max(Math.ceil(letters.length / 2), letters.length - TAIL);
  return h("span", { class: "name", title: name },
    h("span", { class: "start" }, letters.slice(0, at).join("")), h("span", { class: "end" }, letters.slice(at).join("")));
}

export const badge = (verdict) => h("span", { class: `verdict ${verdict ?? "none"}` }, verdict ?? "no window yet");

function notes(site) {
  const said = [site.newest || site.version_in_service > 0 ? decoder(site.version_in_service) : null, site.pinned ? "pinned" : null];
  if (site.waiting_candidate !== null) said.push(`candidate ${site.waiting_candidate} waits`);
  if (site.newest?.warning === "drifted") said.push("warning");
  return said.filter(Boolean).join(" · ");
}

/** How long a site had no window, where that is longer than it should be; else nothing. */
export const silence = (site, overview) => (site.newest && now() - site.heard_ms > overview.stale_after_ms
  ? `no window for ${ago(site.heard_ms).replace(" ago", "")}` : "");

export class SiteList {
  constructor(root, filter) {
    this.root = root;
    this.rows = new Map();
    this.filter = filter;
    filter.addEventListener("input", () => this.narrow());
  }

  show(sites, overview) {
    const rank = { drifted: 0, undecided: 1 };
    const sorted = sites.map((site, i) => [rank[site.newest?.verdict] ?? 2, i, site]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const names = new Set(sites.map((site) => site.site));
    for (const [name, row] of this.rows) {
      if (!names.has(name)) { row.item.remove(); this.rows.delete(name); }
    }
    const focused = document.activeElement;
    sorted.forEach(([, , site], at) => {
      const item = this.row(site).item;
      if (this.root.children[at] !== item) this.root.insertBefore(item, this.root.children[at] ?? null);
    });
    if (focused && focused !== document.activeElement && this.root.contains(focused)) focused.focus();
    this.ages(overview);
    this.narrow();
  }

  row(site) {
    let row = this.rows.get(site.site);
    if (!row) {
      const link = h("a", { href: `#/site/${encodeURIComponent(site.site)}` });
      row = { item: h("li", null, link), link };
      this.rows.set(site.site, row);
    }
    row.site = site;
    row.age = h("span", { class: "age" });
    row.link.replaceChildren(
      siteName(site.site),
      sparkline(site.recent),
      badge(site.newest?.verdict),
      h("span", { class: "level" }, site.newest ? headline(site.newest) : "waiting for rows"),
      h("span", { class: "notes" }, notes(site)),
      row.age);
    return row;
  }

  /** How long nothing came, where that is longer than it should be. */
  ages(overview) {
    for (const row of this.rows.values()) row.age.textContent = silence(row.site, overview);
  }

  narrow() {
    const text = this.filter.value.trim().toLowerCase();
    for (const [name, row] of this.rows) row.item.hidden = text !== "" && !name.toLowerCase().includes(text);
    this.filter.parentElement.hidden = this.rows.size < 6;
  }

  select(name) {
    for (const [site, row] of this.rows) {
      if (site === name) row.link.setAttribute("aria-current", "page");
      else row.link.removeAttribute("aria-current");
    }
  }
}

/** What never came as far as a window. */
export function refused(root, overview) {
  const letters = Object.entries(overview.dead_letters);
  const children = [];
  if (overview.past.state === "refused") {
    children.push(h("h2", null, "History"), h("p", { class: "warn" }, overview.past.sentence + "."));
  }
  children.push(h("h2", null, "Refused records"));
  if (letters.length === 0) {
    children.push(h("p", { class: "quiet" }, "None since this process started."));
  } else {
    children.push(
      h("dl", { class: "pairs" }, letters.map(([reason, n]) => [h("dt", null, words(reason)), h("dd", null, count(n))])),
      h("p", { class: "quiet" }, "Since this process started, of all sites. Which they are, and why:"),
      command(overview.dead_letters_command));
  }
  root.replaceChildren(...children);
}
