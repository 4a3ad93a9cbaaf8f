package io.plumbline.topology.operate;

import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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
            "",
            "The age is that of the window that a decoder was fitted on, FVU that of the trained decoder and of this"
                    + " one on held-out rows. `decoders show` prints where a decoder comes from.",
            "",
            "With --key it says below which key signed each decoder; exit code 3 when none of them signed one."
        },
        footer = {
            "  plumbline decoders list --config plumbline.yaml",
            "  plumbline decoders list --bootstrap-servers localhost:9092"
        })
final class DecodersListCommand implements Callable<Integer> {

    private static final String ROW = "%-24s  %7s  %-9s  %-36s  %5s  %10s  %9s%n";

    @Mixin
    DecoderSource source;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        DecoderListing listing = DecoderListing.read(source, spec.commandLine().getErr());
        Instant now = Instant.now();
        PrintWriter out = spec.commandLine().getOut();
        if (listing.sites().isEmpty()) {
            out.println("no decoders on topic " + listing.topic());
            out.flush();
            return ExitCodes.FINE;
        }
        out.printf(ROW, "site", "version", "kind", "state", "age", "FVU before", "FVU after");
        List<DecoderManifest> shown = new ArrayList<>(listing.serving().values());
        for (String site : listing.sites()) {
            SwapState state = listing.state(site);
            String printed = Printable.of(site);
            print(out, printed, listing.serving().get(site), state.pinned() ? "in service, pinned" : "in service", now);
            DecoderManifest candidate = listing.waiting(site);
            if (candidate != null) {
                Instant expires = Instant.ofEpochMilli(Objects.requireNonNull(state.waiting(), "a candidate that waits")
                        .expiresMs());
                String waits = (now.isBefore(expires) ? "waits until " : "expired ") + expires;
                print(out, printed, candidate, waits, now);
                shown.add(candidate);
            }
            SwapState.Waiting explainer = state.explainer();
            if (explainer != null) {
                String waits = now.toEpochMilli() < explainer.expiresMs() ? "waits until " : "expired ";
                out.printf(
                        ROW,
                        printed,
                        explainer.number(),
                        "explainer",
                        waits + Instant.ofEpochMilli(explainer.expiresMs()),
                        age(Long.toString(explainer.windowEndMs()), now),
                        "-",
                        "-");
            }
        }
        if (listing.keys() != null) {
            out.println();
            shown.forEach(manifest -> out.println(Printable.of(
                    "%s, version %d: %s".formatted(manifest.site(), manifest.version(), listing.signature(manifest)))));
        }
        out.flush();
        return listing.exitCode(shown);
    }

    /** @param manifest null while the trained decoder serves as it came */
    private static void print(
            PrintWriter out, String site, @Nullable DecoderManifest manifest, String state, Instant now) {
        if (manifest == null) {
            out.printf(ROW, site, 0, DecoderKind.TRAINED, state, "-", "-", "-");
            return;
        }
        Map<String, String> lineage = manifest.lineage();
        out.printf(
                ROW,
                site,
                manifest.version(),
                manifest.kind(),
                state,
                age(lineage.get("window_end_ms"), now),
                fvu(lineage.get("fvu_before")),
                fvu(lineage.get("fvu_after")));
    }

    /** Writes an age in the largest unit that it holds at least once. A lineage comes from outside. */
    static String age(@Nullable String endMs, Instant now) {
        if (endMs == null || !endMs.matches("\\d{1,15}")) {
            return "-";
        }
        Duration age = Duration.between(Instant.ofEpochMilli(Long.parseLong(endMs)), now);
        if (age.isNegative()) {
            return "0 s";
        }
        if (age.toDays() > 0) {
            return age.toDays() + " d";
        }
        if (age.toHours() > 0) {
            return age.toHours() + " h";
        }
        return age.toMinutes() > 0 ? age.toMinutes() + " min" : age.toSeconds() + " s";
    }

    private static String fvu(@Nullable String number) {
        try {
            return number == null ? "-" : String.format(Locale.ROOT, "%.4f", Double.parseDouble(number));
        } catch (NumberFormatException none) {
            return "-";
        }
    }
}
