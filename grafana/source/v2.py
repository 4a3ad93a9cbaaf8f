"""Writes a dashboard as a resource of dashboard schema v2, which Grafana 13 and its tools for Git read."""

from __future__ import annotations

from classic import links
from panels import Address, Choice, Dashboard, Json, Note, Panel, promql

API = "dashboard.grafana.app/v2"
SOURCE = {"name": "${datasource}"}


def v2(board: Dashboard) -> Json:
    return {
        "apiVersion": API,
        "kind": "Dashboard",
        "metadata": {"name": board.uid},
        "spec": {
            "title": board.title,
            "description": board.about,
            "tags": ["plumbline"],
            "editable": False,
            "cursorSync": "Crosshair",
            "preload": False,
            "timeSettings": {
                "timezone": "browser",
                "from": "now-6h",
                "to": "now",
                "autoRefresh": "30s",
                "autoRefreshIntervals": ["5s", "10s", "30s", "1m", "5m", "15m", "30m", "1h", "2h", "1d"],
                "hideTimepicker": False,
                "fiscalYearStartMonth": 0,
            },
            "links": [
                {"tooltip": "", "tags": [], "asDropdown": False, "includeVars": False, "keepTime": False, **link}
                for link in links(board)
            ],
            "annotations": [_note(note) for note in board.notes],
            "variables": [_source(), *map(_choice, board.choices), *map(_address, board.addresses)],
            "elements": {_name(panel): _panel(panel) for panel in board.panels},
            "layout": {"kind": "GridLayout", "spec": {"items": [_place(panel) for panel in board.panels]}},
        },
    }


def _query(spec: Json) -> Json:
    return {"kind": "DataQuery", "group": "prometheus", "version": "v0", "datasource": SOURCE, "spec": spec}


def _note(note: Note) -> Json:
    return {
        "kind": "AnnotationQuery",
        "spec": {
            "name": note.name,
            "builtIn": False,
            "enable": True,
            "hide": False,
            "iconColor": note.color,
            "query": _query({"expr": promql(note.expression)}),
            "legacyOptions": {"titleFormat": note.title, "tagKeys": note.tag, "step": "15s"},
        },
    }


def _source() -> Json:
    spec = {
        "name": "datasource",
        "label": "Data source",
        "pluginId": "prometheus",
        "refresh": "onDashboardLoad",
        "regex": "",
        "current": {"text": "", "value": ""},
        "options": [],
        "multi": False,
        "includeAll": False,
        "hide": "dontHide",
        "skipUrlSync": False,
        "allowCustomValue": True,
    }
    return {"kind": "DatasourceVariable", "spec": spec}


def _choice(choice: Choice) -> Json:
    spec: Json = {
        "name": choice.name,
        "label": choice.label,
        "current": {"text": ["All"], "value": ["$__all"]} if choice.opens_with_all else {"text": "", "value": ""},
        "query": _query({"query": choice.query, "refId": choice.name}),
        "definition": choice.query,
        "refresh": "onTimeRangeChanged",
        "sort": "alphabeticalAsc",
        "regex": "",
        "regexApplyTo": "value",
        "options": [],
        "multi": choice.several,
        "includeAll": choice.opens_with_all,
        "hide": "dontHide",
        "skipUrlSync": False,
        "allowCustomValue": True,
    }
    if choice.several:
        spec["allValue"] = choice.all_value
    return {"kind": "QueryVariable", "spec": spec}


def _address(address: Address) -> Json:
    spec = {
        "name": address.name,
        "label": address.label,
        "description": address.about,
        "query": address.value,
        "current": {"text": address.value, "value": address.value},
        "hide": "dontHide",
        "skipUrlSync": False,
    }
    return {"kind": "TextVariable", "spec": spec}


def _name(panel: Panel) -> str:
    return f"panel-{panel.id}"


def _panel(panel: Panel) -> Json:
    queries = [
        {
            "kind": "PanelQuery",
            "spec": {
                "refId": letter,
                "hidden": False,
                "query": _query({"expr": query.promql, "legendFormat": query.legend}),
            },
        }
        for letter, query in panel.letters()
    ]
    return {
        "kind": "Panel",
        "spec": {
            "id": panel.id,
            "title": panel.title,
            "description": panel.about,
            "links": panel.links(),
            "data": {
                "kind": "QueryGroup",
                "spec": {"queries": queries, "transformations": [], "queryOptions": {}},
            },
            "vizConfig": {
                "kind": "VizConfig",
                "group": panel.kind,
                "version": "",
                "spec": {
                    "options": panel.options(),
                    "fieldConfig": {"defaults": panel.defaults(), "overrides": panel.overrides()},
                },
            },
        },
    }


def _place(panel: Panel) -> Json:
    x, y, width, height = panel.at
    element = {"kind": "ElementReference", "name": _name(panel)}
    spec = {"x": x, "y": y, "width": width, "height": height, "element": element}
    return {"kind": "GridLayoutItem", "spec": spec}
