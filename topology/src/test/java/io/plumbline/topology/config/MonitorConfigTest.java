package io.plumbline.topology.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.HeadDevice;
import io.plumbline.causal.HeadLocation;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Threshold;
import io.plumbline.moments.MaskRules;
import io.plumbline.records.HiddenLayers;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Rotation;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.adaptation.SelectBy;
import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.SiteSettings.CoverageRule;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MonitorConfigTest {

    private static final String SMALLEST = """
            kafka: {bootstrap.servers: "localhost:9092"}
            sites:
              layer.2: {explainer: sae, baseline: baseline.safetensors, rank: 32, threshold: 4.0}
            """;

    @Test
    void candidatesAreChosenByTheModelOnlyWhereTheGateAsksIt() {
        String named = SMALLEST.replace("threshold: 4.0", "downstream: {head: h.onnx}, adaptation: {select_by: kl}");
        assertEquals(
                SelectBy.KL,
                Objects.requireNonNull(parse(named).adaptations().get("layer.2"))
                        .selectBy());
        assertEquals(
                SelectBy.FVU,
                Objects.requireNonNull(parse(SMALLEST).adaptations().get("layer.2"))
                        .selectBy());
        assertTrue(refused(named.replace("h.onnx}", "h.onnx, gate: false}"))
                .getMessage()
                .contains("adaptation.select_by = kl: expected only beside downstream"));
    }

    @Test
    void printedDefaultFileLoadsAndSaysWhatTheDefaultsAre() {
        MonitorConfig printed = parse(MonitorConfig.defaultFile());
        MonitorConfig smallest = parse(SMALLEST);
        assertEquals(smallest.topics(), printed.topics());
        assertEquals(smallest.window(), printed.window());
        assertEquals(smallest.sampleRows(), printed.sampleRows());
        assertEquals(smallest.store(), printed.store());
        assertEquals(smallest.stateDirectory(), printed.stateDirectory());
        assertEquals(smallest.http(), printed.http());
        assertEquals(smallest.limits(), printed.limits());
        assertEquals(smallest.applicationId(), printed.applicationId());
        assertEquals(
                smallest.adaptations().get("layer.2"), printed.adaptations().get("encoder.layer.2"));
        SiteSettings site = site(printed, "encoder.layer.2");
        SiteSettings plain = site(parse(SMALLEST.replace(", threshold: 4.0", "")), "layer.2");
        assertEquals(plain.alarms().threshold(), site.alarms().threshold());
        assertEquals(plain.refits().cooldown(), site.refits().cooldown());
        assertEquals(plain.alarms().debounce(), site.alarms().debounce());
        assertEquals(MaskRules.NONE, site.explained().mask());
        assertEquals(CoverageRule.STANDARD, site.coverage());
        assertEquals(plain.explained().mask(), site.explained().mask());
        assertEquals(plain.alarms().triggers(), site.alarms().triggers());
        assertEquals(plain.alarms().warn(), site.alarms().warn());
        assertEquals(
                plain.alarms().warnThreshold().getClass(),
                site.alarms().warnThreshold().getClass());
        assertEquals(plain.alarms().minimumRows(), site.alarms().minimumRows());
    }

    @Test
    void theRestOfAModelIsOfItsSiteAndMistakesInItAreSaid() {
        String named = SMALLEST.replace(
                "threshold: 4.0",
                "downstream: {head: h.onnx, device: cuda, requests: 8, ablations: 2, budget: 1s, share: 0.5, threads: "
                        + "2, max_megabytes: 3, gate: false, max_kl_growth: 0.5}, warn: [kl]");
        assertEquals(
                new DownstreamSettings(
                        new HeadLocation.InFile(Path.of("/conf/h.onnx"), new HeadDevice(0)),
                        8,
                        2,
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(5),
                        0.5,
                        2,
                        3L << 20,
                        false,
                        0.5),
                site(parse(named), "layer.2").downstream());
        assertNull(site(parse(SMALLEST), "layer.2").downstream());
        Map<String, String> workers = Map.of(
                "unix:h.sock", "unix:/conf/h.sock",
                "unix:/run/h.sock", "unix:/run/h.sock",
                "127.0.0.1:7070", "127.0.0.1:7070",
                "localhost:7070", "localhost:7070",
                "'[::1]:7070'", "0:0:0:0:0:0:0:1:7070");
        workers.forEach((text, address) -> assertEquals(
                address,
                Objects.requireNonNull(site(
                                        parse(SMALLEST.replace("threshold: 4.0", "downstream: {worker: " + text + "}")),
                                        "layer.2")
                                .downstream())
                        .head()
                        .toString()));
        Map<String, String> mistakes = Map.ofEntries(
                Map.entry("downstream: {requests: 8}", "or worker: the address of one"),
                Map.entry("downstream: {head: h, worker: 'unix:h.sock'}", "either head or worker, not both"),
                Map.entry("downstream: {worker: '10.0.0.1:7070'}", "a worker listens on this machine alone"),
                Map.entry("downstream: {worker: 'unix:" + "x".repeat(120) + "'}", "a Unix socket's path at most 107"),
                Map.entry("downstream: {head: h, requests: 2000}", "expected at most 1024"),
                Map.entry("downstream: {head: h, budget: 0s}", "is 0: expected a time"),
                Map.entry("downstream: {head: h, max_megabytes: 4096}", "what one ONNX file holds"),
                Map.entry("downstream: {head: h, share: 2}", "share"),
                Map.entry("downstream: {head: h, device: gpu}", "expected cpu, cuda or cuda:N"),
                Map.entry("downstream: {worker: 'unix:h', device: cuda}", "a worker has its own --device"),
                Map.entry("downstream: {head: h, gpu: true}", "gpu is not a known key"),
                Map.entry("warn: [kl], warn_threshold: 1.0", "expected only beside downstream: {head: FILE}"),
                Map.entry("downstream: {head: h, requests: 3, ablations: 4}", "expected at most requests (3)"),
                Map.entry("downstream: {head: h, max_kl_growth: -1}", "max_kl_growth"),
                Map.entry("sequential: {statistics: [kl]}", "expected only beside downstream"));
        mistakes.forEach((text, sentence) -> {
            String said = String.valueOf(
                    assertThrows(ConfigException.class, () -> parse(SMALLEST.replace("threshold: 4.0", text)), text)
                            .getMessage());
            assertTrue(said.contains(sentence), said);
        });
    }

    @Test
    void everyKeyArrivesWhereItBelongs() {
        MonitorConfig config = parse("""
                application_id: lab
                kafka: {bootstrap.servers: "a:1,b:2", monitor.num.stream.threads: 3, adapter.num.stream.threads: 1}
                topics: {activations: rows, dead_letters: dlq}
                window: {size: 10m, advance: 1m, grace: 500ms, idle_close: off, max_hold: off, minimum_rows: 1000}
                sample: {rows: 256}
                state: {store: rocksdb, directory: /var/lib/plumbline}
                log: {format: json, level: debug}
                metrics: {otlp: {endpoint: 'https://a.example/x', interval: 5s, headers: {Authorization: Bearer a}}}
                http: {bind: 0.0.0.0, port: 0, probe_port: 9465, hosts: [a.example], web_config: web.yaml, base_path: /a/b, forwarded_user: X-User}
                limits: {sites: 5, width: 512, rows_per_record: 100, requests_per_window: 9, ahead: 2s}
                sites:
                  a.b:
                    explainer: sae
                    baseline: /abs/base.safetensors
                    rank: 16
                    mask: {token_ids: [102, 101], norm_cap: 8}
                    coverage: {limit: 0.2, delivered: 0.4, cached: 0.5}
                    breakdown_by: tenant
                    hidden_states: {layers: [3, 6], layer: 6, axes: layers_first}
                    trigger: residual_energy
                    threshold: 0.3
                    clear: 0.2
                    debounce: 2 of 5
                    cooldown: 1h
                    adaptation: {profile: paper, rank: 384, lambda_preservation: 0.01, lambda_geometric: 0.2,
                                 relative_lambdas: true, alpha: 0.1, max_gap_growth: 0.02, minimum_cosine: 0.3,
                                 max_norm_ratio: 3, changed_features: 0.01, max_id_cost: 0.2,
                                 minimum_improvement: 0.1, validation_share: 0.4, dtype: f64, mode: auto,
                                 max_swaps: 2 per 6h, candidate_lifetime: 1d, rollback: off, pause_after_rollback: 2h}
                  watched: {explainer: s, baseline: b, rank: 1, threshold: {share: 0.6}, adaptation: {mode: observe}}
                """);
        assertEquals("lab-monitor", config.monitorApplicationId());
        assertEquals("lab-adapter", config.adapterApplicationId());
        assertEquals("a:1,b:2", config.bootstrapServers());
        assertEquals(Map.of("bootstrap.servers", "a:1,b:2", "num.stream.threads", "3"), config.monitorProperties());
        assertEquals(Map.of("bootstrap.servers", "a:1,b:2", "num.stream.threads", "1"), config.adapterProperties());
        assertEquals("rows", config.topics().activations());
        assertEquals("dlq", config.topics().deadLetters());
        assertEquals("decoders", config.topics().decoders());
        assertEquals(Duration.ofMinutes(10), config.window().size());
        assertEquals(Duration.ofMinutes(1), config.window().advance());
        assertEquals(Duration.ofMillis(500), config.window().grace());
        assertNull(config.window().idleClose());
        assertNull(config.window().maxHold());
        assertEquals(256, config.sampleRows());
        assertEquals(StoreKind.ROCKSDB, config.store());
        assertEquals(Path.of("/var/lib/plumbline"), config.stateDirectory());
        assertEquals(
                new HttpSettings(
                        "0.0.0.0", 0, 9465, List.of("a.example"), Path.of("/conf/web.yaml"), true, "/a/b", "X-User"),
                config.http());
        assertEquals(new LogSettings(LogFormat.JSON, LogLevel.DEBUG), config.log());
        assertEquals(
                new OtlpSettings(
                        URI.create("https://a.example/x"),
                        null,
                        Duration.ofSeconds(5),
                        Map.of("Authorization", "Bearer a")),
                config.otlp());
        assertEquals(new Limits(5, 512, 100, 9, Duration.ofSeconds(2), null), config.limits());

        SiteSettings site = site(config, "a.b");
        assertEquals(Path.of("/conf/sae"), site.explained().explainer());
        assertEquals(Path.of("/abs/base.safetensors"), site.explained().baseline());
        assertEquals(16, site.explained().rank());
        assertEquals(new MaskRules(List.of(101L, 102L), 8.0), site.explained().mask());
        assertEquals(new CoverageRule(0.2, 0.4, 0.5), site.coverage());
        assertEquals("tenant", site.breakdownBy());
        assertEquals(
                new HiddenLayers(List.of(3, 6), 6, HiddenLayers.Axes.LAYERS_FIRST),
                site.explained().hiddenStates());
        assertEquals(List.of("residual_energy"), site.alarms().triggers());
        assertEquals(List.of(), site.alarms().warn());
        assertEquals(new Threshold.Fixed(0.3), site.alarms().threshold());
        assertEquals(new Threshold.Fixed(0.2), site.alarms().clear());
        assertEquals(new DriftPolicy(2, 5), site.alarms().debounce());
        assertEquals(Duration.ofHours(1), site.refits().cooldown());
        assertEquals(1000, site.alarms().minimumRows());
        assertTrue(site.refits().adapts());
        assertEquals(
                new SwapRules(
                        SwapRules.Mode.AUTO, 2, Duration.ofHours(6), Duration.ofDays(1), null, Duration.ofHours(2)),
                config.swapRules().get("a.b"));
        assertNull(site.refits().rollback());
        AdaptationSettings adaptation = config.adaptations().get("a.b");
        assertNotNull(adaptation);
        GaeSettings fixed = assertInstanceOf(AdaptationProfile.Paper.class, adaptation.profile())
                .settings();
        assertEquals(384, fixed.rank());
        assertEquals(Rotation.PRINTED, fixed.rotation());
        assertEquals(0.01, fixed.regularisation().preservation());
        assertEquals(0.2, fixed.regularisation().geometric());
        assertEquals(true, fixed.regularisation().relative());
        assertEquals(0.1, fixed.alpha());
        assertEquals(new GateLimits(0.1, 0.02, 0.3, 3.0, 0.01, 0.2), adaptation.limits());
        assertEquals(0.4, adaptation.validationShare());
        assertEquals(DType.F64, adaptation.dtype());

        assertInstanceOf(
                Threshold.ShareOfLargestGap.class,
                site(config, "watched").alarms().threshold());
        assertEquals(false, site(config, "watched").refits().adapts());
        assertNull(config.adaptations().get("watched"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "window: {size: 60}                     | window.size = 60: expected a unit; write 60s for seconds",
                "window: {size: soon}                   | window.size = soon: expected a number and a unit",
                "window: {size: 0s}                     | window.size",
                "window: {size: 60s, advance: 90s}      | window.advance",
                "window: {idle_close: 0s}               | window.idle_close",
                "window: {minimum_rows: 0}              | window.minimum_rows = 0: "
                        + "expected a whole number of at least 1",
                "window: {minimum_rows: 16}             | rank = 32: expected at most window.minimum_rows (16)",
                "window: {sise: 60s}                    | window.sise is not a known key: did you mean size?",
                "sample: {rows: 8}                      | expected at most sample.rows (8)",
                "windw: {size: 60s}                     | windw is not a known key: did you mean window?",
                "topics: {decoder: x}                   | topics.decoder is not a known key: did you mean decoders?",
                "topics: {moments: decoders}            | expected a topic of its own",
                "topics: {moments: 'a b'}               | topics.moments = a b: expected a topic name",
                "log: {format: xml}                     | log.format = xml: expected text or json",
                "log: {level: loud}                     | log.level = loud: expected error or warn or info or debug",
                "metrics: {otlp: {interval: 5s}}        | metrics.otlp.endpoint is missing: expected the URL",
                "metrics: {otlp: {endpoint: 'http://a', events: 'a:1'}} | metrics.otlp.events is no URL of a receiver",
                "metrics: {otlp: {endpoint: 'a:1'}}     | metrics.otlp.endpoint is no URL of a receiver: expected one",
                "metrics: {otlp: {endpoint: 'a b'}}     | metrics.otlp.endpoint is no URL of a receiver: expected one",
                "metrics: {otlp: {endpoint: 'http://u:p@a'}} | metrics.otlp.endpoint holds a login",
                "metrics: {otlp: {endpoint: 'http://a', interval: 1ms}} | metrics.otlp.interval = 1ms: expected",
                "metrics: {otlp: {endpoint: 'http://a', headers: {Host: x}}} | otlp.headers.Host is no header",
                "metrics: {otlp: {endpoint: 'http://a', headers: {A: '${env:}'}}} | otlp.headers.A refers to ${env:}",
                "state: {store: disk}                   | state.store = disk: expected memory or rocksdb",
                "limits: {width: 0}                    | limits.width = 0: expected a whole number of at least 1",
                "limits: {ahead: 0s}                   | limits.ahead = 0: expected more than 0",
                "window: {max_hold: 0s}                | window.max_hold = PT0S: expected a positive duration, or off",
                "http: {port: 70000}                    | http.port = 70000: expected a number from 0 to 65535",
                "http: {base_path: plumbline/}          | http.base_path is plumbline/: expected a path such as",
                "http: {base_path: /a/../b}             | http.base_path is /a/../b: expected a path such as",
                "http: {base_path: /api}                | such as /plumbline, without a slash at its end",
                "http: {forwarded_user: Authorization}  | expected the name of a header that holds a user's name",
                "http: {forwarded_user: 'a user'}       | http.forwarded_user is a user: expected the name of a header",
                "http: {console: maybe}                 | http.console = maybe: expected on or off",
                "http: 9464                             | http = 9464: expected a mapping",
                "application_id: 'a b'                  | application_id = a b: expected letters",
            })
    void mistakeInTheRestIsNamedWithItsValueAndWhatWasExpected(String line, String sentence) {
        ConfigException refused = refused(SMALLEST + line + "\n");
        assertEquals(1, refused.problems().size(), refused.getMessage());
        assertTrue(refused.problems().get(0).contains(sentence.strip()), refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "processing.guarantee: exactly_once     | expected exactly_once_v2",
                "statestore.cache.max.bytes: 0          | expected at least 1048576",
                "monitor.statestore.cache.max.bytes: 0  | every record writes its whole window",
                "application.id: x                      | application_id names the applications",
                "state.dir: /x                          | state.directory",
                "value.deserializer: x                  | Plumbline's own",
                "consumer.isolation.level: read_uncommitted | expected read_committed",
                "restore.consumer.isolation.level: read_uncommitted | expected read_committed",
                "enable.auto.commit: true               | absent or false",
                "main.consumer.enable.auto.commit: true | absent or false",
                "monitor.restore.consumer.enable.auto.commit: true | absent or false",
                "producer.acks: 1                       | expected all",
                "enable.idempotence: false              | absent or true",
                "deserialization.exception.handler: x   | another may skip records without a word",
                "monitor.processing.exception.handler: x | expected it absent",
                "default.production.exception.handler: x | counts what is left out",
                "default.timestamp.extractor: x         | by the time of the record",
                "consumer.partition.assignment.strategy: x | Kafka Streams assigns",
                "interceptor.classes: x                 | expected producer.interceptor.classes",
                "monitor.main.consumer.interceptor.classes: x | leave out records",
                "producer.partitioner.class: x          | one partition, or its windows are torn",
                "partitioner.ignore.keys: true          | absent or false",
                "consumer.check.crcs: false             | a damaged record",
                "topic.cleanup.policy: delete           | is lost",
                "auto.offset.reset: latest              | such as from: latest",
                "monitor.main.consumer.auto.offset.reset: none | the key from says where a first start begins",
            })
    void kafkaPropertyThatBreaksAGuaranteeIsRefused(String property, String sentence) {
        ConfigException refused = refused(
                SMALLEST.replace("kafka: {", "kafka: {" + property.strip().replaceFirst(": ", ": \"") + "\", "));
        assertEquals(1, refused.problems().size(), refused.getMessage());
        assertTrue(refused.getMessage().contains(sentence.strip()), refused.getMessage());
    }

    @Test
    void clientsOutsideKafkaStreamsGetWhatIsForThem() {
        MonitorConfig config = parse(SMALLEST.replace(
                "kafka: {",
                "kafka: {group.protocol: streams, num.stream.threads: 2, topic.retention.ms: 1, monitor.client.rack: "
                        + "m, producer.linger.ms: 5,"
                        + " compression.type: zstd, consumer.fetch.max.bytes: 7, main.consumer.max.poll.records: 3,"
                        + " restore.consumer.client.rack: r, admin.retries: 9, client.rack: a, login.plug.in: x, "));
        Map<String, String> common = Map.of(
                "bootstrap.servers", String.valueOf(config.kafka().get("bootstrap.servers")), "login.plug.in", "x");
        Map<String, String> admin = new HashMap<>(common);
        admin.put("retries", "9");
        assertEquals(admin, config.adminProperties());
        Map<String, String> subscriber = new HashMap<>(common);
        subscriber.put("client.rack", "a");
        subscriber.put("fetch.max.bytes", "7");
        assertEquals(subscriber, config.subscriberProperties());
    }

    @Test
    void otherKafkaPropertiesPassThroughUntouched() {
        MonitorConfig config = parse(SMALLEST.replace(
                "kafka: {", "kafka: {processing.guarantee: at_least_once, sasl.jaas.config: \"a b=c;\", "));
        assertEquals("a b=c;", config.kafka().get("sasl.jaas.config"));
        assertEquals("at_least_once", config.monitorProperties().get("processing.guarantee"));
    }

    /** The cases of the fault matrix that were run with it are in docs/operate/faults.md. */
    @Test
    void transactionalStateStoresMayBeSet() {
        String key = "enable.transactional.statestores";
        MonitorConfig config = parse(SMALLEST.replace("kafka: {", "kafka: {monitor.%s: \"true\", ".formatted(key)));
        assertEquals("true", config.monitorProperties().get(key));
        assertEquals(List.of(), StreamsSettings.problems(config));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rank: 0                      | rank = 0: expected a whole number of at least 1",
                "rank: 2.5                    | rank = 2.5: expected a whole number",
                "mask: {token_id: [1]}        | mask.token_id is not a known key: did you mean token_ids?",
                "mask: {token_ids: [1, CLS]}  | mask.token_ids = CLS: expected whole numbers, such as [101, 102]",
                "mask: {norm_cap: 1}          | mask.norm_cap = 1.0: expected a number above 1",
                "mask: {norm_cap: high}       | mask.norm_cap = high: expected a number of at least 0",
                "coverage: {limit: 2}         | coverage.limit = 2: expected a number from 0 to 1",
                "hidden_states: {layers: [3, 6], layer: 5} | hidden_states.layer = 5: expected one of layers",
                "hidden_states: {layers: [a], layer: 5} | hidden_states.layers = a: expected the engine's numbers",
                "hidden_states: {layers: [5]} | hidden_states.layer is missing",
                "breakdown_by: tenant=acme    | breakdown_by = tenant=acme: expected the name of a header or tag",
                "coverage: {cache: 0.5}       | coverage.cache is not a known key: did you mean cached?",
                "trigger: faithfulnes_gap     | did you mean faithfulness_gap?",
                "threshold: 9                 | expected less than sqrt(2 rank) = 8.000",
                "threshold: -1                | expected a number of at least 0",
                "threshold: NaN               | expected a number of at least 0",
                "threshold: {share: 1.5}      | threshold.share = 1.5: expected a number between 0 and 1",
                "threshold: {quantile: 99}    | threshold.quantile = 99: expected a number between 0 and 1",
                "threshold: {}                | takes one of {false_alarms: 1 per 30d}",
                "threshold: {share: 0.5, quantile: 0.5} | takes one of {false_alarms: 1 per 30d}",
                "threshold: {false_alarms: monthly} | threshold.false_alarms = monthly: expected `N per DURATION`",
                "threshold: {false_alarms: 1 per 30} | write 30s for seconds",
                "threshold: {false_alarms: 0 per 1d} | expected 1 or more per positive duration",
                "threshold: {false_alarms: 1 per 60s} | expected fewer alarms than windows, "
                        + "and a window begins every 1m",
                "threshold: {false_alarm_rate: 2} | threshold.false_alarm_rate = 2: expected a number between 0 and 1",
                "threshold: {shar: 0.5}       | did you mean share?",
                "sequential: {statistics: [etaa]} | sequential.statistics = etaa: did you mean eta?",
                "sequential: {average_run_length: 90d} | sequential.statistics is missing: "
                        + "expected statistics to add up",
                "sequential: {statistics: [eta], average_run_length: 10s} | expected a time between false alarms of "
                        + "many windows",
                "sequential: {statistics: [eta], arl: 9d} | sequential.arl is not a known key",
                "explainer:                   | explainer is missing: expected the folder",
                "clear: 5.0                   | clear = 5.0: expected at most the threshold, 4.0",
                "trigger: [faithfulness_gap, residual_enrgy] | did you mean residual_energy?",
                "trigger: [faithfulness_gap, faithfulness_gap] | expected every statistic once",
                "trigger: [faithfulness_gap, eta] | threshold = 4.0: is in one statistic's own units, but there are 2",
                "trigger: [[eta]]             | expected one value, or a list of values",
                "warn: faithfulness_gap       | warn = faithfulness_gap: "
                        + "expected other statistics than those under trigger",
                "warn: shift                  | warn = shift: did you mean",
                "warn_threshold: {false_alarm_rate: 0.1} | warn_threshold has nothing to warn",
                "clear: {share: 0.2}          | clear has another form than threshold",
                "clear: {false_alarm_rate: 0.2} | clear is a level to come back below, which raises no alarm",
                "debounce: 2                  | debounce = 2: expected `j of n`",
                "debounce: 3 of 2             | debounce = 3 of 2: expected `j of n` with j from 1 to n",
                "debounce: 3 of 99            | n at most 64",
                "cooldown: 10                 | write 10s for seconds or 10ms",
                "adaptation: off              | adaptation = false: expected a mapping such as {mode: propose}; "
                        + "{mode: observe} watches only",
                "adaptation: {profile: best}  | adaptation.profile = best: expected auto or paper",
                "adaptation: {mode: on}       | adaptation.mode = true: expected observe or propose or auto",
                "adaptation: {max_swaps: 3}   | adaptation.max_swaps = 3: expected `N per DURATION`, such as 4 per 1d",
                "adaptation: {max_swaps: 0 per 1d} | adaptation.max_swaps = 0 per 1d: expected 1 to 1000 per positive",
                "adaptation: {max_swaps: 2 per 3} | write 3s for seconds",
                "adaptation: {rollback: 3 of 2} | adaptation.rollback = 3 of 2: expected `j of n` with j from 1 to n",
                "adaptation: {candidate_lifetime: 0s} | adaptation.candidate_lifetime is 0: expected a time in which",
                "adaptation: {pause_after_rollback: 1} | write 1s for seconds",
                "adaptation: {rank: 5}        | adaptation.rank = 5: expected only with profile: paper",
                "adaptation: {encoding: factored} | adaptation.encoding is not a known key",
                "adaptation: {dtype: f8}      | adaptation.dtype = f8: expected f64, f32, bf16 or f16",
                "adaptation: {validation_share: 1} | adaptation.validation_share = 1: expected a number from",
                "adaptation: {minimum_improvement: 5} | adaptation.minimum_improvement = 5: expected a number from 0",
                "adaptation: {profile: paper, rank: 4, lambda_geometric: "
                        + "1} | adaptation.lambda_preservation is missing",
                "adaptation: {select_by: loss} | adaptation.select_by = loss: expected fvu or kl",
                "adaptation: {select_by: kl}  | adaptation.select_by = kl: expected only beside downstream: {head: "
                        + "FILE}",
                "adaptation: {select_by: kl, profile: paper, rank: 4, lambda_geometric: 1, lambda_preservation: "
                        + "1} | adaptation.select_by = kl: expected only with profile: auto",
                "adaptation: {max_id_cost: -1} | adaptation.max_id_cost = -1: expected a number",
                "adaptation: {minimum_cosine: 2} | adaptation.minimum_cosine = 2: expected a number from -1",
                "adaptation: {max_norm_ratio: 0.5} | adaptation.max_norm_ratio = 0.5: expected a number",
                "lambda: 3                    | lambda is not a known key",
            })
    void mistakeInASiteIsNamedWithItsValueAndWhatWasExpected(String line, String sentence) {
        String key = line.substring(0, line.indexOf(':'));
        StringBuilder yaml = new StringBuilder("kafka: {bootstrap.servers: \"h:1\"}\nsites:\n  layer.2:\n");
        for (String standard : List.of("explainer: sae", "baseline: base.safetensors", "rank: 32", "threshold: 4.0")) {
            if (!standard.startsWith(key + ":")) {
                yaml.append("    ").append(standard).append('\n');
            }
        }
        ConfigException refused = refused(yaml + "    " + line.strip() + "\n");
        assertTrue(refused.getMessage().contains(sentence.strip()), refused.getMessage());
        assertTrue(refused.getMessage().contains("sites.\"layer.2\"."), refused.getMessage());
    }

    @Test
    void promisesAboutFalseAlarmsKnowTheWindowsAndTheDebounce() {
        MonitorConfig config = parse("""
                kafka: {bootstrap.servers: "h:1"}
                window: {size: 10m, advance: 5m}
                sites:
                  plain: {explainer: s, baseline: b, rank: 1}
                  week: {explainer: s, baseline: b, rank: 1, threshold: {false_alarms: 2 per 7d}, clear: {quantile: 0.5}, debounce: 1 of 1}
                  rate: {explainer: s, baseline: b, rank: 1, threshold: {false_alarm_rate: 0.01}, clear: 1.0, debounce: 1 of 1}
                """);
        AlarmLaw immediate = new AlarmLaw(DriftPolicy.immediate(), Duration.ofMinutes(10), Duration.ofMinutes(5));
        assertEquals(
                new Threshold.FalseAlarms(
                        new AlarmBudget.PerTime(1, Duration.ofDays(30)),
                        new AlarmLaw(new DriftPolicy(2, 3), Duration.ofMinutes(10), Duration.ofMinutes(5))),
                site(config, "plain").alarms().threshold());
        assertEquals(
                new Threshold.FalseAlarms(new AlarmBudget.PerTime(2, Duration.ofDays(7)), immediate),
                site(config, "week").alarms().threshold());
        assertEquals(
                new Threshold.FalseAlarms(new AlarmBudget.PerWindow(0.01), immediate),
                site(config, "rate").alarms().threshold());
    }

    @Test
    void withoutATriggerTheDefaultsDecideAndTheGapAloneByANumber() {
        assertEquals(
                List.of("faithfulness_gap"),
                site(parse(SMALLEST), "layer.2").alarms().triggers());
        assertEquals(
                List.of("faithfulness_gap"),
                site(parse(SMALLEST.replace("4.0", "{share: 0.7}")), "layer.2")
                        .alarms()
                        .triggers());
        assertEquals(
                List.of("faithfulness_gap", "request_evidence", "new_group"),
                site(parse(SMALLEST.replace("threshold: 4.0", "warn: [reconstruction_fvu_trained]")), "layer.2")
                        .alarms()
                        .triggers(),
                "what only warns does not decide");
        for (String threshold : List.of("", ", threshold: {quantile: 0.9}", ", threshold: {false_alarm_rate: 0.01}")) {
            String calibrated = SMALLEST.replace(", threshold: 4.0", threshold);
            assertEquals(
                    DriftJudge.DEFAULT_TRIGGERS,
                    site(parse(calibrated), "layer.2").alarms().triggers());
        }
    }

    @Test
    void whatDecidesIsShownWhereTheFileLeavesItOut() {
        String calibrated = SMALLEST.replace(", threshold: 4.0", ", warn: [eta]");
        String shown = ConfigReader.read(calibrated, "test", Path.of("/conf")).yaml();
        for (String line : List.of(
                """
                    trigger:
                    - "faithfulness_gap"
                    - "reconstruction_fvu_trained"
                    - "request_evidence"
                    - "new_group"
                """,
                "    threshold:\n      false_alarms: \"1 per 30d\"\n",
                "    warn_threshold:\n      false_alarms: \"1 per 30d\"\n",
                "    debounce: \"2 of 3\"\n")) {
            assertTrue(shown.contains(line), shown);
        }
        assertEquals(site(parse(calibrated), "layer.2"), site(parse(shown), "layer.2"));
        String number = ConfigReader.read(SMALLEST, "test", Path.of("/conf")).yaml();
        assertTrue(number.contains("    trigger:\n    - \"faithfulness_gap\"\n"), number);
        assertTrue(number.contains("    threshold: 4.0\n"), number);
        assertFalse(number.contains("warn_threshold"), number);
        assertEquals(site(parse(SMALLEST), "layer.2"), site(parse(number), "layer.2"));
    }

    @Test
    void severalStatisticsKeepOnePromise() {
        SiteSettings site = site(parse("""
                        kafka: {bootstrap.servers: "h:1"}
                        sites:
                          many:
                            explainer: s
                            baseline: b
                            rank: 1
                            trigger: [faithfulness_gap, residual_energy]
                            warn: [whitened_mean_shift, eta, second_moment_shift_ratio]
                            warn_threshold: {false_alarm_rate: 0.02}
                        """), "many");
        assertEquals(
                List.of("faithfulness_gap", "residual_energy"), site.alarms().triggers());
        assertEquals(
                List.of("whitened_mean_shift", "eta", "second_moment_shift_ratio"),
                site.alarms().warn());
        Threshold.FalseAlarms warn =
                assertInstanceOf(Threshold.FalseAlarms.class, site.alarms().warnThreshold());
        assertEquals(new AlarmBudget.PerWindow(0.02), warn.budget());
        assertEquals(
                assertInstanceOf(Threshold.FalseAlarms.class, site.alarms().threshold())
                        .law(),
                warn.law());
    }

    @Test
    void shareOfALargestGapNeedsAGapAsTrigger() {
        ConfigException refused = refused(SMALLEST.replace("threshold: 4.0", "trigger: eta, threshold: {share: 0.5}"));
        assertTrue(refused.getMessage().contains("expected it with a gap as trigger, not eta"), refused.getMessage());
    }

    @Test
    void siteNameMustNotHoldTheSeparatorOfDecoderKeys() {
        assertTrue(
                refused(SMALLEST.replace("layer.2", "'layer#2'")).getMessage().contains("without '#'"));
    }

    @Test
    void allMistakesAreReportedTogether() {
        ConfigException refused = refused("window: {size: 60}\nstate: {store: disk}\nsites: {}\n");
        assertEquals(4, refused.problems().size(), refused.getMessage());
        assertTrue(refused.getMessage().contains("kafka.bootstrap.servers is missing"), refused.getMessage());
        assertTrue(refused.getMessage().contains("sites is empty"), refused.getMessage());
    }

    @Test
    void brokenYamlAndDuplicateKeysAreOneSentenceWithTheLine() {
        assertTrue(refused("window: {size: 60s\nsites").getMessage().contains("line "));
        assertTrue(refused(SMALLEST + SMALLEST).getMessage().contains("stands twice; keep one"));
    }

    @Test
    void pathsAreRelativeToTheFile(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("plumbline.yaml");
        Files.writeString(file, SMALLEST);
        assertEquals(
                folder.resolve("sae"),
                site(MonitorConfig.load(file), "layer.2").explained().explainer());
    }

    @Test
    void durationsAreReadWithTheirUnitsAndWrittenBack() {
        for (String text : List.of("500ms", "60s", "10m", "1h", "30d", "90s", "0s")) {
            assertEquals(DurationText.parse(text), DurationText.parse(DurationText.format(DurationText.parse(text))));
        }
        assertEquals(Duration.ofMillis(1500), DurationText.parse("1.5s"));
        assertEquals("1m", DurationText.format(Duration.ofSeconds(60)));
        assertThrows(IllegalArgumentException.class, () -> DurationText.parse("1.0001ms"));
        assertThrows(IllegalArgumentException.class, () -> DurationText.parse("-5s"));
    }

    @Test
    void aFirstStartBeginsAtAnEndOfTheTopicOrAtATimeThatIsPast() {
        assertEquals(BeginFrom.EARLIEST, parse(SMALLEST).from());
        assertEquals(BeginFrom.LATEST, parse(SMALLEST + "\nfrom: latest\n").from());
        assertEquals(
                Instant.parse("2026-11-01T00:00:00Z"),
                parse(SMALLEST + "\nfrom: 2026-11-01T02:00:00+02:00\n").from().time());
        assertTrue(refused(SMALLEST + "\nfrom: yesterday\n").getMessage().contains("such as 2026-11-01T00:00:00Z"));
        assertTrue(refused(SMALLEST + "\nfrom: 2999-01-01T00:00:00Z\n")
                .getMessage()
                .contains("latest begins"));
    }

    @Test
    void fewerWaitingPanesThanAWindowAndASilenceNeedAreRefused() {
        assertNull(parse(SMALLEST).waitingPanes());
        assertEquals(50, parse(SMALLEST + "\nstate: {waiting_panes: 50}\n").waitingPanes());
        ConfigException refused = refused(SMALLEST + "\nstate: {waiting_panes: 3}\n");
        assertTrue(refused.getMessage().contains("expected at least 10"), refused.getMessage());
    }

    private static SiteSettings site(MonitorConfig config, String site) {
        SiteSettings settings = config.sites().get(site);
        assertNotNull(settings, site);
        return settings;
    }

    private static MonitorConfig parse(String yaml) {
        return MonitorConfig.parse(yaml, "test.yaml", Path.of("/conf"));
    }

    private static ConfigException refused(String yaml) {
        return assertThrows(ConfigException.class, () -> parse(yaml), yaml);
    }
}
