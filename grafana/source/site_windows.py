"""One site: what its windows measure."""

from __future__ import annotations

from panels import Panel, Query

WINDOWS = [
    Panel(
        1,
        "Verdict",
        "The verdict in force. Empty: the site has no current window, see the alert PlumblineNoWindows.",
        (0, 0, 4, 4),
        [
            Query(
                '2 * max by (cluster, namespace, job) (plumbline_verdict{INSTALLATION,verdict="drifted",SITE})'
                ' + max by (cluster, namespace, job) (plumbline_verdict{INSTALLATION,verdict="undecided",SITE})',
                "verdict",
            )
        ],
        kind="stat",
        alerts=["PlumblineSiteDrifted"],
        verdicts=True,
    ),
    Panel(
        2,
        "Value over threshold",
        "How many times its threshold the statistic that decides is,"
        " and which one that is. Above 1 the window counts towards a drift.",
        (4, 0, 4, 4),
        [
            Query(
                "max by (cluster, namespace, job, statistic) (plumbline_value_over_threshold{INSTALLATION,SITE})",
                "{{statistic}}",
            )
        ],
        kind="stat",
        minimum=0,
        limit="red",
        named=True,
    ),
    Panel(
        3,
        "Decoder in force",
        "0 is the trained decoder; every publication and every revert is a new version.",
        (8, 0, 4, 4),
        [Query("max by (cluster, namespace, job) (plumbline_decoder_version{INSTALLATION,SITE})", "version")],
        kind="stat",
        unit="none",
    ),
    Panel(
        4,
        "Who decides on swaps",
        "The mode by which the site's decoder may be changed.",
        (12, 0, 4, 4),
        [Query("max by (cluster, namespace, job, mode) (plumbline_swap_mode{INSTALLATION,SITE}) == 1", "{{mode}}")],
        kind="stat",
        unit="none",
    ),
    Panel(
        5,
        "Newest window ends",
        "Event time at which the newest window ends.",
        (16, 0, 4, 4),
        [
            Query(
                "max by (cluster, namespace, job) (plumbline_window_end_timestamp_seconds{INSTALLATION,SITE}) * 1000",
                "window end",
            )
        ],
        kind="stat",
        unit="dateTimeAsIso",
        alerts=["PlumblineNoWindows"],
    ),
    Panel(
        6,
        "Rows in the window",
        "Rows the newest window was judged on.",
        (20, 0, 4, 4),
        [Query("max by (cluster, namespace, job) (plumbline_window_rows{INSTALLATION,SITE})", "rows")],
        kind="stat",
    ),
    Panel(
        7,
        "Faithfulness gap, threshold and bounds",
        "The gap between the active and the explainer subspace, of the trained decoder"
        " and of the one in service, with the two-sided bound of the former. The threshold line is drawn"
        " when the gap is the trigger of the site.",
        (0, 4, 16, 10),
        [
            Query("max by (cluster, namespace, job) (plumbline_faithfulness_gap{INSTALLATION,SITE})", "gap"),
            Query(
                "max by (cluster, namespace, job)"
                ' (plumbline_threshold{INSTALLATION,statistic="faithfulness_gap",SITE})',
                "threshold",
            ),
            Query(
                'max by (cluster, namespace, job) (plumbline_gap_bound{INSTALLATION,bound="lower",SITE})',
                "lower bound",
            ),
            Query(
                'max by (cluster, namespace, job) (plumbline_gap_bound{INSTALLATION,bound="upper",SITE})',
                "upper bound",
            ),
            Query("max by (cluster, namespace, job) (plumbline_largest_gap{INSTALLATION,SITE})", "largest possible"),
            Query(
                "max by (cluster, namespace, job) (plumbline_active_faithfulness_gap{INSTALLATION,SITE})",
                "gap of the decoder in service",
            ),
        ],
        minimum=0,
        alerts=["PlumblineSiteDrifted", "PlumblineGapNearMaximum"],
        dashed="BCDE",
    ),
    Panel(
        8,
        "Verdict over time",
        "One line per verdict; the one in force is at 1.",
        (16, 4, 8, 10),
        [Query("max by (cluster, namespace, job, verdict) (plumbline_verdict{INSTALLATION,SITE})", "{{verdict}}")],
        minimum=0,
        maximum=1,
    ),
    Panel(
        9,
        "Gap share and overlap",
        "Share of the largest possible gap, the overlap of the two subspaces,"
        " and the threshold of the gap as the same share.",
        (0, 14, 8, 8),
        [
            Query("max by (cluster, namespace, job) (plumbline_gap_share_ratio{INSTALLATION,SITE})", "gap share"),
            Query("max by (cluster, namespace, job) (plumbline_subspace_overlap_ratio{INSTALLATION,SITE})", "overlap"),
            Query(
                "max by (cluster, namespace, job)"
                ' (plumbline_threshold{INSTALLATION,statistic="faithfulness_gap",SITE})'
                " / max by (cluster, namespace, job) (plumbline_largest_gap{INSTALLATION,SITE})",
                "threshold of the gap",
            ),
        ],
        unit="percentunit",
        minimum=0,
        maximum=1,
        dashed="C",
    ),
    Panel(
        10,
        "Principal angles",
        "Angles between the active"
        " and the explainer subspace: a single large one is one direction lost, a large median is a"
        " subspace that turned as a whole.",
        (8, 14, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job, angle) (plumbline_principal_angle_radians{INSTALLATION,SITE})",
                "{{angle}}",
            )
        ],
        unit="radian",
        minimum=0,
    ),
    Panel(
        11,
        "Gap against chance",
        "Squared gap divided by its expectation for two random subspaces: at 1 the explainer describes"
        " the window no better than chance.",
        (16, 14, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job) (plumbline_chance_normalised_gap{INSTALLATION,SITE})",
                "chance-normalised",
            )
        ],
        minimum=0,
    ),
    Panel(
        12,
        "Fraction of variance unexplained",
        "On the window's sampled rows, by the trained decoder and by the one in service. It may exceed 1.",
        (0, 22, 12, 8),
        [
            Query(
                "max by (cluster, namespace, job, decoder)"
                " (plumbline_fraction_of_variance_unexplained{INSTALLATION,SITE})",
                "{{decoder}}",
            )
        ],
        minimum=0,
        alerts=["PlumblineSwapRolledBack"],
    ),
    Panel(
        13,
        "Shift against the baseline",
        "Relative shift of the second moment"
        " and whitened shift of the mean: they see partial drift before the gap does.",
        (12, 22, 12, 8),
        [
            Query(
                "max by (cluster, namespace, job) (plumbline_second_moment_relative_shift{INSTALLATION,SITE})",
                "second moment, relative",
            ),
            Query(
                "max by (cluster, namespace, job) (plumbline_whitened_mean_shift{INSTALLATION,SITE})",
                "mean, whitened",
            ),
            Query(
                "max by (cluster, namespace, job, statistic) (plumbline_threshold{INSTALLATION,SITE})",
                "threshold of {{statistic}}",
            ),
        ],
        minimum=0,
        alerts=["PlumblineSiteWarning"],
        dashed="C",
    ),
    Panel(
        26,
        "Requests against the baseline's",
        "How far the window's requests are from the baseline's, by their means (request_shift,"
        " worst_request), by their reconstructions (request_fvu)"
        " and by both together (request_evidence). Each is evidence -ln p: 0.36 is usual for the first"
        " and third, 1.2 for the last, and worst_request is the farthest single one.",
        (0, 30, 24, 8),
        [
            Query(
                "max by (cluster, namespace, job) (plumbline_request_shift{INSTALLATION,SITE})",
                "all requests, by their means",
            ),
            Query(
                "max by (cluster, namespace, job) (plumbline_worst_request{INSTALLATION,SITE})",
                "farthest request, by its mean",
            ),
            Query(
                "max by (cluster, namespace, job) (plumbline_request_fvu{INSTALLATION,SITE})",
                "all requests, by their reconstructions",
            ),
            Query(
                "max by (cluster, namespace, job) (plumbline_request_evidence{INSTALLATION,SITE})",
                "all requests, by both together",
            ),
            Query(
                "max by (cluster, namespace, job, statistic)"
                " (plumbline_threshold{INSTALLATION,statistic=~"
                '"request_shift|worst_request|request_fvu|request_evidence|request_evidence_by_ranks",SITE})',
                "threshold of {{statistic}}",
            ),
        ],
        minimum=0,
        alerts=["PlumblineSiteDrifted"],
        dashed="E",
    ),
    Panel(
        14,
        "Spectrum",
        "Where the window's energy lies: in its first eigenvector (near 1 one token"
        " or coordinate dominates), outside the baseline's subspace,"
        " and in the part a better subspace would win.",
        (0, 38, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job) (plumbline_top_eigenvalue_share_ratio{INSTALLATION,SITE})",
                "first eigenvector",
            ),
            Query(
                "max by (cluster, namespace, job) (plumbline_residual_energy_ratio{INSTALLATION,SITE})",
                "outside the baseline's subspace",
            ),
            Query(
                "max by (cluster, namespace, job) (plumbline_explainer_dependent_ratio{INSTALLATION,SITE})",
                "lost to the explainer's subspace",
            ),
        ],
        unit="percentunit",
        minimum=0,
        maximum=1,
        alerts=["PlumblineEnergyConcentrated"],
    ),
    Panel(
        15,
        "Eigengaps",
        "Where the gap at the rank closes, the subspace is not identified and the site is undecided.",
        (8, 38, 8, 8),
        [Query("max by (cluster, namespace, job, moment) (plumbline_eigengap{INSTALLATION,SITE})", "{{moment}}")],
        minimum=0,
        alerts=["PlumblineSiteUndecided"],
    ),
    Panel(
        16,
        "Energies",
        "Energy per row outside the explainer's subspace, of it what no subspace of the rank could hold,"
        " and the difference.",
        (16, 38, 8, 8),
        [
            Query(
                "max by (cluster, namespace, job) (plumbline_projection_loss{INSTALLATION,SITE})",
                "outside the explainer's subspace",
            ),
            Query("max by (cluster, namespace, job) (plumbline_irreducible_loss{INSTALLATION,SITE})", "irreducible"),
            Query(
                "max by (cluster, namespace, job) (plumbline_explainer_dependent_loss{INSTALLATION,SITE})",
                "difference",
            ),
        ],
        minimum=0,
    ),
    Panel(
        17,
        "Gap to the baseline",
        "The gap between the active subspace of the window"
        " and that of the baseline, beside the largest that rank and dimension allow.",
        (0, 46, 12, 8),
        [
            Query(
                "max by (cluster, namespace, job) (plumbline_baseline_gap{INSTALLATION,SITE})",
                "gap to the baseline",
            ),
            Query("max by (cluster, namespace, job) (plumbline_largest_gap{INSTALLATION,SITE})", "largest possible"),
        ],
        minimum=0,
        dashed="B",
    ),
    Panel(
        18,
        "Bounds that say nothing",
        "Vacuous is 1 where the upper bound exceeds the largest possible gap. Certified is 1 where the"
        " shift is so small that the printed bound on the gap to the baseline is a theorem.",
        (12, 46, 12, 8),
        [
            Query(
                "max by (cluster, namespace, job, bound) (plumbline_gap_bound_vacuous{INSTALLATION,SITE})",
                "{{bound}} vacuous",
            ),
            Query("max by (cluster, namespace, job) (plumbline_gap_bound_certified{INSTALLATION,SITE})", "certified"),
        ],
        minimum=0,
        maximum=1,
    ),
]
