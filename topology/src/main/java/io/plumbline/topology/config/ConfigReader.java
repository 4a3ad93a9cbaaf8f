package io.plumbline.topology.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.wire.Printable;
import io.plumbline.wire.Syntax;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the configuration file; every mistake in it becomes one sentence, and all of them are reported together. */
final class ConfigReader {

    /** The most characters of a name, which a command has 127 bytes for. */
    private static final int LONGEST_APPROVER = 40;

    static final YAMLMapper YAML = new YAMLMapper(YAMLFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build());

    private static final String PLACEHOLDER = Pattern.quote(ActivationTopic.TENANT);
    private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");
    private static final Duration MINUTE = Duration.ofSeconds(60);
    private static final WindowSettings DEFAULT_WINDOW =
            new WindowSettings(MINUTE, MINUTE, Duration.ofSeconds(10), Duration.ofSeconds(30), Duration.ofMinutes(10));
    private static final int DEFAULT_MINIMUM_ROWS = 512;
    private static final int DEFAULT_SAMPLE_ROWS = 4096;
    private static final int DEFAULT_PORT = 9464;
    private static final int LARGEST_PORT = 65_535;

    private final List<String> problems = new ArrayList<>();
    private final Path folder;

    private ConfigReader(Path folder) {
        this.folder = folder;
    }

    static ReadConfig read(String yaml, String source, Path folder) {
        ConfigReader reader = new ConfigReader(folder);
        ConfigNode root = reader.root(yaml, source);
        MonitorConfig config = reader.checked(root, source);
        ObjectNode effective = root.effective();
        ObjectNode kafka = effective.withObjectProperty("kafka");
        config.kafka().forEach((key, value) -> kafka.put(key, config.secrets().shown(key, value)));
        OtlpSettings otlp = config.otlp();
        if (otlp != null) {
            ObjectNode metrics = effective.withObjectProperty("metrics");
            ObjectNode headers = metrics.withObjectProperty("otlp").withObjectProperty("headers");
            otlp.headers()
                    .keySet()
                    .forEach(name -> headers.put(name, config.secrets().shownHeader(name)));
        }
        return new ReadConfig(config, effective);
    }

    private ConfigNode root(String yaml, String source) {
        try {
            return ConfigNode.root(YAML.readTree(yaml), problems);
        } catch (JsonProcessingException broken) {
            throw new ConfigException(source, List.of(Syntax.YAML.fault(broken)));
        }
    }

    private MonitorConfig checked(ConfigNode root, String source) {
        MonitorConfig config = read(root);
        if (!problems.isEmpty()) {
            throw new ConfigException(source, problems);
        }
        return config;
    }

    private MonitorConfig read(ConfigNode root) {
        String applicationId = root.parsed("application_id", "plumbline", text -> {
            if (!TOPIC.matcher(text).matches()) {
                throw new IllegalArgumentException(
                        "expected letters, digits, '.', '_' and '-'; it becomes part of topics");
            }
            return text;
        });
        Map<String, String> kafka = kafka(root.child("kafka"));
        Secrets secrets = Secrets.resolve(kafka, folder, System::getenv, problems);
        problems.addAll(KafkaProperties.problems(kafka, secrets));
        TopicNames topics = topics(root.child("topics"));
        ConfigNode windowNode = root.child("window");
        WindowSettings window = window(windowNode);
        int minimumRows = windowNode.integer("minimum_rows", DEFAULT_MINIMUM_ROWS, 1);
        windowNode.refuseUnknownKeys();
        ConfigNode sample = root.child("sample");
        int sampleRows = sample.integer("rows", DEFAULT_SAMPLE_ROWS, 1);
        int encodedRows = encodedRows(sample, window, sampleRows);
        sample.refuseUnknownKeys();
        ConfigNode state = root.child("state");
        StoreKind store = state.choice("store", StoreKind.MEMORY, StoreKind.class);
        Path directory = path(state, "directory", state.text("directory", "plumbline-state"));
        Limits limits = limits(root.child("limits"));
        Integer waitingPanes = waitingPanes(state, window, limits);
        state.refuseUnknownKeys();
        BeginFrom from = root.parsed("from", BeginFrom.EARLIEST, BeginFrom::parse);
        HttpSettings http = http(root.child("http"));
        Signing signing = signing(root.child("signing"));
        LogSettings log = log(root.child("log"));
        OtlpSettings otlp = OtlpReader.read(root.child("metrics"), secrets, folder, problems);

        ConfigNode sitesNode = root.child("sites");
        SiteReader sites = new SiteReader(this, window, minimumRows, sampleRows, encodedRows, problems);
        Map<String, SiteSettings> settings = new LinkedHashMap<>();
        Map<String, AdaptationSettings> adaptations = new LinkedHashMap<>();
        Map<String, SwapRules> swapRules = new LinkedHashMap<>();
        ModelsReader models = new ModelsReader(root, window, Set.copyOf(sitesNode.keys()));
        TenantsReader tenants = new TenantsReader(topics);
        Map<String, List<String>> watchedOf = new LinkedHashMap<>();
        Set<String> named = new HashSet<>();
        sitesNode.children().forEach((site, node) -> {
            if (site.isBlank() || site.contains("#")) {
                problems.add(
                        "sites.\"%s\": expected a name without '#', which separates site and chunk in keys of decoders"
                                .formatted(site));
            }
            if (site.chars().anyMatch(Character::isISOControl)) {
                problems.add("sites.\"%s\": expected a name without control characters, which would reach terminals"
                        .formatted(site.replaceAll("\\p{Cntrl}", "?")));
            }
            if (SiteId.parse(site).isBlock()) {
                problems.add(("sites.\"%s\": expected another name: such names are those of the targets of a site, "
                                + "which it lists under targets")
                        .formatted(site));
            }
            tenants.read(site, node);
            ConfigNode adaptationNode = adaptation(node);
            SwapRules swaps = SwapRulesReader.read(adaptationNode);
            AdaptationSettings adaptation = sites.adaptation(adaptationNode, swaps);
            adaptationNode.refuseUnknownKeys();
            SiteSettings read = sites.site(site, node, swaps, models.of(site));
            if (read != null) {
                SiteReader.requireModel(adaptationNode, adaptation, read);
            }
            if (swaps.adapts()) {
                // Of all targets at once, whose decoders are swapped together.
                adaptations.put(site, adaptation);
                swapRules.put(site, swaps);
            }
            // A site with several targets has reports of its own beside those of its targets.
            named.add(site);
            for (SiteId watched : TargetsReader.read(site, node)) {
                named.add(watched.name());
                watchedOf.computeIfAbsent(site, name -> new ArrayList<>()).add(watched.name());
                swapRules.put(watched.name(), swaps);
                if (read != null) {
                    settings.put(watched.name(), read.of(watched));
                }
            }
            node.refuseUnknownKeys();
        });
        tenants.requireOneEach(models, root);
        if (named.size() > limits.sites()) {
            root.problem("sites", "names %d sites, limits.sites allows %d".formatted(named.size(), limits.sites()));
        }
        if (named.isEmpty()) {
            root.problem("sites", "is empty: expected at least one site with explainer, baseline and rank");
        }
        root.refuseUnknownKeys();
        return new MonitorConfig(
                applicationId,
                kafka,
                secrets,
                topics,
                window,
                sampleRows,
                store,
                directory,
                waitingPanes,
                from,
                http,
                signing,
                log,
                otlp,
                limits,
                settings,
                tenants.bySite(),
                models.settings(watchedOf),
                adaptations,
                swapRules);
    }

    private HttpSettings http(ConfigNode node) {
        String bind = node.text("bind", "127.0.0.1");
        int port = node.parsed("port", DEFAULT_PORT, ConfigReader::port);
        String own = node.textOrNull("probe_port");
        Integer probePort = own == null ? null : node.parsed("probe_port", 0, ConfigReader::port);
        if (probePort != null && probePort != 0 && probePort == port) {
            node.problem("probe_port", "is %d, as http.port: expected another, or none".formatted(port));
        }
        List<String> hosts = node.texts("hosts");
        String webConfig = node.textOrNull("web_config");
        Path file = webConfig == null ? null : path(node, "web_config", webConfig);
        boolean console = node.parsed("console", true, ConfigReader::onOrOff);
        ProxyReader proxy = ProxyReader.read(node);
        node.refuseUnknownKeys();
        return new HttpSettings(bind, port, probePort, hosts, file, console, proxy.basePath(), proxy.forwardedUser());
    }

    private Signing signing(ConfigNode node) {
        String key = node.textOrNull("key");
        List<Path> trusted = new ArrayList<>();
        for (String file : node.texts("trusted")) {
            trusted.add(path(node, "trusted", file));
        }
        if (key != null && trusted.isEmpty()) {
            node.problem(
                    "key",
                    "expected trusted beside it, with its public key: else the adapter would sign again what others "
                            + "wrote to the topic");
        }
        Map<String, Path> approvers = new LinkedHashMap<>();
        if (node.has("approvers") && !node.isMapping("approvers")) {
            node.problem("approvers", "is not a mapping: expected one of names to files of public keys");
        } else {
            ConfigNode names = node.child("approvers");
            for (String name : names.keys()) {
                String file = names.text(name, "");
                if (name.length() > LONGEST_APPROVER || !name.equals(Printable.of(name))) {
                    names.problem(name, "expected a name of at most %d characters".formatted(LONGEST_APPROVER));
                }
                approvers.put(name, path(names, name, file));
            }
        }
        boolean baselines = node.parsed("baselines", false, ConfigReader::onOrOff);
        if (baselines && approvers.isEmpty()) {
            node.problem("baselines", "is on: expected approvers beside it, whose signatures are asked for");
        }
        node.refuseUnknownKeys();
        return new Signing(key == null ? null : path(node, "key", key), trusted, approvers, baselines);
    }

    private static LogSettings log(ConfigNode node) {
        LogFormat format = node.choice("format", LogFormat.TEXT, LogFormat.class);
        LogLevel level = node.has("level") ? node.choice("level", LogLevel.WARN, LogLevel.class) : null;
        node.refuseUnknownKeys();
        return new LogSettings(format, level);
    }

    private static int port(String text) {
        return (int) ConfigNode.inRange(text, 0, LARGEST_PORT);
    }

    /** Returns the word that was written, since YAML takes on and off for true and false. */
    private static boolean onOrOff(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "on", "true" -> true;
            case "off", "false" -> false;
            default -> throw new IllegalArgumentException("expected on or off");
        };
    }

    private static ConfigNode adaptation(ConfigNode site) {
        if (site.has("adaptation") && !site.isMapping("adaptation")) {
            site.problem(
                    "adaptation",
                    site.textOrNull("adaptation"),
                    "expected a mapping such as {mode: propose}; {mode: observe} watches only");
            return site.without("adaptation");
        }
        return site.child("adaptation");
    }

    private Limits limits(ConfigNode node) {
        Limits otherwise = Limits.DEFAULT;
        int sites = node.integer("sites", otherwise.sites(), 1);
        int width = node.integer("width", otherwise.width(), 1);
        int rowsPerRecord = node.integer("rows_per_record", otherwise.rowsPerRecord(), 1);
        int requestsPerWindow = node.integer("requests_per_window", otherwise.requestsPerWindow(), 1);
        Duration ahead = node.duration("ahead", otherwise.ahead());
        Duration behind = node.has("behind") && !node.isOff("behind") ? node.duration("behind", MINUTE) : null;
        node.refuseUnknownKeys();
        try {
            return new Limits(sites, width, rowsPerRecord, requestsPerWindow, ahead, behind);
        } catch (IllegalArgumentException refused) {
            problems.add(String.valueOf(refused.getMessage()));
            return otherwise;
        }
    }

    private Map<String, String> kafka(ConfigNode node) {
        Map<String, String> properties = new LinkedHashMap<>();
        for (String key : node.keys()) {
            if (node.isContainer(key)) {
                // Its value is not shown: it may hold a password.
                node.problem(key, "is not one value: expected one, with the property's whole name as its key");
                continue;
            }
            String value = node.textOrNull(key);
            if (value != null) {
                properties.put(key, value);
            }
        }
        return properties;
    }

    /**
     * Returns how many rows of a window may be encoded to measure reconstruction: all that are sampled unless the rate
     * says fewer.
     */
    private static int encodedRows(ConfigNode sample, WindowSettings window, int sampleRows) {
        if (!sample.has("encoded_rows_per_second")) {
            return sampleRows;
        }
        double perWindow =
                sample.integer("encoded_rows_per_second", 1, 1) * (window.size().toMillis() / 1000.0);
        return (int) Math.max(2.0, Math.min(sampleRows, perWindow));
    }

    private TopicNames topics(ConfigNode node) {
        Map<String, String> names = new LinkedHashMap<>();
        Map<String, String> keyOf = new HashMap<>();
        TopicNames.DEFAULT.byKey().forEach((key, otherwise) -> {
            String name = node.text(key, otherwise);
            // With a tenant's name in place of the placeholder it is one.
            String plain = key.equals("activations") ? name.replaceFirst(PLACEHOLDER, "t") : name;
            if (!TOPIC.matcher(plain).matches() || plain.equals(".") || plain.equals("..")) {
                node.problem(key, name, "expected a topic name: 1 to 249 letters, digits, '.', '_' and '-'");
            }
            String other = keyOf.put(name, key);
            if (other != null) {
                node.problem(key, name, "expected a topic of its own, but " + other + " has this one");
            }
            names.put(key, name);
        });
        node.refuseUnknownKeys();
        return new TopicNames(
                names.getOrDefault("activations", ""),
                names.getOrDefault("moments", ""),
                names.getOrDefault("window_reports", ""),
                names.getOrDefault("model_windows", ""),
                names.getOrDefault("adaptation_requests", ""),
                names.getOrDefault("adaptation_reports", ""),
                names.getOrDefault("decoders", ""),
                names.getOrDefault("dead_letters", ""),
                names.getOrDefault("configuration", ""),
                names.getOrDefault("baselines", ""));
    }

    private static @Nullable Integer waitingPanes(ConfigNode state, WindowSettings window, Limits limits) {
        String text = state.textOrNull("waiting_panes");
        if (text == null) {
            return null;
        }
        int least = window.leastWaitingPanes(limits.ahead());
        int panes = state.integer("waiting_panes", least, 1);
        if (panes < least) {
            state.problem(
                    "waiting_panes",
                    text,
                    ("expected at least %d: those of a window, of window.idle_close, "
                                    + "window.grace and limits.ahead together, and a few on their way")
                            .formatted(least));
        }
        return panes;
    }

    private WindowSettings window(ConfigNode node) {
        Duration size = node.duration("size", DEFAULT_WINDOW.size());
        Duration advance = node.duration("advance", size);
        Duration grace = node.duration("grace", DEFAULT_WINDOW.grace());
        Duration idleClose = node.isOff("idle_close") ? null : node.duration("idle_close", Duration.ofSeconds(30));
        Duration maxHold = node.isOff("max_hold") ? null : node.duration("max_hold", Duration.ofMinutes(10));
        try {
            return new WindowSettings(size, advance, grace, idleClose, maxHold);
        } catch (IllegalArgumentException refused) {
            problems.add(String.valueOf(refused.getMessage()));
            return DEFAULT_WINDOW;
        }
    }

    /** Returns what the file's relative paths are relative to. */
    Path folder() {
        return folder;
    }

    /** Returns a path of the file, made absolute from the file's folder. */
    Path path(ConfigNode node, String key, @Nullable String text) {
        try {
            return folder.resolve(text == null ? "" : text).normalize();
        } catch (InvalidPathException broken) {
            node.problem(key, text, "expected a path: " + broken.getReason());
            return folder;
        }
    }
}
