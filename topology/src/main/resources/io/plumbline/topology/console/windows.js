import { table } from "./dom.js";
import { count, decoder, moment, number, time } from "./format.js";

const MOST = 240;

/** The chart's windows as a table, the newest first. */
export function windowTable(windows) {
  const newest = windows.slice(-MOST).reverse();
  return table("Windows, the newest first",
    ["from, UTC", "to", "verdict", "gap", "threshold", "lower", "upper", "FVU trained", "in service", "rows", "decoder"],
    newest.map((w) => [moment(w.window_start_ms).replace(" UTC", ""), time(w.window_end_ms), w.verdict, number(w.faithfulness_gap),
      number(w.gap_threshold), number(w.gap_lower_bound), number(w.gap_upper_bound), number(w.reconstruction_fvu_trained),
      number(w.reconstruction_fvu), count(w.rows), decoder(w.decoder_version)]),
    [3, 4, 5, 6, 7, 8, 9]);
}
