"""All sites."""

from __future__ import annotations

from panels import Choice, Dashboard, Panel, Query, installations

FLEET = Dashboard(
    uid="plumbline-fleet",
    title="Plumbline / Fleet",
    about="All sites: which of them drifted, by how much, how fresh that is, and what was swapped.",
    choices=(
        *installations(),
        Choice(
            "site",
            "Sites",
            '{__name__=~"plumbline_rows_total|plumbline_window_rows",INSTALLATION,site!="_overflow"}',
        ),
        Choice("model", "Models", "plumbline_model_verdict{INSTALLATION}"),
    ),
    panels=[
        Panel(
            1,
            "Sites that are drifted",
            "How many sites are drifted now.",
            (0, 0, 4, 4),
            [
                Query(
                    "count by (cluster, namespace, job) (max by (cluster, namespace, job, site)"
                    ' (plumbline_verdict{INSTALLATION,verdict="drifted",site=~`${site:regex}`}) == 1)'
                    " or 0 * max by (cluster, namespace, job) (plumbline_build_info{INSTALLATION})",
                    "{{job}}",
                )
            ],
            kind="stat",
            limit="red",
            alerts=["PlumblineSiteDrifted"],
        ),
        Panel(
            2,
            "Sites that are undecided",
            "How many sites have windows that cannot be judged: they are not watched.",
            (4, 0, 4, 4),
            [
                Query(
                    "count by (cluster, namespace, job) (max by (cluster, namespace, job, site)"
                    ' (plumbline_verdict{INSTALLATION,verdict="undecided",site=~`${site:regex}`}) == 1)'
                    " or 0 * max by (cluster, namespace, job) (plumbline_build_info{INSTALLATION})",
                    "{{job}}",
                )
            ],
            kind="stat",
            limit="yellow",
            alerts=["PlumblineSiteUndecided"],
        ),
        Panel(
            3,
            "Sites without a window",
            "Configured sites that have no judged window now: they fell silent, or their windows do not close.",
            (8, 0, 4, 4),
            [
                Query(
                    "count by (cluster, namespace, job) (sum by (cluster, namespace, job, site)"
                    ' (plumbline_windows_total{INSTALLATION,site!="_overflow",site=~`${site:regex}`})'
                    " unless on (cluster, namespace, job, site) site:plumbline_window_age_seconds:min{INSTALLATION})"
                    " or 0 * max by (cluster, namespace, job) (plumbline_build_info{INSTALLATION})",
                    "{{job}}",
                )
            ],
            kind="stat",
            limit="red",
            alerts=["PlumblineNoWindows"],
        ),
        Panel(
            4,
            "Sites judged",
            "How many sites have a judged window.",
            (12, 0, 4, 4),
            [
                Query(
                    "count by (cluster, namespace, job)"
                    " (site:plumbline_window_age_seconds:min{INSTALLATION,site=~`${site:regex}`})",
                    "{{job}}",
                )
            ],
            kind="stat",
            unit="none",
        ),
        Panel(
            5,
            "Candidates that wait",
            "Decoders that passed the gate and wait for a person.",
            (16, 0, 4, 4),
            [
                Query(
                    "count by (cluster, namespace, job) (max by (cluster, namespace, job, site)"
                    " (plumbline_candidate_version{INSTALLATION,site=~`${site:regex}`})"
                    " > 0) or 0 * max by (cluster, namespace, job) (plumbline_build_info{INSTALLATION})",
                    "{{job}}",
                )
            ],
            kind="stat",
            limit="blue",
            alerts=["PlumblineCandidateWaiting"],
        ),
        Panel(
            6,
            "Oldest freshness",
            "Age of the newest window of the site that is furthest behind, event time against now. In a"
            " replay of old data it is as old as the data.",
            (20, 0, 4, 4),
            [
                Query(
                    "max by (cluster, namespace, job)"
                    " (site:plumbline_window_age_seconds:min{INSTALLATION,site=~`${site:regex}`})",
                    "{{job}}",
                )
            ],
            kind="stat",
            unit="s",
        ),
        Panel(
            7,
            "Value over threshold",
            "How many times its threshold the statistic that decides is, in the newest window. Above the"
            " line at 1 a window counts towards a drift. Sites that other statistics decide can be compared.",
            (0, 4, 12, 9),
            [
                Query(
                    "max by (cluster, namespace, job, site)"
                    " (plumbline_value_over_threshold{INSTALLATION,site=~`${site:regex}`})",
                    "{{site}} ({{job}})",
                )
            ],
            minimum=0,
            limit="red",
            alerts=["PlumblineSiteDrifted"],
            opens_site=True,
        ),
        Panel(
            8,
            "Verdicts",
            "The verdict in force, site by site. A gap in a row: the site had no window.",
            (12, 4, 12, 9),
            [
                Query(
                    "2 * max by (cluster, namespace, job, site)"
                    ' (plumbline_verdict{INSTALLATION,verdict="drifted",site=~`${site:regex}`})'
                    " + max by (cluster, namespace, job, site)"
                    ' (plumbline_verdict{INSTALLATION,verdict="undecided",site=~`${site:regex}`})',
                    "{{site}} ({{job}})",
                )
            ],
            kind="state-timeline",
            opens_site=True,
            verdicts=True,
        ),
        Panel(
            9,
            "Freshness",
            "How long ago the newest window ended, event time against now. A line that climbs is a site"
            " whose windows do not close.",
            (0, 13, 12, 8),
            [Query("site:plumbline_window_age_seconds:min{INSTALLATION,site=~`${site:regex}`}", "{{site}} ({{job}})")],
            unit="s",
            minimum=0,
            alerts=["PlumblineWindowsStalled"],
            opens_site=True,
        ),
        Panel(
            10,
            "Variance unexplained by the decoder in service",
            "Fraction of variance unexplained on the sampled rows of the window, by the decoder that serves"
            " the site. It may exceed 1.",
            (12, 13, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, site)"
                    ' (plumbline_fraction_of_variance_unexplained{INSTALLATION,decoder="active",site=~`${site:regex}`})',
                    "{{site}} ({{job}})",
                )
            ],
            minimum=0,
            opens_site=True,
        ),
        Panel(
            11,
            "Swaps in the last hour",
            "Decoders published and trained decoders brought back, by site.",
            (0, 21, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, site)"
                    ' ((plumbline_decoder_publications_total{INSTALLATION,site!="_overflow",site=~`${site:regex}`}'
                    ' unless last_over_time(plumbline_decoder_publications_total{INSTALLATION,site!="_overflow",site=~`${site:regex}`}[1h] offset 1h))'
                    ' or increase(plumbline_decoder_publications_total{INSTALLATION,site!="_overflow",site=~`${site:regex}`}[1h]))',
                    "{{site}} ({{job}}) published",
                ),
                Query(
                    "sum by (cluster, namespace, job, site)"
                    ' ((plumbline_decoder_reverts_total{INSTALLATION,site!="_overflow",site=~`${site:regex}`}'
                    ' unless last_over_time(plumbline_decoder_reverts_total{INSTALLATION,site!="_overflow",site=~`${site:regex}`}[1h] offset 1h))'
                    ' or increase(plumbline_decoder_reverts_total{INSTALLATION,site!="_overflow",site=~`${site:regex}`}[1h]))',
                    "{{site}} ({{job}}) reverted",
                ),
            ],
            minimum=0,
            alerts=["PlumblineSwapRolledBack"],
            opens_site=True,
        ),
        Panel(
            12,
            "Decoder in force",
            "Version of the decoder each site is judged with; 0 is the trained one. Every publication"
            " and every revert is a new version.",
            (8, 21, 8, 8),
            [
                Query(
                    "max by (cluster, namespace, job, site)"
                    " (plumbline_decoder_version{INSTALLATION,site=~`${site:regex}`})",
                    "{{site}} ({{job}})",
                )
            ],
            unit="none",
            minimum=0,
            opens_site=True,
        ),
        Panel(
            13,
            "Rows per second",
            "Rows accepted, by site, over all instances.",
            (16, 21, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, site)"
                    ' (rate(plumbline_rows_total{INSTALLATION,site!="_overflow",site=~`${site:regex}`}[$__rate_interval]))',
                    "{{site}} ({{job}})",
                )
            ],
            minimum=0,
            opens_site=True,
        ),
        Panel(
            14,
            "Alerts that fire",
            "Plumbline's alerts as Prometheus has them, before Alertmanager inhibits what comes of the same"
            " cause. One without a job belongs to no installation: no monitor was ever seen.",
            (0, 29, 12, 8),
            [
                Query(
                    "count by (cluster, namespace, job, alertname, severity)"
                    ' (ALERTS{INSTALLATION,alertname=~"Plumbline.+",alertstate="firing"})'
                    ' or ALERTS{alertname="PlumblineMonitorAbsent",alertstate="firing",job=""}',
                    "{{alertname}} ({{severity}})",
                )
            ],
            unit="none",
            minimum=0,
            stacked=True,
        ),
        Panel(
            15,
            "Age of the baselines",
            "How long ago the baseline was made by which the site is judged.",
            (12, 29, 12, 8),
            [
                Query(
                    "time() - max by (cluster, namespace, job, site)"
                    " (plumbline_baseline_created_timestamp_seconds{INSTALLATION,site=~`${site:regex}`})",
                    "{{site}} ({{job}})",
                )
            ],
            unit="s",
            minimum=0,
            alerts=["PlumblineBaselineStale"],
            opens_site=True,
        ),
        Panel(
            16,
            "Models: worst site over its threshold",
            "How many times its threshold the worst site of each model is: above 1 a window counts towards a"
            " drift of the model.",
            (0, 37, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, model, site)"
                    " (plumbline_model_value_over_threshold{INSTALLATION,model=~`${model:regex}`})",
                    "{{model}}: {{site}}",
                )
            ],
            minimum=0,
            limit="red",
            alerts=["PlumblineModelDrifted"],
            opens_site=True,
        ),
        Panel(
            17,
            "Models: sites above, drifted and missing",
            "Sites of each model that are above their thresholds in its newest window, have drifted by their"
            " own verdict,"
            " or have no window.",
            (12, 37, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, model, standing)"
                    ' (plumbline_model_sites{INSTALLATION,standing!="all",model=~`${model:regex}`})',
                    "{{model}}: {{standing}}",
                )
            ],
            minimum=0,
            alerts=["PlumblineModelDrifted"],
        ),
    ],
)
