package io.plumbline.topology.cli;

import io.plumbline.adaptation.Behaviour;
import io.plumbline.adaptation.GateDecision;
import io.plumbline.explainer.Explainer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that name the rest of the model, to judge a refit by what it does. */
final class BehaviourOptions {

    @Mixin
    HeadPlace place = new HeadPlace();

    @Option(
            names = "--in-distribution",
            arity = "1..*",
            paramLabel = "FILE",
            description = "With --head or --worker, by which the gate asks too that KL(original || patched) falls on"
                    + " the requests to judge on: dumps of whole requests of normal traffic, where it may not grow"
                    + " much.")
    List<Path> inDistribution = List.of();

    @Option(
            names = "--max-kl-growth",
            paramLabel = "X",
            description = "By which share of the trained decoder's it may. Default: 1, twice as much.")
    @Nullable
    Double maximumGrowth;

    enum SelectByName {
        FVU,
        KL;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(
            names = "--select-by",
            paramLabel = "NAME",
            defaultValue = "fvu",
            description = "With auto, which candidate within the limits is taken: fvu: "
                    + "of the lowest FVU on the requests to choose by; kl:"
                    + " of the lowest KL, with --head or --worker. Default: ${DEFAULT-VALUE}.")
    SelectByName selectBy = SelectByName.FVU;

    /** Returns whether refits are judged by what the model does. */
    boolean given() {
        boolean given = place.isGiven();
        if (!given && selectBy == SelectByName.KL) {
            throw new UsageException(
                    "--select-by = kl: expected beside --head or --worker, which the KL is measured with");
        }
        if (!given && (!inDistribution.isEmpty() || maximumGrowth != null)) {
            throw new UsageException("%s needs --head or --worker: it is the model that is run on these requests"
                    .formatted(inDistribution.isEmpty() ? "--max-kl-growth" : "--in-distribution"));
        }
        if (maximumGrowth != null && !(maximumGrowth >= 0.0)) {
            throw new UsageException(
                    "--max-kl-growth = %s: expected a share of 0 or more, 1 lets it double".formatted(maximumGrowth));
        }
        return given;
    }

    /** Refuses to choose where one refit was asked for. */
    void requireNoChoice() {
        if (selectBy == SelectByName.KL) {
            throw new UsageException(
                    "--select-by = kl: expected only with --profile auto, which chooses among candidates");
        }
    }

    /**
     * Opens the judge, or returns null where neither head nor worker was given.
     *
     * @param requests places of the requests to judge on; null: all
     * @param choosing the requests to choose by with --select-by kl; null where there is nothing to choose
     */
    BehaviourProvider.@Nullable Opened open(
            Explainer explainer,
            List<Path> heldOut,
            @Nullable Set<Long> requests,
            BehaviourProvider.@Nullable Choosing choosing)
            throws IOException {
        if (!given()) {
            return null;
        }
        return provider()
                .open(new BehaviourProvider.Asked(
                        place.location(),
                        explainer,
                        heldOut,
                        requests,
                        selectBy == SelectByName.KL ? choosing : null,
                        inDistribution,
                        maximumGrowth == null ? 1.0 : maximumGrowth));
    }

    static BehaviourProvider provider() {
        return ServiceLoader.load(BehaviourProvider.class)
                .findFirst()
                .orElseThrow(() -> new UsageException(
                        "--head and --worker are not part of this installation, which holds the service alone: "
                                + "run it from a checkout, or"
                                + " from the unpacked distribution, whose folder downstream/ has its jars"));
    }

    /** Adds what was found to an answer. */
    static void put(Answer answer, GateDecision decision) {
        if (decision.behaviour() instanceof Behaviour.Measured measured) {
            put(answer, "held_out_kl_", measured.heldOut());
            if (measured.inDistribution() != null) {
                put(answer, "in_distribution_kl_", measured.inDistribution());
            }
        }
    }

    private static void put(Answer answer, String prefix, Behaviour.Change change) {
        put(answer, prefix + "before", change.before());
        put(answer, prefix + "after", change.after());
        answer.put(prefix + "improvement", change.improvement().share());
        if (Double.isInfinite(change.improvement().lower())) {
            answer.putUndefined(prefix + "improvement_interval", "one request has no interval");
        } else {
            answer.put(prefix + "improvement_interval", new double[] {
                change.improvement().lower(), change.improvement().upper()
            });
        }
        answer.put(prefix + "requests", change.improvement().requests());
    }

    private static void put(Answer answer, String key, Behaviour.Level level) {
        answer.put(key, level.value()).put(key + "_interval", new double[] {level.low(), level.high()});
    }
}
