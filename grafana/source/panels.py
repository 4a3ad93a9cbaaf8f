"""What a dashboard of Plumbline is made of; classic.py and v2.py write it in Grafana's two forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

# Installations are chosen by three labels, in every selector of every query.
INSTALLATION = 'cluster=~"$cluster",namespace=~"$namespace",job=~"$job"'
ONE_SITE = "site=`${site:raw}`"

SITE_OF_THE_LINE = "${__field.labels.site:percentencode}"
OPEN_THE_SITE = (
    "/d/plumbline-site?var-datasource=${datasource}&${cluster:queryparam}&${namespace:queryparam}"
    f"&var-job=${{__field.labels.job:percentencode}}&var-site={SITE_OF_THE_LINE}&${{__url_time_range}}"
)


def promql(expression: str) -> str:
    """Puts the selectors in that stand for INSTALLATION and SITE."""
    return expression.replace("INSTALLATION", INSTALLATION).replace(",SITE", "," + ONE_SITE)


@dataclass(frozen=True)
class Query:
    expression: str
    legend: str

    @property
    def promql(self) -> str:
        return promql(self.expression)


@dataclass(frozen=True)
class Panel:
    """One panel. Ids never change: bookmarks and annotations name them."""

    id: int
    title: str
    about: str
    at: tuple[int, int, int, int]  # x, y, width, height in a grid of 24
    queries: Sequence[Query]
    kind: str = "timeseries"  # or stat, state-timeline
    unit: str = "short"
    minimum: int | None = None
    maximum: int | None = None
    decimals: int | None = None
    limit: str = ""  # the colour from 1 on
    alerts: Sequence[str] = ()  # whose entries of the runbook it links to
    opens_site: bool = False  # a click on a line opens the site it is of
    verdicts: bool = False  # 0, 1 and 2 are verdicts
    named: bool = False  # a stat shows the name beside the value
    stacked: bool = False
    dashed: str = ""  # letters of the queries whose lines are limits or baselines

    def letters(self) -> Sequence[tuple[str, Query]]:
        return list(zip("ABCDEFGHIJ", self.queries, strict=False))

    def links(self) -> list[Json]:
        return [
            {"title": f"Runbook: {alert}", "url": f"${{runbook}}#{alert.lower()}", "targetBlank": True}
            for alert in self.alerts
        ]

    def defaults(self) -> Json:
        """What fields look like."""
        made: Json = {"unit": self.unit}
        for key, value in (("min", self.minimum), ("max", self.maximum), ("decimals", self.decimals)):
            if value is not None:
                made[key] = value
        if self.verdicts:
            words = (("aligned", "green"), ("undecided", "yellow"), ("drifted", "red"))
            options = {str(number): {"text": text, "color": color} for number, (text, color) in enumerate(words)}
            made["mappings"] = [{"type": "value", "options": options}]
        if self.opens_site:
            made["links"] = [
                {"title": "Open the site", "url": OPEN_THE_SITE},
                {"title": "Open the site in the console", "url": f"${{console}}#/site/{SITE_OF_THE_LINE}"},
            ]
        if self.kind == "state-timeline":
            made["custom"] = {"fillOpacity": 70, "lineWidth": 0}
        elif self.kind == "timeseries":
            made["custom"] = self._lines()
        if self.kind == "stat" and self.limit:
            made["color"] = {"mode": "thresholds"}
        if self.limit:
            steps = [{"color": "green", "value": None}, {"color": self.limit, "value": 1}]
            made["thresholds"] = {"mode": "absolute", "steps": steps}
        return made

    def _lines(self) -> Json:
        lines: Json = {
            "drawStyle": "line",
            "lineWidth": 1,
            "fillOpacity": 20 if self.stacked else 0,
            "spanNulls": False,
            "showPoints": "auto",
        }
        if self.stacked:
            lines["stacking"] = {"mode": "normal", "group": "A"}
        if self.limit:
            lines["thresholdsStyle"] = {"mode": "line"}
        return lines

    def overrides(self) -> list[Json]:
        dash = {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [8, 6]}}
        return [{"matcher": {"id": "byFrameRefID", "options": letter}, "properties": [dash]} for letter in self.dashed]

    def options(self) -> Json:
        if self.kind == "stat":
            return {
                "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
                "colorMode": "background" if self.verdicts or (self.limit and not self.named) else "value",
                "textMode": "value_and_name" if self.named else "auto",
            }
        legend = {"displayMode": "list", "placement": "bottom", "showLegend": True}
        if self.kind == "state-timeline":
            tooltip: Json = {"mode": "single"}
            return {"mergeValues": True, "showValue": "auto", "rowHeight": 0.8, "legend": legend, "tooltip": tooltip}
        return {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}


@dataclass(frozen=True)
class Choice:
    """A variable whose values are those of a label."""

    name: str
    label: str
    selector: str
    all_value: str = ".*"  # empty: exactly one value is chosen
    first: bool = False  # a dashboard opens with the first value, not with all

    @property
    def several(self) -> bool:
        return bool(self.all_value)

    @property
    def opens_with_all(self) -> bool:
        return self.several and not self.first

    @property
    def query(self) -> str:
        return f"label_values({promql(self.selector)}, {self.name})"


@dataclass(frozen=True)
class Address:
    """A variable that a person writes: where something is served."""

    name: str
    label: str
    about: str
    value: str


@dataclass(frozen=True)
class Note:
    """A mark on the time axis wherever its query has an answer."""

    name: str
    color: str
    expression: str
    title: str
    tag: str


@dataclass(frozen=True)
class Dashboard:
    uid: str
    title: str
    about: str
    choices: Sequence[Choice]
    panels: Sequence[Panel]
    notes: Sequence[Note] = ()
    console_path: str = ""  # what of the console its link opens
    addresses: Sequence[Address] = field(
        default=(
            Address("runbook", "Runbook", "Where docs/operate/runbook.md is served", "docs/operate/runbook.md"),
            Address("console", "Console", "Where the console of a process is served", "http://127.0.0.1:9464/"),
        )
    )


def installations(first_job: bool = False) -> Sequence[Choice]:
    """Returns the variables that INSTALLATION names; each offers what the ones before it leave."""
    return (
        Choice("cluster", "Cluster", "plumbline_build_info"),
        Choice("namespace", "Namespace", 'plumbline_build_info{cluster=~"$cluster"}'),
        Choice(
            "job",
            "Job",
            # The second is what an export of past windows has.
            '{__name__=~"plumbline_build_info|plumbline_window_rows",cluster=~"$cluster",namespace=~"$namespace"}',
            ".+",
            first_job,
        ),
    )
