import { command, h } from "./dom.js";
import { record } from "./feed.js";
import { decoder, moment, number, percent, span, words } from "./format.js";

const SAID = {
  published: "went into service", approved: "approved, in service", reverted: "trained decoder restored", rolled_back: "rolled back to the trained decoder",
  proposed: "waits for approval", withdrawn: "candidate withdrawn", kept: "nothing better found", refused: "refused by the gate", failed: "failed",
  waiting: "a candidate waits already", held: "held: pinned", limited: "held: too many swaps", paused: "paused after a rollback",
  pinned: "pinned", unpinned: "unpinned", rejected: "command not carried out",
};

const SHOWN = 20;

function inService(answer, version) {
  const d = answer.in_service;
  const state = answer.swaps;
  const lines = [["in service", d ? `version ${d.version}, ${d.kind}` : version > 0 ? decoder(version) : "trained decoder, as it came"], ["mode", answer.mode + (state?.pinned ? ", pinned" : "")]];
  if (d) {
    lines.push(["SHA-256", short(d.sha256)], ["parent", short(d.parent_sha256)], ["size", `${(d.bytes / 1e6).toFixed(2)} MB in ${d.chunks} chunks`]);
  }
  const lineage = Object.entries(d?.lineage ?? {}).filter(([, value]) => value.length < 200);
  return [h("dl", { class: "pairs" }, lines.map(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
    lineage.length > 0 && h("details", null, h("summary", null, "Lineage"),
      h("dl", { class: "pairs" }, lineage.map(([name, value]) => [h("dt", null, words(name)), h("dd", null, name.endsWith("_ms") ? moment(Number(value)) : value)])))];
}

const short = (hash) => h("code", { title: hash }, hash.slice(0, 12) + "…");

function waiting(answer) {
  const candidate = answer.swaps?.waiting ?? answer.swaps?.explainer;
  if (!candidate) return null;
  const report = answer.adaptations.findLast?.((one) => one.outcome === "proposed" && one.version === candidate.number);
  return h("div", { class: "waiting", role: "group", "aria-label": `Candidate ${candidate.number}` },
    h("p", null, h("b", null, `Candidate ${candidate.number} waits for approval`), ` until ${moment(candidate.expires_ms)}. `, report?.reason ?? ""),
    h("p", { class: "quiet" }, "Puts it into service:"), command(answer.commands.approve),
    answer.commands.look && [h("p", { class: "quiet" }, "Writes it to a folder, to be looked at first:"), command(answer.commands.look)]);
}

function gate(report) {
  if (!report.gate) return null;
  return h("ul", { class: "gate" }, report.gate.tests.map((test) => h("li", { class: test.passed ? "passed" : "failed" },
    h("b", null, `${test.passed ? "✓" : "✗"} ${words(String(test.name ?? test.test ?? ""))}`), ` ${test.finding ?? ""}`)));
}

function entry(report) {
  const took = report.fvu_after !== null && report.fvu_before !== null;
  return h("li", { class: report.outcome },
    h("p", null, h("b", null, SAID[report.outcome] ?? report.outcome), report.version > 0 ? ` · v${report.version}` : "",
      h("span", { class: "quiet" }, ` · window to ${report.window_end_ms > 0 ? moment(report.window_end_ms) : "–"}${report.seconds > 0 ? ` · ${span(1000 * report.seconds)}` : ""}`)),
    took && h("p", { class: "effect" }, `held-out FVU ${number(report.fvu_before)} → ${number(report.fvu_after)}`,
      report.gate && ` (${percent(report.gate.improvement)} less), gap ${number(report.faithfulness_gap_before)} → ${number(report.faithfulness_gap_after)}`),
    h("details", null, h("summary", null, "why"), h("p", null, report.reason), report.candidate && h("p", { class: "quiet" }, report.candidate), gate(report)));
}

/** Why nothing stands where the adapter's reports would. */
function nothing(answer) {
  if (answer.mode === "observe") return "This site is watched only (adaptation.mode: observe).";
  return record ? "The adapter reported nothing in this period." : "Nothing was fitted yet: that begins when the site drifts.";
}

/** The adapter's reports, the newest first, the old ones behind a word. */
function history(reports) {
  const lines = [...reports].reverse().map(entry);
  return [h("ol", { class: "history", reversed: true }, lines.slice(0, SHOWN)),
    lines.length > SHOWN && h("details", null, h("summary", null, `${lines.length - SHOWN} more`), h("ol", { class: "history" }, lines.slice(SHOWN)))];
}

/** What serves, what waits, what was tried. */
export function decoders(root, answer, version) {
  const others = [["Take it out of service, for what served before:", answer.commands.rollback], ["Keep what is in service:", answer.commands.pin],
    ["Let it swap again:", answer.commands.unpin]].filter(([, text]) => text);
  root.replaceChildren(...[
    h("h2", null, "Decoders"),
    answer.swapped_as && h("p", { class: "quiet" }, "All target layers of ", h("b", null, answer.swapped_as), " are fitted and swapped together: this is their one decoder."),
    waiting(answer), inService(answer, version),
    answer.adaptations.length > 0 ? history(answer.adaptations) : h("p", { class: "quiet" }, nothing(answer)),
    answer.refusals.length > 0 && h("div", { class: "warn" }, h("p", null, "Versions on the topic that were not trusted:"),
      h("ul", null, answer.refusals.map((one) => h("li", null, `version ${one.version}: ${one.reason}`)))),
    others.length > 0 && h("details", null, h("summary", null, "Commands"),
      others.map(([what, text]) => [h("p", { class: "quiet" }, what), command(text)]), answer.commands.note && h("p", { class: "quiet" }, answer.commands.note)),
  ].flat(Infinity).filter(Boolean));
}
