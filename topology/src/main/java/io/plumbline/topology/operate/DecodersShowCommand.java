package io.plumbline.topology.operate;

import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline decoders show}: where a site's decoders come from. */
@Command(
        name = "show",
        mixinStandardHelpOptions = true,
        description =
                "Shows where the decoder in service of a site comes from, and the candidate that waits for approval:"
                        + " the trained decoder, window, rows, weights, who signed it, and what the gate measured. With"
                        + " --key, exit code 3 when none of the keys signed one of them.",
        footer = "  plumbline decoders show --config plumbline.yaml --site encoder.layer.2")
final class DecodersShowCommand implements Callable<Integer> {

    @Mixin
    DecoderSource source;

    @Option(names = "--site", required = true, paramLabel = "SITE", description = "The site.")
    String site;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        DecoderListing listing = DecoderListing.read(source, spec.commandLine().getErr());
        if (!listing.sites().contains(site)) {
            throw new UsageException("--site = %s: the topic has decoders of %s"
                    .formatted(
                            site,
                            listing.sites().isEmpty() ? "no site" : Printable.of(String.join(", ", listing.sites()))));
        }
        PrintWriter out = spec.commandLine().getOut();
        List<DecoderManifest> shown = new ArrayList<>();
        DecoderManifest serving = listing.serving().get(site);
        if (serving == null) {
            out.println("the trained decoder serves as it came");
        } else {
            print(out, serving, listing.signature(serving));
            shown.add(serving);
        }
        DecoderManifest candidate = listing.waiting(site);
        if (candidate != null) {
            out.println();
            print(out, candidate, listing.signature(candidate));
            shown.add(candidate);
        }
        out.flush();
        return listing.exitCode(shown);
    }

    private static void print(PrintWriter out, DecoderManifest manifest, String signature) {
        print(out, "version", Long.toString(manifest.version()));
        print(out, "kind", manifest.kind().label());
        print(out, "parent_sha256", manifest.parentSha256());
        print(out, "sha256", manifest.sha256());
        print(out, "signature", signature);
        print(out, "travels_as", String.format(Locale.ROOT, "%.1f MB weights", manifest.bytes() / 1e6));
        manifest.lineage().forEach((key, value) -> print(out, key, value));
    }

    /** Prints one row and no more: who approves a decoder reads it, and a manifest comes from outside. */
    private static void print(PrintWriter out, String key, String value) {
        out.printf("%-26s  %s%n", Printable.of(key), Printable.of(value));
    }
}
