"""One site: its rows, who sends them, the model's output, its decoders, its target layers, what is watched."""

from __future__ import annotations

from panels import Panel, Query

TRAFFIC = [
    Panel(
        19,
        "Rows per second",
        "Rows accepted and rows that are in no window, over all instances.",
        (0, 54, 8, 8),
        [
            Query(
                "sum by (cluster, namespace, job) (rate(plumbline_rows_total{INSTALLATION,SITE}[$__rate_interval]))",
                "accepted",
            ),
            Query(
                "sum by (cluster, namespace, job, reason)"
                " (rate(plumbline_late_rows_total{INSTALLATION,SITE}[$__rate_interval]))",
                "late ({{reason}})",
            ),
        ],
        minimum=0,
        alerts=["PlumblineLateRows"],
    ),
    Panel(
        20,
        "Account of the rows",
        "What became of the site's rows since the application began; unaccounted must stay 0.",
        (8, 54, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job, account)"
                ' (plumbline_site_rows{INSTALLATION,account=~"in_windows|open|unaccounted|late_.+|masked_.+",SITE})',
                "{{account}}",
            )
        ],
        alerts=["PlumblineRowsUnaccounted"],
    ),
    Panel(
        21,
        "Rows taken out by masks",
        "Share of the rows that came which token ids or the cap on norms took out before everything else.",
        (16, 54, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job, reason) (plumbline_masked_rows_ratio{INSTALLATION,SITE})",
                "{{reason}}",
            )
        ],
        unit="percentunit",
        minimum=0,
        maximum=1,
    ),
    Panel(
        27,
        "Coverage",
        "Share of the served tokens that came as rows,"
        " and why the others did not, as producers say. A prefix cache that is switched on moves every"
        " statistic without any drift. Empty where no producer says how many tokens were served.",
        (0, 62, 12, 8),
        [
            Query(
                "max by (cluster, namespace, job, tokens) (plumbline_coverage_ratio{INSTALLATION,SITE})",
                "{{tokens}}",
            ),
            Query("max by (cluster, namespace, job) (plumbline_coverage_moved{INSTALLATION,SITE})", "moved"),
        ],
        unit="percentunit",
        minimum=0,
        maximum=1,
    ),
    Panel(
        28,
        "Moment records per second",
        "Accepted records that brought moments instead of rows,"
        " and records that came again under an id that their open pane knew.",
        (12, 62, 12, 8),
        [
            Query(
                "sum by (cluster, namespace, job)"
                " (rate(plumbline_moment_records_total{INSTALLATION,SITE}[$__rate_interval]))",
                "moment records",
            ),
            Query(
                "sum by (cluster, namespace, job)"
                " (rate(plumbline_repeated_records_total{INSTALLATION,SITE}[$__rate_interval]))",
                "came again",
            ),
        ],
        minimum=0,
        alerts=["PlumblineLateRows"],
    ),
    Panel(
        29,
        "FVU by breakdown_by",
        "Fraction of variance the trained decoder leaves unexplained, for each value of the header"
        " or tag that breakdown_by names. Empty without it.",
        (0, 70, 12, 8),
        [
            Query(
                "max by (cluster, namespace, job, value)"
                " (plumbline_breakdown_fraction_of_variance_unexplained{INSTALLATION,SITE})",
                "{{value}}",
            )
        ],
        unit="percentunit",
        minimum=0,
    ),
    Panel(
        30,
        "Gap and shift by breakdown_by",
        "Faithfulness gap"
        " and whitened mean shift of each value, measured on equally many sampled rows of each: compare"
        " them with each other, not with the gap of the window.",
        (12, 70, 12, 8),
        [
            Query(
                "max by (cluster, namespace, job, value) (plumbline_breakdown_faithfulness_gap{INSTALLATION,SITE})",
                "gap, {{value}}",
            ),
            Query(
                "max by (cluster, namespace, job, value) (plumbline_breakdown_whitened_mean_shift{INSTALLATION,SITE})",
                "shift, {{value}}",
            ),
        ],
        minimum=0,
    ),
    Panel(
        31,
        "New with the drift",
        "While the site is drifted: values of headers"
        " and tags that came with the drift, with their shares of the rows.",
        (0, 78, 24, 6),
        [
            Query(
                "max by (cluster, namespace, job, change) (plumbline_drift_change_ratio{INSTALLATION,SITE})",
                "{{change}}",
            )
        ],
        unit="percentunit",
        minimum=0,
        maximum=1,
    ),
    Panel(
        32,
        "Divergence of the model's output",
        "KL(original || patched) of the next token on whole requests of the window, with the trained"
        " decoder's account in place"
        " and with that of the decoder in service, in nats. Only of sites that name the rest of their"
        " model. Its threshold, where kl is judged, is in the panel of shifts.",
        (0, 84, 12, 8),
        [Query("max by (cluster, namespace, job, decoder) (plumbline_kl{INSTALLATION,SITE})", "{{decoder}}")],
        minimum=0,
    ),
    Panel(
        33,
        "Cross-entropy that is lost",
        "Cross-entropy of the next token with the decoder's account in place, less that of the model"
        " itself, in nats. Errors cancel in it; the divergence beside it has no such fault.",
        (12, 84, 12, 8),
        [Query("max by (cluster, namespace, job, decoder) (plumbline_delta_ce{INSTALLATION,SITE})", "{{decoder}}")],
    ),
    Panel(
        34,
        "Top-1 agreement and loss recovered",
        "Share of rows after which the model's most likely next token stays,"
        " and part of the loss of zeros in place that the decoder's account wins back. The latter says"
        " nothing where the layer is nearly dispensable.",
        (0, 92, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job, decoder) (plumbline_top1_agreement_ratio{INSTALLATION,SITE})",
                "agreement, {{decoder}}",
            ),
            Query(
                "max by (cluster, namespace, job, decoder) (plumbline_loss_recovered{INSTALLATION,SITE})",
                "loss recovered, {{decoder}}",
            ),
        ],
    ),
    Panel(
        35,
        "Requests run, and windows in which the model failed",
        "Whole requests of the newest window that the rest of the model was run on,"
        " and windows of the last hour that are reported without these figures because it failed.",
        (8, 92, 8, 8),
        [
            Query("max by (cluster, namespace, job) (plumbline_downstream_requests{INSTALLATION,SITE})", "requests"),
            Query(
                "sum by (cluster, namespace, job) ((plumbline_downstream_failures_total{INSTALLATION,SITE}"
                " unless last_over_time(plumbline_downstream_failures_total{INSTALLATION,SITE}[1h] offset 1h))"
                " or increase(plumbline_downstream_failures_total{INSTALLATION,SITE}[1h]))",
                "failed windows",
            ),
        ],
        minimum=0,
        alerts=["PlumblineDownstreamFailing"],
    ),
    Panel(
        36,
        "Refits refused in the last hour, by test of the gate",
        "A refit that several tests refuse counts in each.",
        (16, 92, 8, 8),
        [
            Query(
                "sum by (cluster, namespace, job, test) ((plumbline_gate_refusals_total{INSTALLATION,SITE}"
                " unless last_over_time(plumbline_gate_refusals_total{INSTALLATION,SITE}[1h] offset 1h))"
                " or increase(plumbline_gate_refusals_total{INSTALLATION,SITE}[1h]))",
                "{{test}}",
            )
        ],
        minimum=0,
    ),
    Panel(
        22,
        "Adaptations in the last hour",
        "How the site's adaptation requests ended.",
        (0, 100, 12, 8),
        [
            Query(
                "sum by (cluster, namespace, job, outcome) ((plumbline_adaptations_total{INSTALLATION,SITE}"
                " unless last_over_time(plumbline_adaptations_total{INSTALLATION,SITE}[1h] offset 1h))"
                " or increase(plumbline_adaptations_total{INSTALLATION,SITE}[1h])) > 0",
                "{{outcome}}",
            )
        ],
        minimum=0,
        alerts=["PlumblineAdaptationRefused"],
        stacked=True,
    ),
    Panel(
        23,
        "Decoder versions",
        "The version the site is judged with, the newest one each process holds, and the candidate that waits.",
        (12, 100, 12, 8),
        [
            Query("max by (cluster, namespace, job) (plumbline_decoder_version{INSTALLATION,SITE})", "in force"),
            Query(
                "max by (cluster, namespace, job, instance) (plumbline_subscriber_decoder_version{INSTALLATION,SITE})",
                "held by {{instance}}",
            ),
            Query("max by (cluster, namespace, job) (plumbline_candidate_version{INSTALLATION,SITE})", "candidate"),
        ],
        unit="none",
        minimum=0,
        alerts=["PlumblineDecoderConsumerBehind"],
        dashed="C",
    ),
    Panel(
        24,
        "Sampled rows of adaptations in the last hour",
        "Rows that adaptations were fitted to and judged on.",
        (0, 108, 12, 8),
        [
            Query(
                "sum by (cluster, namespace, job) ((plumbline_adaptation_rows_total{INSTALLATION,SITE}"
                " unless last_over_time(plumbline_adaptation_rows_total{INSTALLATION,SITE}[1h] offset 1h))"
                " or increase(plumbline_adaptation_rows_total{INSTALLATION,SITE}[1h]))",
                "rows",
            )
        ],
        minimum=0,
    ),
    Panel(
        25,
        "Valid bounds broken, and by whom the decoder is held",
        "Bounds that are theorems"
        " and that a measured gap broke in the last hour: more than 0 is a defect of Plumbline. Pinned"
        " is 1 while a person keeps the decoder in service.",
        (12, 108, 12, 8),
        [
            Query(
                "sum by (cluster, namespace, job) ((plumbline_bound_violations_total{INSTALLATION,SITE}"
                " unless last_over_time(plumbline_bound_violations_total{INSTALLATION,SITE}[1h] offset 1h))"
                " or increase(plumbline_bound_violations_total{INSTALLATION,SITE}[1h]))",
                "bounds broken",
            ),
            Query("max by (cluster, namespace, job) (plumbline_pinned{INSTALLATION,SITE})", "pinned"),
        ],
        minimum=0,
        alerts=["PlumblineBoundBroken"],
    ),
    Panel(
        37,
        "Worst target layer",
        "The target layer that stands worst in each window of a site with several targets. Empty for a site with one.",
        (0, 116, 8, 8),
        [Query("max by (cluster, namespace, job, block) (plumbline_worst_block{INSTALLATION,SITE})", "{{block}}")],
        minimum=0,
        maximum=1,
    ),
    Panel(
        38,
        "Gaps of the target layers",
        "Faithfulness gap of each target layer of the chosen site, with its threshold. A layer is a site"
        " of its own: choose it for the rest.",
        (8, 116, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job, site)"
                " (plumbline_faithfulness_gap{INSTALLATION,site=~`${site:regex}/targets[.].+`})",
                "{{site}}",
            ),
            Query(
                "max by (cluster, namespace, job, site)"
                ' (plumbline_threshold{INSTALLATION,statistic="faithfulness_gap",site=~`${site:regex}/targets[.].+`})',
                "threshold of {{site}}",
            ),
        ],
        minimum=0,
    ),
    Panel(
        39,
        "Target layers against their thresholds",
        "How many times its threshold the deciding statistic of each target layer is; the worst layer is"
        " the one farthest above.",
        (16, 116, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job, site, statistic)"
                " (plumbline_value_over_threshold{INSTALLATION,site=~`${site:regex}/targets[.].+`})",
                "{{site}}, {{statistic}}",
            )
        ],
        minimum=0,
    ),
    Panel(
        40,
        "What is hurt",
        "1 for a watched feature or probe that has changed beyond chance,"
        " and for what the site's newest window hurts. Empty without watch.",
        (0, 124, 12, 8),
        [
            Query("max by (cluster, namespace, job, name) (plumbline_watched_hurt{INSTALLATION,SITE})", "{{name}}"),
            Query("max by (cluster, namespace, job, harm) (plumbline_site_harm{INSTALLATION,SITE})", "harm: {{harm}}"),
        ],
        minimum=0,
        maximum=1,
    ),
    Panel(
        41,
        "Watched: rates against the baseline",
        "Share of the rows on which each watched feature is active,"
        " or on which a watched probe is above its threshold, in the window"
        " and on the baseline's rows. Empty without watch.",
        (12, 124, 12, 8),
        [
            Query(
                "max by (cluster, namespace, job, name) (plumbline_watched_rate_ratio{INSTALLATION,SITE})",
                "{{name}}",
            ),
            Query(
                "max by (cluster, namespace, job, name) (plumbline_watched_baseline_rate_ratio{INSTALLATION,SITE})",
                "{{name}} baseline",
            ),
        ],
        unit="percentunit",
        minimum=0,
        maximum=1,
    ),
]
