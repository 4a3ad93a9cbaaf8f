package io.plumbline.topology.assessment;

import io.plumbline.baseline.RequestScores;
import io.plumbline.baseline.WindowRequests;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.Breakdown.OfValue;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Compares the rows of a window by the values of a header or tag.
 *
 * <p><b>Cost.</b> A value with enough rows costs one assessment, as the window does. Beside the stream.
 */
final class Breakdowns {

    /** The least number of sampled rows, since fewer say nothing of a gap, whatever the rank. */
    private static final int LEAST_ROWS = 64;

    private final SiteGeometry geometry;
    private final int leastRows;

    Breakdowns(SiteGeometry geometry) {
        this.geometry = geometry;
        this.leastRows = Math.max(LEAST_ROWS, geometry.rank() + 1);
    }

    /** Returns the names that have several values in the window, in their order. */
    static List<String> severalIn(ClosedWindow window) {
        Map<String, String> first = new TreeMap<>();
        Map<String, String> several = new TreeMap<>();
        for (Origin origin : window.notes().origins().keySet()) {
            origin.values().forEach((name, value) -> {
                String before = first.putIfAbsent(name, value);
                if (before != null && !before.equals(value)) {
                    several.put(name, value);
                }
            });
        }
        return List.copyOf(several.keySet());
    }

    /** Returns the comparison, or null where no row of the window says a value. */
    @Nullable
    Breakdown by(String name, WindowView view) {
        ClosedWindow window = view.window();
        WindowRequests requests = view.requests();
        SampleRows head = view.sample().head();
        Matrix ofTrained = view.sample().ofTrained();
        Map<String, Long> rows = rowsOf(name, window);
        if (rows.isEmpty()) {
            return null;
        }
        List<String> shown = rows.keySet().stream()
                .sorted(Comparator.comparing((String value) -> rows.getOrDefault(value, 0L))
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .limit(Breakdown.MOST)
                .toList();
        UnaryOperator<String> shownAs = value -> shown.contains(value) ? value : Breakdown.OTHERS;
        Map<String, List<SampledRow>> sampled = new HashMap<>();
        for (SampledRow row : window.sample().rows()) {
            String value = window.notes().originOf(row.request()).value(name);
            String group = value == null ? Breakdown.UNSAID : shownAs.apply(value);
            sampled.computeIfAbsent(group, key -> new ArrayList<>()).add(row);
        }
        int enough = (int) sampled.values().stream()
                .filter(some -> some.size() >= leastRows)
                .count();
        int compared = enough < 2
                ? 0
                : sampled.values().stream()
                        .mapToInt(List::size)
                        .filter(size -> size >= leastRows)
                        .min()
                        .orElse(0);
        Map<String, Double> evidence = evidence(name, window, requests, shownAs);
        Map<String, Double> fvus = fvus(name, window, head, ofTrained, shownAs);
        Map<String, Long> groups = new LinkedHashMap<>();
        shown.forEach(value -> groups.put(value, rows.getOrDefault(value, 0L)));
        rows.forEach((value, count) -> {
            if (!shown.contains(value)) {
                groups.merge(Breakdown.OTHERS, count, Long::sum);
            }
        });
        long said = rows.values().stream().mapToLong(Long::longValue).sum();
        long all = Math.max(said, window.moment().rows() + window.masked().total());
        if (all > said) {
            groups.put(Breakdown.UNSAID, all - said);
        }
        List<OfValue> values = new ArrayList<>();
        groups.forEach((value, count) -> {
            GapAssessment measured = measured(sampled.getOrDefault(value, List.of()), compared);
            values.add(new OfValue(
                    value,
                    count,
                    (double) count / all,
                    evidence.isEmpty() ? null : evidence.getOrDefault(value, 0.0),
                    fvus.get(value),
                    number(measured, Statistic.FAITHFULNESS_GAP),
                    number(measured, Statistic.WHITENED_MEAN_SHIFT)));
        });
        return new Breakdown(name, compared, values);
    }

    private static Map<String, Long> rowsOf(String name, ClosedWindow window) {
        Map<String, Long> rows = new TreeMap<>();
        window.notes().origins().forEach((origin, counts) -> {
            String value = origin.value(name);
            if (value != null) {
                rows.merge(value, counts.rows(), Long::sum);
            }
        });
        return rows;
    }

    /** Measures the first rows of the sample: in the order of their hashes they are as uniform as all of them. */
    private @Nullable GapAssessment measured(List<SampledRow> sampled, int compared) {
        if (compared == 0 || sampled.size() < compared) {
            return null;
        }
        int d = geometry.dimension();
        Matrix rows = Matrix.zeros(compared, d);
        for (int i = 0; i < compared; i++) {
            float[] target = sampled.get(i).targetRow();
            for (int j = 0; j < d; j++) {
                rows.set(i, j, target[j]);
            }
        }
        return geometry.assess(SecondMomentAccumulator.ofDimension(d).add(rows).snapshot());
    }

    private static @Nullable Double number(@Nullable GapAssessment measured, Statistic statistic) {
        OptionalDouble value = measured == null ? OptionalDouble.empty() : measured.value(statistic);
        return value.isEmpty() ? null : Double.valueOf(value.getAsDouble());
    }

    private static Map<String, Double> evidence(
            String name, ClosedWindow window, WindowRequests requests, UnaryOperator<String> shownAs) {
        Map<String, Double> shares = new HashMap<>();
        for (RequestScores.Worst one :
                requests.of(Statistic.REQUEST_SHIFT.label()).worstFirst()) {
            String value = window.notes().originOf(one.score().request()).value(name);
            shares.merge(value == null ? Breakdown.UNSAID : shownAs.apply(value), one.share(), Double::sum);
        }
        return shares;
    }

    private static Map<String, Double> fvus(
            String name, ClosedWindow window, SampleRows head, Matrix ofTrained, UnaryOperator<String> shownAs) {
        Map<String, List<Integer>> rowsOf = new HashMap<>();
        for (int row = 0; row < head.rows(); row++) {
            String value = window.notes().originOf(head.requests()[row]).value(name);
            rowsOf.computeIfAbsent(value == null ? Breakdown.UNSAID : shownAs.apply(value), key -> new ArrayList<>())
                    .add(row);
        }
        Map<String, Double> fvus = new HashMap<>();
        rowsOf.forEach((value, rows) -> {
            double fvu = Reconstruction.between(select(ofTrained, rows), select(head.targets(), rows))
                    .fvu();
            if (Double.isFinite(fvu)) {
                fvus.put(value, fvu);
            }
        });
        return fvus;
    }

    private static Matrix select(Matrix matrix, List<Integer> rows) {
        Matrix chosen = Matrix.zeros(rows.size(), matrix.columns());
        for (int i = 0; i < rows.size(); i++) {
            System.arraycopy(
                    matrix.values(),
                    rows.get(i) * matrix.columns(),
                    chosen.values(),
                    i * matrix.columns(),
                    matrix.columns());
        }
        return chosen;
    }
}
