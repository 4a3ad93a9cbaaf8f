"""The machinery."""

from __future__ import annotations

from panels import Choice, Dashboard, Panel, Query, installations

PIPELINE = Dashboard(
    uid="plumbline-pipeline",
    title="Plumbline / Pipeline",
    about="The machinery: lag, rows, the time of every stage, state, what was refused, commits.",
    choices=(*installations(), Choice("instance", "Instance", "plumbline_build_info{INSTALLATION}", all_value=".+")),
    panels=[
        Panel(
            1,
            "Instances",
            "Processes that are scraped, and what runs in them.",
            (0, 0, 8, 4),
            [
                Query(
                    "max by (cluster, namespace, job, instance, version)"
                    ' (plumbline_build_info{INSTALLATION,instance=~"$instance"})',
                    "{{instance}} {{version}}",
                )
            ],
            kind="stat",
            unit="none",
            alerts=["PlumblineMonitorAbsent"],
        ),
        Panel(
            2,
            "Stream threads",
            "Stream threads that live, and how many failed since the start.",
            (8, 0, 4, 4),
            [
                Query(
                    "sum by (cluster, namespace, job)"
                    ' (kafka_stream_alive_stream_threads{INSTALLATION,instance=~"$instance"})',
                    "alive",
                ),
                Query(
                    "sum by (cluster, namespace, job)"
                    ' (kafka_stream_failed_stream_threads_total{INSTALLATION,instance=~"$instance"})',
                    "failed",
                ),
            ],
            kind="stat",
            unit="none",
        ),
        Panel(
            3,
            "Dead letters in an hour",
            "Records refused and kept on the dead-letter topic.",
            (12, 0, 4, 4),
            [
                Query(
                    "sum by (cluster, namespace, job)"
                    ' ((plumbline_dead_letters_total{INSTALLATION,instance=~"$instance"}'
                    ' unless last_over_time(plumbline_dead_letters_total{INSTALLATION,instance=~"$instance"}[1h]'
                    " offset 1h))"
                    ' or increase(plumbline_dead_letters_total{INSTALLATION,instance=~"$instance"}[1h]))',
                    "refused",
                )
            ],
            kind="stat",
            decimals=0,
            limit="yellow",
            alerts=["PlumblineDeadLetters"],
        ),
        Panel(
            4,
            "Offsets lost in an hour",
            "Records of topics of activations that were deleted before they were read; every process counts"
            " all of them.",
            (16, 0, 4, 4),
            [
                Query(
                    "sum by (cluster, namespace, job) (max by (cluster, namespace, job, topic, partition)"
                    ' ((plumbline_lost_offsets_total{INSTALLATION,instance=~"$instance"}'
                    ' unless last_over_time(plumbline_lost_offsets_total{INSTALLATION,instance=~"$instance"}[1h]'
                    " offset 1h))"
                    ' or increase(plumbline_lost_offsets_total{INSTALLATION,instance=~"$instance"}[1h])))',
                    "lost",
                )
            ],
            kind="stat",
            decimals=0,
            limit="red",
            alerts=["PlumblineLostOffsets"],
        ),
        Panel(
            5,
            "Observations lost in an hour",
            "Metrics that could not be recorded; the stream went on.",
            (20, 0, 4, 4),
            [
                Query(
                    "sum by (cluster, namespace, job)"
                    ' ((plumbline_metrics_failures_total{INSTALLATION,instance=~"$instance"}'
                    ' unless last_over_time(plumbline_metrics_failures_total{INSTALLATION,instance=~"$instance"}[1h]'
                    " offset 1h))"
                    ' or increase(plumbline_metrics_failures_total{INSTALLATION,instance=~"$instance"}[1h]))',
                    "lost",
                )
            ],
            kind="stat",
            decimals=0,
            limit="yellow",
            alerts=["PlumblineMetricsFailing"],
        ),
        Panel(
            6,
            "Consumer lag",
            "Records of the partition that is furthest behind, by Kafka consumer.",
            (0, 4, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, instance, client_id)"
                    ' (kafka_consumer_fetch_manager_records_lag_max{INSTALLATION,instance=~"$instance"})',
                    "{{client_id}} at {{instance}}",
                )
            ],
            minimum=0,
            alerts=["PlumblineWindowsStalled"],
        ),
        Panel(
            7,
            "Standstill",
            "How long records have waited at an unmoved committed offset,"
            " and how long an application may rightly take (dashed).",
            (12, 4, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, application, topic)"
                    ' (plumbline_stalled_seconds{INSTALLATION,instance=~"$instance"})',
                    "{{application}}: {{topic}}",
                ),
                Query(
                    "max by (cluster, namespace, job, application)"
                    ' (plumbline_stall_limit_seconds{INSTALLATION,instance=~"$instance"})',
                    "limit of the {{application}}",
                ),
            ],
            unit="s",
            minimum=0,
            alerts=["PlumblineNoProgress"],
            dashed="B",
        ),
        Panel(
            8,
            "Rows and records per second",
            "Accepted, by instance.",
            (0, 12, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, instance)"
                    ' (rate(plumbline_rows_total{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "rows at {{instance}}",
                ),
                Query(
                    "sum by (cluster, namespace, job, instance)"
                    ' (rate(plumbline_records_total{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "records at {{instance}}",
                ),
            ],
            minimum=0,
        ),
        Panel(
            9,
            "Windows per second",
            "Windows closed, by instance.",
            (8, 12, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, instance)"
                    ' (rate(plumbline_windows_total{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "{{instance}}",
                )
            ],
            minimum=0,
        ),
        Panel(
            10,
            "Late rows per second",
            "Rows that are in no window, by reason.",
            (16, 12, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, reason)"
                    ' (rate(plumbline_late_rows_total{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "{{reason}}",
                )
            ],
            minimum=0,
            alerts=["PlumblineLateRows", "PlumblinePartitionGivenUp"],
        ),
        Panel(
            11,
            "Stage times, 99th percentile",
            "Time one unit of work takes in a stage, all instances: a record, a commit, a window, an"
            " adaptation, a decoder. As exact as the buckets.",
            (0, 20, 12, 8),
            [
                Query(
                    "histogram_quantile(0.99, sum by (cluster, namespace, job, stage, le)"
                    ' (rate(plumbline_stage_seconds_bucket{INSTALLATION,instance=~"$instance"}[$__rate_interval])))',
                    "{{stage}}",
                )
            ],
            unit="s",
            minimum=0,
        ),
        Panel(
            12,
            "Stage times, mean",
            "The same as a mean over the interval.",
            (12, 20, 12, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, stage)"
                    ' (rate(plumbline_stage_seconds_sum{INSTALLATION,instance=~"$instance"}[$__rate_interval]))'
                    " / sum by (cluster, namespace, job, stage)"
                    ' (rate(plumbline_stage_seconds_count{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "{{stage}}",
                )
            ],
            unit="s",
            minimum=0,
        ),
        Panel(
            13,
            "Work by stage",
            "Seconds of work per second: at the number of stream threads nothing more fits.",
            (0, 28, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, stage)"
                    ' (rate(plumbline_stage_seconds_sum{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "{{stage}}",
                ),
                Query(
                    "sum by (cluster, namespace, job)"
                    ' (kafka_stream_alive_stream_threads{INSTALLATION,instance=~"$instance"})',
                    "stream threads",
                ),
            ],
            unit="s",
            minimum=0,
            dashed="B",
        ),
        Panel(
            14,
            "Stream threads held up by windows",
            "For how long at a stretch a stream thread took no records because windows were closed"
            " or assessed: records wait that long.",
            (8, 28, 8, 8),
            [
                Query(
                    "histogram_quantile(0.99, sum by (cluster, namespace, job, le)"
                    ' (rate(plumbline_ingestion_stall_seconds_bucket{INSTALLATION,instance=~"$instance"}[$__rate_interval])))',
                    "99th percentile",
                ),
                Query(
                    "max by (cluster, namespace, job)"
                    ' (plumbline_ingestion_stall_seconds_max{INSTALLATION,instance=~"$instance"})',
                    "longest of late",
                ),
            ],
            unit="s",
            minimum=0,
            alerts=["PlumblineWindowsStalled"],
        ),
        Panel(
            15,
            "State size",
            "Second moments"
            " and row samples of open panes as they are held live: panes where records are read, windows"
            " where those of a site come together.",
            (16, 28, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, store)"
                    ' (plumbline_state_bytes{INSTALLATION,instance=~"$instance"})',
                    "{{store}}",
                )
            ],
            unit="bytes",
            minimum=0,
        ),
        Panel(
            16,
            "Open panes",
            "How many panes are held open.",
            (0, 36, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, store)"
                    ' (plumbline_open_panes{INSTALLATION,instance=~"$instance"})',
                    "{{store}}",
                )
            ],
            unit="none",
            minimum=0,
        ),
        Panel(
            17,
            "Dead letters",
            "Records refused, by reason.",
            (8, 36, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, reason)"
                    ' (increase(plumbline_dead_letters_total{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "{{reason}}",
                )
            ],
            minimum=0,
            alerts=["PlumblineDeadLetters"],
        ),
        Panel(
            18,
            "Records that were not ours",
            "Records of Plumbline's own topics that it did not write, or with other settings.",
            (16, 36, 8, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, topic)"
                    ' (increase(plumbline_foreign_records_total{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "{{topic}}",
                )
            ],
            minimum=0,
        ),
        Panel(
            19,
            "Commits",
            "Commits per second by stream thread; under exactly-once each is a transaction.",
            (0, 44, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, instance, thread_id)"
                    ' (kafka_stream_thread_commit_rate{INSTALLATION,instance=~"$instance"})',
                    "{{thread_id}} at {{instance}}",
                )
            ],
            minimum=0,
        ),
        Panel(
            20,
            "Time of a commit",
            "Mean and longest time of a commit: the state is written, the producer flushed"
            " and the transaction ended in it.",
            (12, 44, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, instance)"
                    ' (kafka_stream_thread_commit_latency_avg{INSTALLATION,instance=~"$instance"})',
                    "mean at {{instance}}",
                ),
                Query(
                    "max by (cluster, namespace, job, instance)"
                    ' (kafka_stream_thread_commit_latency_max{INSTALLATION,instance=~"$instance"})',
                    "longest at {{instance}}",
                ),
            ],
            unit="ms",
            minimum=0,
            alerts=["PlumblineNoProgress"],
        ),
        Panel(
            21,
            "Decoders held",
            "Newest decoder each process holds, by site. One line below another is a process that is behind.",
            (0, 52, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, site, instance)"
                    ' (plumbline_subscriber_decoder_version{INSTALLATION,instance=~"$instance"})',
                    "{{site}} at {{instance}}",
                ),
                Query(
                    "max by (cluster, namespace, job, instance)"
                    ' (plumbline_subscriber_interrupted{INSTALLATION,instance=~"$instance"})',
                    "topic unread by {{instance}}",
                ),
            ],
            unit="none",
            minimum=0,
            alerts=["PlumblineDecoderConsumerBehind", "PlumblineDecodersUnread", "PlumblineDecoderRefused"],
        ),
        Panel(
            22,
            "Memory",
            "Heap in use, and the most it may grow to (dashed).",
            (12, 52, 12, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, instance)"
                    ' (jvm_memory_used_bytes{INSTALLATION,instance=~"$instance",area="heap"})',
                    "{{instance}}",
                ),
                Query(
                    "sum by (cluster, namespace, job, instance)"
                    ' (jvm_memory_max_bytes{INSTALLATION,instance=~"$instance",area="heap"}'
                    " > 0)",
                    "most at {{instance}}",
                ),
            ],
            unit="bytes",
            minimum=0,
            dashed="B",
        ),
        Panel(
            23,
            "Sites beyond the cap",
            "Observations that share one label because more sites than limits.sites were named.",
            (0, 60, 12, 8),
            [
                Query(
                    "sum by (cluster, namespace, job, instance)"
                    ' (increase(plumbline_site_overflow_total{INSTALLATION,instance=~"$instance"}[$__rate_interval]))',
                    "{{instance}}",
                )
            ],
            minimum=0,
        ),
        Panel(
            24,
            "Restarts",
            "Time since each process started: a line that falls is a restart.",
            (12, 60, 12, 8),
            [
                Query(
                    "max by (cluster, namespace, job, instance)"
                    ' (process_uptime_seconds{INSTALLATION,instance=~"$instance"})',
                    "{{instance}}",
                )
            ],
            unit="s",
            minimum=0,
        ),
    ],
)
