import { command, h } from "./dom.js";
import { named } from "./features.js";
import { ago, apart, decoder, headline, moment, number, percent, words } from "./format.js";

const RUNBOOK = "docs/operate/runbook.md#plumblinesitedrifted";

/**
 * Answers the five questions of an alarm, each in one sentence with its figure and where the detail stands.
 * reports and decoders are null until they have come.
 */
export function answers({ window: w, summary, reports, decoders }) {
  if (!w) return null;
  const all = [
    ["Is it drift?", drift(w, summary), "windows-title"],
    ["What is new?", reports === null ? [""] : news(reports), "part-groups"],
    ["What failed?", reports === null ? [""] : failed(w, reports), "part-features"],
    ["Who is hurt?", reports === null ? [""] : hurt(w, reports), "part-watched"],
    ["What to do now?", decoders === null ? [""] : act(w, decoders), "part-decoders"],
  ];
  return h("dl", { class: "answers" }, all.map(([question, sentence, place]) => h("div", null,
    h("dt", null, h("button", { type: "button", class: "question", onclick: () => document.getElementById(place)?.scrollIntoView({ block: "start" }) }, question)),
    h("dd", null, sentence))));
}

const since = (w, summary) => (summary.since_ms === w.window_end_ms ? `in the window that ended ${moment(w.window_end_ms)}`
  : `since the window that ended ${moment(summary.since_ms)}, ${ago(summary.since_ms)}`);

function drift(w, summary) {
  const word = (text, kind) => h("b", { class: `word ${kind}` }, text);
  if (w.verdict === "undecided") return [word("Not known", "undecided"), `, ${since(w, summary)}: ${words(w.reason)}.`];
  const times = headline(w) ? `${headline(w)}, ` : "";
  const one = [word(w.verdict === "drifted" ? "Yes" : "No", w.verdict), `: ${times}${since(w, summary)}.`];
  const above = w.over_threshold > 1;
  return w.verdict === "drifted" === above ? one : [...one, above ? " Not in enough windows yet." : " It comes back when enough windows are below."];
}

function news({ newest }) {
  const cause = newest.cause?.sentence;
  const told = cause ? ` ${words(cause)}.` : "";
  if (!newest.groups) return [`Not known: requests of this site are not compared.${told}`];
  const fresh = newest.groups.groups.filter((group) => group.kind === "new").sort((a, b) => b.requests - a.requests);
  const repeats = newest.repeats?.sentence ? ` ${newest.repeats.sentence}.` : "";
  if (fresh.length === 0) return [`No group of requests that the baseline has none like.${repeats}${told}`];
  const origin = Object.entries(fresh[0].origin).map(([name, value]) => `${name} ${value}`).join(", ");
  return [`Group ${fresh[0].number}: ${fresh[0].requests} requests of a new kind, ${percent(fresh[0].share)} of all${origin && `, all with ${origin}`}`,
    fresh.length > 1 ? `, and ${fresh.length - 1} more.` : ".", repeats, told];
}

function failed(w, { newest_drifted: drifted }) {
  const features = w.verdict === "drifted" ? drifted?.failing_features ?? [] : [];
  const fit = `FVU ${number(w.reconstruction_fvu_trained)}, gap ${number(w.faithfulness_gap)} of at most ${number(w.largest_gap, 2)}`;
  if (w.verdict !== "drifted") return [`Nothing that counts: ${fit}.`];
  if (features.length === 0) return [`No single feature: ${fit}.`];
  return [`The column of feature `, named(drifted.feature_names ?? {}, features[0].feature),
    `${features.length > 1 ? ` and of ${features.length - 1} more` : ""}; ${fit}.`];
}

const WHAT = { none: "Nobody that is watched", behaviour: "The model's answers", watched: "What is watched", unknown: "Not known" };

function hurt(w, { newest }) {
  const watched = newest.watched;
  const many = watched ? watched.features.length + watched.probes.length : 0;
  if (many === 0 && !watched?.hurt.length) {
    return w.kl == null ? ["Not known: the site names nothing under watch, and no downstream."]
      : [`The model's next token is ${number(w.kl)} nats off with the explainer's account in place.`];
  }
  const first = watched.hurt[0];
  if (!first) return [`${WHAT[watched.harm]}: ${many} watched, ${watched.requests} requests compared with ${watched.requests_baseline} of the baseline.`];
  return [`${WHAT[watched.harm]}: ${first.name}, ${words(first.what)} ${apart(first.baseline, first.window)} → ${apart(first.window, first.baseline)}`,
    watched.hurt.length > 1 ? `, and ${watched.hurt.length - 1} more.` : "."];
}

function act(w, decoders) {
  const explainer = decoders.swaps?.explainer;
  const candidate = decoders.swaps?.waiting ?? explainer;
  if (candidate && candidate === explainer) {
    return [`Look at candidate ${candidate.number}, another explainer, which reconstructs better; its features have other indices. Approve it:`,
      decoders.commands.approve ? command(decoders.commands.approve) : ""];
  }
  if (candidate) {
    return [`Look at candidate ${candidate.number}, which passed the gate, and approve it:`, decoders.commands.approve ? command(decoders.commands.approve) : ""];
  }
  if (w.verdict === "undecided") return ["Find out why it is not watched; the reason says what is missing."];
  if (w.verdict !== "drifted") return [w.decoder_version > 0 ? `Nothing: ${decoder(w.decoder_version)} serves.` : "Nothing."];
  const last = decoders.adaptations[decoders.adaptations.length - 1];
  const fitted = decoders.mode === "observe" ? "Nothing is fitted (mode observe)." : last ? `The adapter last: ${words(last.outcome)}. ` : "The adapter has said nothing yet. ";
  return [`Find what was deployed when it began; ${RUNBOOK} has the steps. ${fitted}`];
}
