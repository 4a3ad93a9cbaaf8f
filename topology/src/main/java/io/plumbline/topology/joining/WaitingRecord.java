package io.plumbline.topology.joining;

import io.plumbline.wire.ActivationPart;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/** The parts of one record that came so far, at least one. Immutable. */
final class WaitingRecord {

    private final Part.Of of;
    private final List<Part> parts;
    private final ActivationPart tensors;
    private final long timestampMs;

    private WaitingRecord(Part.Of of, List<Part> parts, ActivationPart tensors, long timestampMs) {
        this.of = of;
        this.parts = List.copyOf(parts);
        this.tensors = tensors;
        this.timestampMs = timestampMs;
    }

    static WaitingRecord of(Part first) {
        return new WaitingRecord(
                first.of(),
                List.of(first),
                first.tensors(),
                first.sent().record().timestamp());
    }

    /** @throws IllegalArgumentException where the part cannot belong to those before */
    WaitingRecord plus(Part part) {
        byte[] key = parts.get(0).sent().record().key();
        if (!Arrays.equals(key, part.sent().record().key())) {
            throw new IllegalArgumentException(
                    "%s: a part has another key than the part before; parts of one record have one key, so that they lie on one partition"
                            .formatted(of));
        }
        List<Part> more = new ArrayList<>(parts);
        more.add(part);
        ActivationPart joined;
        try {
            joined = tensors.plus(part.tensors());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("%s: %s".formatted(of, e.getMessage()), e);
        }
        return new WaitingRecord(
                of, more, joined, Math.min(timestampMs, part.sent().record().timestamp()));
    }

    Part.Of of() {
        return of;
    }

    List<Part> parts() {
        return parts;
    }

    ActivationPart tensors() {
        return tensors;
    }

    /** Returns the earliest time of the parts. */
    long timestampMs() {
        return timestampMs;
    }

    /** Returns the offset of the part that came first, which no other record has. */
    long firstOffset() {
        return parts.get(0).sent().place().offset();
    }

    long bytes() {
        return parts.stream().mapToLong(part -> part.sent().bytes()).sum();
    }

    /** Returns the tensors that did not come. */
    String missing(Set<String> needed) {
        return needed.stream()
                .filter(name -> !tensors.names().contains(name))
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /** Returns the record as one: with key and headers of the part that brought the first tensor. */
    Record<byte @Nullable [], byte @Nullable []> joined() {
        String first = tensors.names().get(0);
        Record<byte @Nullable [], byte @Nullable []> leading = parts.stream()
                .filter(part -> part.tensors().names().contains(first))
                .findFirst()
                .orElseThrow()
                .sent()
                .record();
        return new Record<>(leading.key(), tensors.record(), timestampMs, leading.headers());
    }
}
