import { h, table } from "./dom.js";
import { count, number, percent } from "./format.js";

/** The rows of a window by the values of a header or tag; nothing where none is configured or said. */
export function breakdown(root, window) {
  const of = window.breakdown;
  root.hidden = !of;
  if (!of) {
    root.replaceChildren();
    return;
  }
  const some = (value, digits) => (value === null ? "–" : number(value, digits));
  const cells = (one) => [one.value, count(one.rows), percent(one.share), one.evidence_share === null ? "–" : percent(one.evidence_share),
    some(one.faithfulness_gap), some(one.whitened_mean_shift, 2), some(one.fvu)];
  root.replaceChildren(
    h("h2", null, `By ${of.by}`),
    h("p", { class: "quiet" }, of.compared_rows > 0
      ? `Newest window. Gap and shift are measured on ${count(of.compared_rows)} sampled rows of each value: compare them with each other, not with the window's.`
      : "Newest window. No two values have enough sampled rows for a gap and a shift."),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Rows by ${of.by}` },
      table(`Rows by ${of.by}`, ["value", "rows", "share", "share of evidence", "gap", "shift", "FVU"], of.values.map(cells), [1, 2, 3, 4, 5, 6])));
}
