import { h, table } from "./dom.js";
import { apart, percent } from "./format.js";

/** Shows what somebody relies on at the site: each watched feature and probe beside the baseline. */
export function watched(root, { newest }) {
  const report = newest?.watched;
  const all = report ? [...report.features, ...report.probes] : [];
  root.hidden = all.length === 0;
  if (root.hidden) return;
  const pair = (now, before, write) => (before === null ? write(now) : `${write(before)} → ${write(now)}`);
  root.replaceChildren(h("h2", null, "Watched"),
    h("p", { class: "quiet" }, `${report.requests} requests of the newest window beside ${report.requests_baseline} of the baseline: baseline → window.`),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Watched features and probes" },
      table("Watched features and probes", ["name", "hurt", "rate", "mean", "q"], all.map((one) => [
        one.name, one.hurt ? h("b", { class: "word drifted" }, "yes") : "no", pair(one.rate, one.rate_baseline, percent),
        pair(one.activation ?? one.score, one.activation_baseline ?? one.score_baseline ?? null, (value) => apart(value, 0, 3)),
        one.q_value === null ? "–" : one.q_value.toExponential(1)]), [2, 3, 4])),
    ...parts(all));
}

/** Shows in which requests of the window it is so: a person looks there first. */
function parts(all) {
  const rows = all.flatMap((one) => one.parts.map((part) => [
    one.name, part.by, part.value, part.requests, percent(part.rate), apart(part.mean, 0, 3)]));
  return rows.length === 0 ? [] : [h("details", null, h("summary", null, "By length and header"),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Watched features and probes by length and header" },
      table("Watched features and probes by length and header", ["name", "by", "value", "requests", "rate", "mean"], rows, [3, 4, 5])))];
}
