package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** Holds the counters by what they count: one place for their names, descriptions and labels. Thread-safe. */
final class Counters {

    /** The counters of one site, looked up once. */
    record OfSite(
            Counter records,
            Counter rows,
            Counter momentRecords,
            Counter repeatedRecords,
            Counter windows,
            Counter boundViolations,
            Counter publications,
            Counter reverts,
            Counter decoderRefusals,
            Counter swaps,
            Counter downstreamFailures,
            String label) {

        /** Returns whether the site is a label of its own, and not one of those beyond the cap. */
        boolean hasSeries() {
            return !label.equals(Metrics.OVERFLOW_SITE);
        }
    }

    private final MeterRegistry meters;

    Counters(MeterRegistry meters) {
        this.meters = meters;
    }

    OfSite ofSite(String site) {
        return new OfSite(
                counter("plumbline.records", "Activation records accepted", "site", site),
                counter("plumbline.rows", "Activation rows accepted", "site", site),
                counter(
                        "plumbline.moment.records",
                        "Accepted records that brought moments instead of rows",
                        "site",
                        site),
                counter(
                        "plumbline.repeated.records",
                        "Accepted records whose record_id their open pane knew; not added again",
                        "site",
                        site),
                counter("plumbline.windows", "Windows closed", "site", site),
                counter(
                        "plumbline.bound.violations",
                        "Valid bounds that a measured gap broke; more than 0 is a defect of Plumbline",
                        "site",
                        site),
                counter("plumbline.decoder.publications", "Adapted decoders published", "site", site),
                counter("plumbline.decoder.reverts", "Times the trained decoder was published again", "site", site),
                counter(
                        "plumbline.decoder.refusals",
                        "Published decoders, or records of them, that this process did not take into service",
                        "site",
                        site),
                counter(
                        "plumbline.decoder.swaps",
                        "Published decoders this process took into service since it started",
                        "site",
                        site),
                counter(
                        "plumbline.downstream.failures",
                        "Windows reported without what the rest of the model does, because that failed",
                        "site",
                        site),
                site);
    }

    Counter lostOffsets(String topic, int partition) {
        return counter(
                "plumbline.lost.offsets",
                "Offsets that were deleted before they were read, or that reading jumped over",
                "topic",
                topic,
                "partition",
                Integer.toString(partition));
    }

    Counter skippedRecords(String topic) {
        return counter(
                "plumbline.skipped.records",
                "Records that came again, after offsets were reset or had expired, and count once",
                "topic",
                topic);
    }

    Counter partitionsGivenUp(String site) {
        return counter(
                "plumbline.partitions.given.up",
                "Times a source partition held the windows of a site back for window.max_hold,"
                        + " or too many panes, and was no longer waited for",
                "site",
                site);
    }

    Counter lateSites(String model) {
        return counter(
                "plumbline.model.late.sites",
                "Windows of sites that came after that of their model was judged without them",
                "model",
                model);
    }

    Counter lateRows(String site, String reason) {
        return counter("plumbline.late.rows", "Accepted rows that are in no window", "site", site, "reason", reason);
    }

    Counter deadLetters(String reason) {
        return counter("plumbline.dead.letters", "Records refused and kept on the dead-letter topic", "reason", reason);
    }

    Counter foreignRecords(String topic) {
        return counter(
                "plumbline.foreign.records",
                "Records of Plumbline's own topics that it did not write, or with other settings; skipped",
                "topic",
                topic);
    }

    Counter outputsLeftOut(String topic) {
        return counter(
                "plumbline.outputs.left.out",
                "Dead letters, reports and requests that their topic did not take, by topics key; not written",
                "topic",
                topic);
    }

    Counter adaptations(String site, String outcome) {
        return counter(
                "plumbline.adaptations", "Adaptation requests by how they ended", "site", site, "outcome", outcome);
    }

    Counter gateRefusals(String site, String test) {
        return counter(
                "plumbline.gate.refusals",
                "Refits that a test of the gate refused; one that several refuse counts in each",
                "site",
                site,
                "test",
                test);
    }

    Counter adaptationRows(String site) {
        return counter("plumbline.adaptation.rows", "Sampled rows of adaptations", "site", site);
    }

    Counter counter(String name, String description, String... tags) {
        return Counter.builder(name).description(description).tags(tags).register(meters);
    }
}
