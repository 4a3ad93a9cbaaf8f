// Where the data comes from: JSON once, then events. A stream ends after some seconds by itself and the browser takes up the next.

export async function get(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (!answer.ok) {
    const text = await answer.text();
    let problem = `${answer.status} ${answer.statusText}`;
    try { problem = JSON.parse(text).problem ?? problem; } catch { /* the status says it */ }
    throw new Error(problem);
  }
  return answer.json();
}

export const siteUrl = (site, what = "") => `/api/sites/${encodeURIComponent(site)}${what && "/" + what}`;

const PATIENCE_MS = 4000;
const RETRY_MS = 3000;

/**
 * Follows the events from a place on.
 * handlers: { window, site, letters, reset } take data; state(word) is "live" or "lost".
 */
export function follow(place, handlers) {
  let source;
  let doubt;
  const open = (from) => {
    source = new EventSource(`/api/events?after=${encodeURIComponent(from)}`);
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
    for (const name of ["window", "site", "letters", "reset"]) {
      source.addEventListener(name, (event) => handlers[name](JSON.parse(event.data)));
    }
  };
  open(place);
}
