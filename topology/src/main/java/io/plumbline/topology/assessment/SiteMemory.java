package io.plumbline.topology.assessment;

import io.plumbline.adaptation.ExplainerTrial;
import io.plumbline.groups.RecentGroups;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.DriftState;
import io.plumbline.judgement.SequentialState;
import io.plumbline.moments.SampledRow;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The memory of a site that the monitor keeps between windows.
 *
 * <pre>
 * offset  bytes  field, big endian
 * 0       1      version = 1
 * 1       1      may be adapted, 1 or 0
 * 2       8      last request
 * 10      11     {@link DriftState} of the triggers
 * 21      11     of the warnings
 * 32      16     {@link SwapWatch}: version (8), windows (4), worse (4)
 * 48      28     {@link CoverageWatch}: baseline (8), windows (4), sums of delivered (8) and cached (8) shares
 * 76      1      sequential detectors; for each: length of its statistic's name (1), name, {@link SequentialState}
 * …              {@link Trials}: two hashes, each behind its length (1), version (8), windows (4), better (8)
 * …              {@link KnownOrigins}
 * …              {@link RecentGroups}
 * </pre>
 *
 * @param drift debounce and hysteresis
 * @param warning the same of the statistics that warn
 * @param lastRequestMs end of the window whose rows were last sent to the adapter, {@link #NEVER} before the first
 * @param mayBeAdapted whether an adaptation was asked for since the site was last aligned
 * @param swap how the decoder in service has done since its swap
 * @param coverage what share of the tokens usually comes as rows
 * @param trials how the explainer in no service has done beside the one in service
 * @param origins which values of headers and tags its windows had
 * @param groups unusual requests of its last windows
 * @param sequential by statistic
 */
record SiteMemory(
        DriftState drift,
        DriftState warning,
        long lastRequestMs,
        boolean mayBeAdapted,
        SwapWatch swap,
        CoverageWatch coverage,
        Trials trials,
        KnownOrigins origins,
        RecentGroups groups,
        Map<String, SequentialState> sequential) {

    /**
     * How the explainer in no service has done in the last windows.
     *
     * @param explainerSha256 names the one in service; empty before the first window
     * @param shadowSha256 names the other one; empty before the first window with one
     * @param version of the decoder in service
     * @param windows that were compared since that one is in service, at most as many as are looked back on
     * @param better one bit a window, the newest lowest: whether the other one reconstructed better
     */
    record Trials(String explainerSha256, String shadowSha256, long version, int windows, long better) {

        static final Trials NONE = new Trials("", "", 0, 0, 0);

        Trials {
            if (version < 0 || windows < 0 || windows > Long.SIZE) {
                throw new IllegalArgumentException("version %d was compared in %d windows".formatted(version, windows));
            }
        }

        int betterWindows() {
            return Long.bitCount(better);
        }

        /** Returns the memory with one more window, of these two since they are. */
        Trials after(long inService, String shadow, ExplainerTrial trial, DriftPolicy rule) {
            boolean same = version == inService && shadowSha256.equals(shadow);
            boolean counts = trial.errors().isComparable();
            long before = same ? better : 0;
            long bits = counts ? before << 1 | (trial.shadowIsBetter() ? 1 : 0) : before;
            return new Trials(
                    explainerSha256,
                    shadow,
                    inService,
                    Math.min(rule.memory(), (same ? windows : 0) + (counts ? 1 : 0)),
                    bits & (rule.memory() == Long.SIZE ? -1L : (1L << rule.memory()) - 1));
        }
    }

    static final long NEVER = Long.MIN_VALUE;
    private static final byte VERSION = 1;
    private static final int FIXED_BYTES = 77;
    private static final int TRIALS_BYTES = 22;
    private static final int STATE_BYTES = DriftState.INITIAL.encode().length;

    SiteMemory {
        sequential = Map.copyOf(sequential);
    }

    static SiteMemory initial() {
        return new SiteMemory(
                DriftState.INITIAL,
                DriftState.INITIAL,
                NEVER,
                false,
                SwapWatch.NONE,
                CoverageWatch.NONE,
                Trials.NONE,
                KnownOrigins.NONE,
                RecentGroups.NONE,
                Map.of());
    }

    /**
     * Returns this memory for a site that this explainer explains: where another one did before, what was remembered of
     * its statistics is forgotten, and what is known of the traffic stays.
     */
    SiteMemory of(String explainerSha256) {
        if (trials.explainerSha256.equals(explainerSha256)) {
            return this;
        }
        Trials begun = new Trials(explainerSha256, "", 0, 0, 0);
        return trials.explainerSha256.isEmpty()
                ? new SiteMemory(
                        drift, warning, lastRequestMs, mayBeAdapted, swap, coverage, begun, origins, groups, sequential)
                : new SiteMemory(
                        DriftState.INITIAL,
                        DriftState.INITIAL,
                        lastRequestMs,
                        false,
                        SwapWatch.NONE,
                        coverage,
                        begun,
                        origins,
                        groups,
                        Map.of());
    }

    /**
     * Returns this memory for a site that this baseline judges: where another one did before, the site's standing
     * stays, and windows that were held against the other one no longer count for a change of it.
     *
     * @param baselineMs when the baseline was made; 0 where it does not say
     */
    SiteMemory under(long baselineMs) {
        return coverage.baselineMs() == baselineMs
                ? this
                : new SiteMemory(
                        drift.begunAnew(),
                        warning.begunAnew(),
                        lastRequestMs,
                        mayBeAdapted,
                        swap,
                        coverage,
                        trials,
                        origins,
                        groups,
                        sequential);
    }

    /**
     * Returns whether a sampled row was in no window that asked before: windows that overlap have most of theirs in
     * common.
     */
    boolean isNew(SampledRow row) {
        return row.timestampMs() >= lastRequestMs;
    }

    /** Returns this memory without a request among those of its groups. */
    SiteMemory without(long request, String name) {
        return new SiteMemory(
                drift,
                warning,
                lastRequestMs,
                mayBeAdapted,
                swap,
                coverage,
                trials,
                origins,
                groups.without(request, name),
                sequential);
    }

    byte[] encode() {
        byte[] known = origins.encode();
        byte[] recent = groups.encode();
        byte[] explainer = trials.explainerSha256.getBytes(StandardCharsets.UTF_8);
        byte[] shadow = trials.shadowSha256.getBytes(StandardCharsets.UTF_8);
        int bytes = FIXED_BYTES + TRIALS_BYTES + explainer.length + shadow.length + known.length + recent.length;
        for (Map.Entry<String, SequentialState> detector : sequential.entrySet()) {
            bytes += 1 + name(detector).length + detector.getValue().encode().length;
        }
        ByteBuffer buffer = ByteBuffer.allocate(bytes)
                .put(VERSION)
                .put((byte) (mayBeAdapted ? 1 : 0))
                .putLong(lastRequestMs)
                .put(drift.encode())
                .put(warning.encode())
                .putLong(swap.version())
                .putInt(swap.windows())
                .putInt(swap.worse())
                .putLong(coverage.baselineMs())
                .putInt(coverage.windows())
                .putDouble(coverage.delivered())
                .putDouble(coverage.cached())
                .put((byte) sequential.size());
        for (Map.Entry<String, SequentialState> detector : new TreeMap<>(sequential).entrySet()) {
            byte[] name = name(detector);
            buffer.put((byte) name.length).put(name).put(detector.getValue().encode());
        }
        return buffer.put((byte) explainer.length)
                .put(explainer)
                .put((byte) shadow.length)
                .put(shadow)
                .putLong(trials.version)
                .putInt(trials.windows)
                .putLong(trials.better)
                .put(known)
                .put(recent)
                .array();
    }

    private static byte[] name(Map.Entry<String, SequentialState> detector) {
        return detector.getKey().getBytes(StandardCharsets.UTF_8);
    }

    static SiteMemory decode(byte[] bytes) {
        try {
            return read(ByteBuffer.wrap(bytes));
        } catch (BufferUnderflowException | IllegalArgumentException foreign) {
            throw new IllegalStateException(
                    "the state store holds a site memory this program did not write (%s); reset the application's state"
                            .formatted(
                                    foreign instanceof BufferUnderflowException ? "cut short" : foreign.getMessage()),
                    foreign);
        }
    }

    private static SiteMemory read(ByteBuffer buffer) {
        byte version = buffer.get();
        if (version != VERSION) {
            throw new IllegalArgumentException("version " + version);
        }
        boolean mayBeAdapted = buffer.get() != 0;
        long lastRequestMs = buffer.getLong();
        DriftState drift = driftState(buffer);
        DriftState warning = driftState(buffer);
        SwapWatch swap = new SwapWatch(buffer.getLong(), buffer.getInt(), buffer.getInt());
        CoverageWatch coverage =
                new CoverageWatch(buffer.getLong(), buffer.getInt(), buffer.getDouble(), buffer.getDouble());
        Map<String, SequentialState> sequential = new LinkedHashMap<>();
        int detectors = Byte.toUnsignedInt(buffer.get());
        for (int i = 0; i < detectors; i++) {
            sequential.put(text(buffer), SequentialState.decode(buffer));
        }
        Trials trials = new Trials(text(buffer), text(buffer), buffer.getLong(), buffer.getInt(), buffer.getLong());
        KnownOrigins origins = KnownOrigins.decode(buffer);
        RecentGroups groups = RecentGroups.decode(buffer);
        if (buffer.hasRemaining()) {
            throw new IllegalArgumentException(buffer.remaining() + " bytes after its end");
        }
        return new SiteMemory(
                drift, warning, lastRequestMs, mayBeAdapted, swap, coverage, trials, origins, groups, sequential);
    }

    private static String text(ByteBuffer buffer) {
        byte[] bytes = new byte[Byte.toUnsignedInt(buffer.get())];
        buffer.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static DriftState driftState(ByteBuffer buffer) {
        byte[] state = new byte[STATE_BYTES];
        buffer.get(state);
        return DriftState.decode(state);
    }
}
