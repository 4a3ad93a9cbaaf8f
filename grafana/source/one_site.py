"""One site."""

from __future__ import annotations

from panels import Choice, Dashboard, Note, installations
from site_traffic import TRAFFIC
from site_windows import WINDOWS

ONE_SITE = Dashboard(
    uid="plumbline-site",
    title="Plumbline / Site",
    about="One site: is the explainer still faithful, by how much, since when, and what was done.",
    choices=(
        *installations(first_job=True),
        Choice(
            "site",
            "Site",
            '{__name__=~"plumbline_rows_total|plumbline_window_rows|plumbline_worst_block",INSTALLATION,site!="_overflow"}',
            all_value="",
        ),
    ),
    notes=[
        Note(
            "Decoder versions",
            "purple",
            "max by (cluster, namespace, job, version, kind) (plumbline_decoder_info{INSTALLATION,SITE})"
            " unless max by (cluster, namespace, job, version, kind)"
            " (plumbline_decoder_info{INSTALLATION,SITE} offset 1m)",
            "decoder version {{version}} ({{kind}})",
            "kind",
        ),
        Note(
            "Drift declared",
            "red",
            "(max by (cluster, namespace, job, verdict)"
            ' (plumbline_verdict{INSTALLATION,verdict="drifted",SITE}) == 1)'
            " unless (max by (cluster, namespace, job, verdict)"
            ' (plumbline_verdict{INSTALLATION,verdict="drifted",SITE} offset 1m) == 1)',
            "{{verdict}}",
            "verdict",
        ),
    ],
    console_path="#/site/${site:percentencode}",
    panels=[*WINDOWS, *TRAFFIC],
)
