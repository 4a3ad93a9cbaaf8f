"""Reads a dashboard by the types of grafana-foundation-sdk and names what they do not take over unchanged."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models import dashboard, dashboardv2, stat, statetimeline, timeseries

from panels import Json

PLUGINS = {"stat": stat, "state-timeline": statetimeline, "timeseries": timeseries}


def misread(written: Json) -> list[str]:
    """Returns the places where what is written is not what the types read, or lacks what they always write."""
    register_default_plugins()
    if "apiVersion" not in written:
        return list(_lost(written, _plain(dashboard.Dashboard.from_json(copy.deepcopy(written))), "")) + [
            fault for panel in written["panels"] for fault in _panel(panel["type"], panel, panel["title"])
        ]
    spec = copy.deepcopy(written["spec"])
    faults: list[str] = []
    for element in spec["elements"].values():
        # VizConfigKind.from_json of 0.0.21 makes sets of its texts: the plugin's parts are read by their own types.
        view = element["spec"].pop("vizConfig")
        faults += _panel(view["group"], view["spec"], element["spec"]["title"])
    for variable in spec["variables"]:
        if variable["kind"] == "QueryVariable":
            # The types know the query of a panel only; a variable's is {query, refId}.
            del variable["spec"]["query"]["spec"]
    read = _plain(dashboardv2.Dashboard.from_json(copy.deepcopy(spec)))
    for element in read["elements"].values():
        del element["spec"]["vizConfig"]
    for variable in read["variables"]:
        if variable["kind"] == "QueryVariable":
            del variable["spec"]["query"]["spec"]
    return faults + list(_lost(spec, read, "")) + list(_added(spec, read, ""))


def _panel(plugin: str, panel: Json, title: str) -> Iterator[str]:
    types = PLUGINS[plugin]
    yield from _lost(panel["options"], _plain(types.Options.from_json(panel["options"])), f"{title}: options")
    fields = copy.deepcopy(panel["fieldConfig"])
    custom = fields["defaults"].pop("custom", None)
    yield from _lost(fields, _plain(dashboardv2.FieldConfigSource.from_json(fields)), f"{title}: fieldConfig")
    if custom is not None:
        yield from _lost(custom, _plain(types.FieldConfig.from_json(custom)), f"{title}: custom")


def _plain(read: object) -> Any:
    return json.loads(JSONEncoder().encode(read))


def _lost(written: Any, read: Any, where: str) -> Iterator[str]:
    """What the types know nothing of, or read as something else."""
    if isinstance(written, dict) and isinstance(read, dict):
        for key, value in written.items():
            if key in read:
                yield from _lost(value, read[key], f"{where}/{key}")
            elif value is not None:
                yield f"{where}/{key} is not of the schema"
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for number, (one, other) in enumerate(zip(written, read, strict=True)):
            yield from _lost(one, other, f"{where}/{number}")
    elif written != read:
        yield f"{where} is {written!r}, read as {read!r}"


def _added(written: Any, read: Any, where: str) -> Iterator[str]:
    """What the types always write and is not there."""
    if isinstance(written, dict) and isinstance(read, dict):
        for key, value in read.items():
            if key not in written:
                yield f"{where}/{key} is required"
            else:
                yield from _added(written[key], value, f"{where}/{key}")
    elif isinstance(written, list) and isinstance(read, list):
        for number, (one, other) in enumerate(zip(written, read, strict=False)):
            yield from _added(one, other, f"{where}/{number}")
