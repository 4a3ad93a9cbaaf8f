import { command, h, table } from "./dom.js";
import { ago, count, moment, number, percent, words } from "./format.js";

const short = (hash) => h("code", { title: hash }, hash.slice(0, 12) + "…");

const change = (pair, written) => `${written(pair[0])} → ${written(pair[1])}`;

const since = (taken) => (taken.from_ms === null ? "the first window known" : `the window from ${moment(taken.from_ms)}`);

const facts = (b) => [
  ["SHA-256", short(b.sha256)], ["revision", String(b.revision)],
  ["made", b.created_ms === null ? "–" : `${moment(b.created_ms)}, ${ago(b.created_ms)}`],
  ["measured of", `${count(b.rows)} rows${b.requests === null ? "" : `, ${count(b.requests)} requests scored`}`],
  ...(b.source ? [["from", b.source]] : []),
  ["approved by", b.approver ? [b.approver.name, " ", h("code", null, b.approver.key_id)] : "nobody of signing.approvers"],
];

const pairs = (lines) => h("dl", { class: "pairs" }, lines.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));

/** A part that is folded up until somebody opens it; `of` tells it from the others. */
const fold = (of, title, ...parts) => h("details", { "data-of": of }, h("summary", null, title), ...parts);

/** What `plumbline baseline --replaces` prints, in its words: that of the statistics that decide first, the rest behind a word. */
function comparison(b, triggers) {
  const c = b.comparison;
  if (!c) return h("p", { class: "quiet" }, b.replaces_sha256 ? ["Not compared with ", short(b.replaces_sha256), ": no process held both."] : "Nothing known came before it.");
  const level = (t) => [words(t.statistic), t.rank, count(t.rows_per_window), number(t.old_level), number(t.new_level), change([t.old_windows, t.new_windows], count)];
  const levels = (rows) => h("div", { class: "scroll" }, table("Thresholds, old and new", ["threshold", "rank", "rows", "old", "new", "clean windows"], rows.map(level), [1, 2, 3, 4, 5]));
  const decide = c.thresholds.filter((t) => triggers.includes(t.statistic) && t.rank === b.rank);
  return h("div", { class: "compared" },
    h("p", { class: "quiet" }, "Compared with ", short(c.replaces_sha256), c.replaces_created_ms === null ? "" : ` of ${moment(c.replaces_created_ms)}`, ", old → new:"),
    pairs([["rows", change(c.rows_old_new, count)], ["reconstruction FVU", change(c.reconstruction_fvu_old_new, number)], ["shift ratio of old", number(c.shift_ratio_of_old)],
      ...c.gaps.map((g) => [`gap to old, rank ${g.rank}`, `${number(g.gap_to_old)}, ${percent(g.gap_to_old_share)} of the largest`])]),
    decide.length > 0 && levels(decide),
    c.thresholds.length > decide.length && fold(`${b.sha256} ${b.taken?.version}`, "All thresholds", levels(c.thresholds)));
}

/** Puts elements in the place of those that are there, unless they are the same; what somebody opened stays open. */
function renew(root, elements) {
  for (const open of root.querySelectorAll("details[open]")) {
    const same = elements.flatMap((one) => [one, ...one.querySelectorAll("details")]).find((one) => one.dataset.of === open.dataset.of);
    if (same) same.open = true;
  }
  const shown = [...root.children];
  if (shown.length !== elements.length || shown.some((one, i) => !one.isEqualNode(elements[i]))) root.replaceChildren(...elements);
}

/** Why the newest window was judged by another one than that which is in service. */
const otherwise = (report, b) => (report.candidate?.explainer === "trained"
  ? ["The newest window was judged by the candidate's baseline, ", short(report.baseline_sha256), " in reports: the candidate serves, and this is the history of the site's own."]
  : ["The newest window was judged by another baseline, ", short(report.baseline_sha256), ` in reports. This one holds from ${since(b.taken)} on.`]);

/** The baseline in service, the one proposed, and those before; report is of the newest window. */
export function baselines(root, answer, report) {
  const taken = [...answer.taken].reverse();
  const [b, ...before] = taken;
  const proposed = answer.proposed;
  root.hidden = !b && !proposed;
  const triggers = (report?.statistics ?? []).filter((one) => one.role === "trigger").map((one) => one.statistic);
  const judged = report?.baseline_sha256;
  renew(root, [
    h("h2", null, "Baseline"),
    proposed && h("div", { class: "waiting", role: "group", "aria-label": "Proposed baseline" },
      h("p", null, h("b", null, `Revision ${proposed.revision} is proposed`), `, ${ago(proposed.created_ms)}.`),
      pairs(facts(proposed).filter(([name]) => name !== "approved by")),
      b && proposed.replaces_sha256 !== b.sha256 && h("p", { class: "warn" }, "It was compared with another baseline than the one in service."),
      comparison(proposed, triggers),
      h("p", { class: "quiet" }, "Signs the file with this hash; then the configuration names it:"), command(answer.approve_command)),
    b && [judged && b.content_sha256 && judged !== b.content_sha256
      ? h("p", { class: "warn" }, otherwise(report, b)) : null,
    pairs([["in service since", since(b.taken)], ["configuration", `version ${b.taken.version}, agreed ${moment(b.taken.agreed_ms)}`], ...facts(b)]), comparison(b, triggers)],
    before.length > 0 && fold("before", `${before.length} before`,
      h("ol", { class: "history", reversed: true }, before.map((one) => h("li", null,
        h("p", null, h("b", null, `revision ${one.revision}`), " ", short(one.sha256), h("span", { class: "quiet" }, ` since ${since(one.taken)}`)), pairs(facts(one).slice(2)), comparison(one, triggers))))),
  ].flat(Infinity).filter(Boolean));
}
