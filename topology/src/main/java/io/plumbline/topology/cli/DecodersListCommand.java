package io.plumbline.topology.cli;

import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.cli.DecoderReading.Found;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.topology.emission.DecoderSubscription;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline decoders list}: what serves, what waits, what is pinned. */
@Command(
        name = "list",
        mixinStandardHelpOptions = true,
        description = {
            "Shows the decoder in service of every site, whether it is pinned, and the candidate that waits for"
                    + " approval.",
            ""
        },
        footer = {
            "",
            "Example:",
            "  plumbline decoders list --config plumbline.yaml",
            "  plumbline decoders list --bootstrap-servers localhost:9092"
        })
final class DecodersListCommand implements Callable<Integer> {

    private static final String ROW = "%-24s  %7s  %-9s  %-12s  %-19s  %-34s  %s%n";
    private static final int SHORT = 12;

    @Mixin
    DecoderSource source;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Map<String, DecoderManifest> serving = new TreeMap<>();
        Map<String, DecoderManifest> candidates = new TreeMap<>();
        Map<String, SwapState> states = new TreeMap<>();
        PrintWriter err = spec.commandLine().getErr();
        try (DecoderReading reading = source.read(DecoderSubscription.everything())) {
            for (Found found = reading.next(); !(found instanceof Found.CaughtUp); found = reading.next()) {
                if (found instanceof Found.Published published) {
                    put(published.decoder().manifest(), serving, candidates);
                } else if (found instanceof Found.Listed listed) {
                    put(listed.manifest(), serving, candidates);
                } else if (found instanceof Found.Told told) {
                    states.put(told.site(), told.state());
                } else {
                    DecoderReading.printRefused(err, DecoderReading.orFail(found));
                }
            }
        }
        Set<String> sites = new TreeSet<>(serving.keySet());
        sites.addAll(states.keySet());
        PrintWriter out = spec.commandLine().getOut();
        out.printf(ROW, "site", "version", "kind", "parent", "travels as", "state", "lineage");
        for (String site : sites) {
            SwapState state = states.getOrDefault(site, SwapState.INITIAL);
            print(out, site, serving.get(site), state.pinned() ? "pinned" : "");
            SwapState.Waiting waiting = state.waiting();
            DecoderManifest candidate = candidates.get(site);
            if (waiting != null && candidate != null && candidate.version() == waiting.number()) {
                boolean expired = System.currentTimeMillis() >= waiting.expiresMs();
                print(
                        out,
                        site,
                        candidate,
                        "%s %s"
                                .formatted(
                                        expired ? "expired" : "waits until",
                                        Instant.ofEpochMilli(waiting.expiresMs())));
            }
        }
        out.flush();
        return ExitCodes.FINE;
    }

    private static void put(
            DecoderManifest manifest, Map<String, DecoderManifest> serving, Map<String, DecoderManifest> candidates) {
        (manifest.waits() ? candidates : serving).put(manifest.explainedSite(), manifest);
    }

    /** @param manifest null while the trained decoder serves as it came */
    private static void print(PrintWriter out, String site, @Nullable DecoderManifest manifest, String state) {
        if (manifest == null) {
            out.printf(ROW, site, 0, DecoderKind.TRAINED, "-", "-", state, "as it came");
            return;
        }
        String parent = manifest.parentSha256();
        out.printf(
                ROW,
                site,
                manifest.version(),
                manifest.kind(),
                parent.substring(0, Math.min(SHORT, parent.length())),
                String.format(
                        Locale.ROOT, "%.1f MB %s", manifest.bytes() / 1e6, manifest.factored() ? "factors" : "weights"),
                state,
                manifest.lineage());
    }
}
