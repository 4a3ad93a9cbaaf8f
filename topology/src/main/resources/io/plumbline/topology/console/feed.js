// Where the data comes from: JSON once, then events. A stream ends after some seconds by itself and the browser takes up the next.
// In the file for an incident it stands in the page itself. Addresses are relative: a proxy may serve the page under a path of its own.

export const siteUrl = (site, what = "") => `api/sites/${encodeURIComponent(site)}${what && "/" + what}`;

/** What a file for an incident holds in place of a monitor that answers; null on the page of a monitor. */
export const record = JSON.parse(document.getElementById("record")?.textContent ?? "null");

const recorded = new Map(Object.entries(record?.answers ?? {})
  .flatMap(([site, answers]) => Object.entries(answers).map(([what, answer]) => [siteUrl(site, what), answer])))
  .set("api/sites", record?.overview);

/** The time that ages count from: in a file, when it was written. */
export const now = () => record?.written_ms ?? Date.now();

export async function get(path) {
  if (record) {
    if (recorded.has(path)) return recorded.get(path);
    throw new Error("this file has the pages of the sites that were above their thresholds most often, eight at most, and this one is not among them");
  }
  const answer = await fetch(path, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (!answer.ok) {
    const text = await answer.text();
    let problem = `${answer.status} ${answer.statusText}`;
    try { problem = JSON.parse(text).problem ?? problem; } catch { /* the status says it */ }
    throw new Error(problem);
  }
  return answer.json();
}

/**
 * Asks for one thing, one request at a time. What is heard while an answer is under way has it asked for again: an answer may be older
 * than an event that overtook it, and of two answers under way the older may come last.
 */
export class Refresh {
  constructor(ask) {
    this.ask = ask;
    this.running = null;
    this.again = false;
  }

  /** Ends when an answer has come that was asked for after this call; fails where the last one failed. */
  now() {
    this.again = true;
    this.running ??= this.run();
    return this.running;
  }

  /** Something changed of what may be under way. */
  heard() {
    this.again = this.running !== null;
  }

  async run() {
    let problem = null;
    try {
      while (this.again) {
        this.again = false;
        problem = null;
        try { await this.ask(); } catch (failed) { problem = failed; }
      }
    } finally {
      this.running = null;
    }
    if (problem) throw problem;
  }
}

const PATIENCE_MS = 4000;
export const RETRY_MS = 3000;

/**
 * Follows the events from a place on.
 * handlers: { window, site, model, letters, reset } take data; state(word) is "live" or "lost".
 */
export function follow(place, handlers) {
  let source;
  let doubt;
  const open = (from) => {
    source = new EventSource(`api/events?after=${encodeURIComponent(from)}`);
    source.onopen = () => {
      clearTimeout(doubt);
      doubt = undefined;
      handlers.state("live");
    };
    source.onerror = () => {
      doubt ??= setTimeout(() => handlers.state("lost"), PATIENCE_MS);
      if (source.readyState === EventSource.CLOSED) {
        // Refused rather than away (503, 401): the browser would not ask again.
        setTimeout(() => open(""), RETRY_MS);
      }
    };
    for (const name of ["window", "site", "model", "letters", "reset"]) {
      source.addEventListener(name, (event) => handlers[name](JSON.parse(event.data)));
    }
  };
  open(place);
}
