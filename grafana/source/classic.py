"""Writes a dashboard as classic JSON, which every Grafana reads."""

from __future__ import annotations

from panels import Choice, Dashboard, Json, Note, Panel, promql

SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def classic(board: Dashboard) -> Json:
    return {
        "uid": board.uid,
        "title": board.title,
        "description": board.about,
        "tags": ["plumbline"],
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "links": links(board),
        "annotations": {"list": [_note(note) for note in board.notes]},
        "templating": {"list": _variables(board)},
        "panels": [_panel(panel) for panel in board.panels],
    }


def links(board: Dashboard) -> list[Json]:
    """Returns the links above the panels, of the same form in both kinds of JSON."""
    others = {
        "type": "dashboards",
        "title": "Plumbline",
        "tags": ["plumbline"],
        "asDropdown": False,
        "includeVars": True,
        "keepTime": True,
        "icon": "external link",
        "targetBlank": False,
    }
    return [
        others,
        _link("Runbook", "${runbook}", "doc", "What each alert means and what to do"),
        _link("Console", "${console}" + board.console_path, "dashboard", "The page of a process of Plumbline"),
    ]


def _link(title: str, url: str, icon: str, tooltip: str) -> Json:
    return {"type": "link", "title": title, "url": url, "icon": icon, "targetBlank": True, "tooltip": tooltip}


def _variables(board: Dashboard) -> list[Json]:
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    written = [
        {
            "name": address.name,
            "label": address.label,
            "description": address.about,
            "type": "textbox",
            "query": address.value,
            "current": {"text": address.value, "value": address.value},
            "hide": 0,
        }
        for address in board.addresses
    ]
    return [source, *map(_choice, board.choices), *written]


def _choice(choice: Choice) -> Json:
    made: Json = {
        "name": choice.name,
        "label": choice.label,
        "type": "query",
        "datasource": SOURCE,
        "definition": choice.query,
        "query": {"query": choice.query, "refId": choice.name},
        "refresh": 2,
        "sort": 1,
        "includeAll": choice.opens_with_all,
        "multi": choice.several,
    }
    if choice.several:
        made["allValue"] = choice.all_value
    if choice.opens_with_all:
        made["current"] = {"text": ["All"], "value": ["$__all"]}
    return made


def _note(note: Note) -> Json:
    return {
        "name": note.name,
        "datasource": SOURCE,
        "enable": True,
        "iconColor": note.color,
        "expr": promql(note.expression),
        "titleFormat": note.title,
        "tagKeys": note.tag,
        "step": "15s",
    }


def _panel(panel: Panel) -> Json:
    x, y, width, height = panel.at
    made: Json = {
        "id": panel.id,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": width, "h": height},
        "fieldConfig": {"defaults": panel.defaults(), "overrides": panel.overrides()},
        "targets": [
            {"refId": letter, "datasource": SOURCE, "expr": query.promql, "legendFormat": query.legend}
            for letter, query in panel.letters()
        ],
        "options": panel.options(),
    }
    if panel.alerts:
        made["links"] = panel.links()
    return made
