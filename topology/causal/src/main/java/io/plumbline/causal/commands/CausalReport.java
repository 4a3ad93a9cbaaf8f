package io.plumbline.causal.commands;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.causal.heads.Interval;
import io.plumbline.causal.heads.Profile;
import io.plumbline.causal.heads.RequestBootstrap;
import io.plumbline.causal.heads.SiteStudy.Found;
import io.plumbline.causal.heads.Sums;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Figures of several decoders on the same requests, with intervals: a table or JSON. The first is the trained one. */
final class CausalReport {

    static final JsonMapper JSON = new JsonMapper();

    private final Profile profile;
    private final int width;
    private final Map<String, List<Found>> found;
    private final Map<String, RequestBootstrap> resampled = new LinkedHashMap<>();
    private final String trained;

    /** @param width of the rows that the explainer models */
    CausalReport(Profile profile, int width, Map<String, List<Found>> found) {
        this.profile = profile;
        this.width = width;
        this.found = found;
        found.forEach((name, requests) -> resampled.put(
                name, RequestBootstrap.of(requests.stream().map(Found::sums).toList())));
        trained = found.keySet().iterator().next();
    }

    private ToDoubleFunction<Sums> figure(String name) {
        return sums -> profile.value(name, sums, width);
    }

    Interval value(String decoder, String name) {
        return of(decoder).interval(figure(name));
    }

    /** Returns the figure of a decoder less that of the trained one, with both on the same resamples. */
    Interval change(String decoder, String name) {
        return of(decoder).difference(of(trained), figure(name));
    }

    private RequestBootstrap of(String decoder) {
        RequestBootstrap bootstrap = resampled.get(decoder);
        if (bootstrap == null) {
            throw new IllegalArgumentException("no decoder " + decoder);
        }
        return bootstrap;
    }

    /** Returns how many requests no feature is ablated in, since their logit hardly moves. */
    long excluded(String decoder) {
        return found.getOrDefault(decoder, List.of()).stream()
                .filter(one -> one.ablation() != null && !one.ablation().counts())
                .count();
    }

    ObjectNode json() {
        ObjectNode json = JSON.createObjectNode();
        ObjectNode undefined = JSON.createObjectNode();
        for (String decoder : found.keySet()) {
            ObjectNode figures = json.putObject(decoder);
            for (String name : profile.names()) {
                put(figures, name, value(decoder, name));
                if (!Double.isFinite(value(decoder, name).value())) {
                    undefined.put(decoder + "." + name, reason(decoder));
                }
            }
            if (profile.ablates()) {
                figures.put("excluded", excluded(decoder));
            }
            if (!decoder.equals(trained)) {
                ObjectNode changes = figures.putObject("change");
                profile.names().forEach(name -> put(changes, name, change(decoder, name)));
            }
            putRequests(figures, decoder);
        }
        json.set("undefined", undefined);
        return json;
    }

    private void putRequests(ObjectNode figures, String decoder) {
        var requests = figures.putArray("per_request");
        for (Found one : found.getOrDefault(decoder, List.of())) {
            ObjectNode request = requests.addObject();
            for (String name : profile.names()) {
                putNumber(request, name, profile.value(name, one.sums(), width));
            }
            if (one.ablation() != null) {
                request.put("target", one.ablation().target());
                request.set("top_features", JSON.valueToTree(one.ablation().ranked()));
                request.set(
                        "drops",
                        one.ablation().counts()
                                ? JSON.valueToTree(one.ablation().drops())
                                : null);
            }
        }
    }

    static void put(ObjectNode node, String name, Interval interval) {
        ObjectNode figure = node.putObject(name);
        putNumber(figure, "value", interval.value());
        var ends = figure.putArray("interval");
        if (Double.isFinite(interval.low())) {
            ends.add(interval.low()).add(interval.high());
        }
    }

    private static void putNumber(ObjectNode node, String name, double value) {
        if (Double.isFinite(value)) {
            node.put(name, value);
        } else {
            node.putNull(name);
        }
    }

    private String reason(String decoder) {
        return of(decoder).whole().get(Sums.Of.ROWS_CE) == 0.0
                ? "the requests have no token_ids, or fewer than three rows"
                : "in no request does the target's logit move by 0.1 between all features and none";
    }

    void print(PrintWriter out) {
        String row = "%-30s" + "  %-27s".repeat(found.size() == 1 ? 1 : 2 * found.size() - 1) + "%n";
        Object[] heads = new Object[found.size() == 1 ? 2 : 2 * found.size()];
        int at = 0;
        heads[at++] = "";
        for (String decoder : found.keySet()) {
            heads[at++] = decoder;
            if (!decoder.equals(trained)) {
                heads[at++] = decoder + " - " + trained;
            }
        }
        out.printf(row, heads);
        for (String name : profile.names()) {
            Object[] cells = new Object[heads.length];
            at = 0;
            cells[at++] = name;
            for (String decoder : found.keySet()) {
                cells[at++] = text(value(decoder, name));
                if (!decoder.equals(trained)) {
                    cells[at++] = text(change(decoder, name));
                }
            }
            out.printf(row, cells);
        }
    }

    static String text(@Nullable Interval interval) {
        if (interval == null || !Double.isFinite(interval.value())) {
            return "-";
        }
        String value = number(interval.value());
        return Double.isFinite(interval.low())
                ? "%s [%s, %s]".formatted(value, number(interval.low()), number(interval.high()))
                : value;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) >= 100 ? "%.1f" : "%.4f", value);
    }
}
