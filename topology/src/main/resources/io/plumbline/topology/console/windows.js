import { table } from "./dom.js";
import { record } from "./feed.js";
import { count, decoder, moment, number, time } from "./format.js";

const MOST = 240;

/** Sums up the chart's windows: their period, verdicts and decoders. */
export function period(windows) {
  const first = windows[0];
  const last = windows[windows.length - 1];
  const tally = ["aligned", "drifted", "undecided"].map((verdict) => [windows.filter((w) => w.verdict === verdict).length, verdict])
    .filter(([n]) => n > 0).map(([n, verdict]) => `${count(n)} ${verdict}`).join(", ");
  return `${moment(first.window_start_ms)} to ${moment(last.window_end_ms)}, event time. ${count(windows.length)} ${windows.length === 1 ? "window" : "windows"}: ${tally}. Decoder ${decoder(first.decoder_version)} at first, ${decoder(last.decoder_version)} at last.`;
}

/** The chart's windows as a table, the newest first; all of them in a file, which is read once. */
export function windowTable(windows) {
  const newest = windows.slice(record ? 0 : -MOST).reverse();
  return table("Windows, the newest first",
    ["from, UTC", "to", "verdict", "gap", "threshold", "lower", "upper", "FVU trained", "in service", "rows", "decoder"],
    newest.map((w) => [moment(w.window_start_ms).replace(" UTC", ""), time(w.window_end_ms), w.verdict, number(w.faithfulness_gap),
      number(w.gap_threshold), number(w.gap_lower_bound), number(w.gap_upper_bound), number(w.reconstruction_fvu_trained),
      number(w.reconstruction_fvu), count(w.rows), decoder(w.decoder_version)]),
    [3, 4, 5, 6, 7, 8, 9]);
}
