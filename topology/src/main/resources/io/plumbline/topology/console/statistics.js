import { h, table } from "./dom.js";
import { record } from "./feed.js";
import { number, words } from "./format.js";

/** Every statistic of the newest window: its number, or why it has none, and what it is. */
export function statistics(root, meanings, report) {
  const title = "Every statistic of the newest window";
  const value = (name) => (report[name] === null ? report.undefined[name] ?? "–" : number(report[name], 4));
  root.replaceChildren(h("details", { class: "table", open: root.firstChild?.open ?? record !== null }, h("summary", null, title),
    h("div", null, table(title, ["statistic", "value", "what it is"], meanings.map(({ statistic, help }) => [words(statistic), value(statistic), help])))));
}
