import { h } from "./dom.js";
import { ago, headline, moment, words } from "./format.js";
import { models, siteLink } from "./models.js";
import { badge, silence } from "./sites.js";

const link = (site) => siteLink(site.site);

/** Shows, before a site is chosen, what needs somebody and how far from it the other sites are. */
export function overview(root, sites, settings) {
  const calm = sites.filter((site) => site.newest?.verdict === "aligned" && !silence(site, settings));
  const parts = [
    ["Drifted", sites.filter((site) => site.newest?.verdict === "drifted"), (site) => site.newest.reason],
    ["Undecided: not watched", sites.filter((site) => site.newest?.verdict === "undecided"), (site) => site.newest.reason],
    ["Silent", sites.filter((site) => silence(site, settings)), (site) => `${silence(site, settings)}; the newest was ${site.newest.verdict}`],
    ["No window yet", sites.filter((site) => !site.newest), () => "waiting for rows"],
  ];
  const waiting = sites.filter((site) => site.waiting_candidate !== null);
  root.replaceChildren(h("div", { class: "overview" },
    h("h1", null, settings.models.length > 0 ? "Models and sites" : "All sites"),
    models(settings.models),
    parts.filter(([, some]) => some.length > 0).map(([title, some, why]) => h("section", { class: "part" },
      h("h2", null, `${title} (${some.length})`),
      h("ul", { class: "needs" }, some.map((site) => h("li", null, link(site), badge(site.newest?.verdict),
        site.newest && h("span", { class: "level" }, headline(site.newest)),
        site.newest && h("span", { class: "quiet" }, site.since_ms === site.newest.window_end_ms
          ? `window ended ${moment(site.since_ms)}` : `since ${moment(site.since_ms)}, ${ago(site.since_ms)}`),
        h("p", null, words(why(site)))))))),
    waiting.length > 0 && h("section", { class: "part" }, h("h2", null, `Candidates that wait for you (${waiting.length})`),
      h("ul", { class: "needs" }, waiting.map((site) => h("li", null, link(site), h("span", { class: "level" }, `candidate ${site.waiting_candidate}`))))),
    h("section", { class: "part" }, h("h2", null, `Aligned (${calm.length})`), h("p", null, closest(calm)))));
}

function closest(sites) {
  const judged = sites.filter((site) => site.newest.over_threshold !== null);
  if (judged.length === 0) return sites.length === 0 ? "No site is aligned." : "Nothing is above a threshold.";
  const nearest = judged.reduce((a, b) => (b.newest.over_threshold > a.newest.over_threshold ? b : a));
  return ["Closest to its threshold: ", link(nearest), ` ${headline(nearest.newest)}.`];
}
