package io.plumbline.causal.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.causal.heads.Attribution;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Direct logit attribution of one request's features, for each decoder. */
record AttributionReport(
        int request,
        int target,
        List<Integer> classTokens,
        List<Integer> controlTokens,
        Map<String, Attribution> found) {

    ObjectNode json() {
        ObjectNode json = CausalReport.JSON.createObjectNode();
        json.put("request", request).put("target", target);
        json.set("class_tokens", CausalReport.JSON.valueToTree(classTokens));
        json.set("control_tokens", CausalReport.JSON.valueToTree(controlTokens));
        found.forEach((name, attribution) -> {
            ObjectNode one = json.putObject(name);
            one.set("features", CausalReport.JSON.valueToTree(attribution.features()));
            one.set("activations", CausalReport.JSON.valueToTree(attribution.activations()));
            one.set("dla_target", CausalReport.JSON.valueToTree(attribution.toTarget()));
            one.set("dla_class", CausalReport.JSON.valueToTree(attribution.toClass()));
            one.set("dla_control", CausalReport.JSON.valueToTree(attribution.toControl()));
            one.set("specificity", CausalReport.JSON.valueToTree(attribution.specificity()));
            one.put("class_specificity", attribution.classSpecificity());
        });
        return json;
    }

    void print(PrintWriter out) {
        out.printf(
                "request %d predicts token %d; %d tokens of its class, %d controls%n",
                request, target, classTokens.size(), controlTokens.size());
        out.printf("%-12s  %10s  %12s  %12s  %12s%n", "decoder", "feature", "activation", "to target", "specificity");
        found.forEach((name, attribution) -> {
            for (int i = 0; i < attribution.features().size(); i++) {
                out.printf(
                        Locale.ROOT,
                        "%-12s  %10d  %12.4f  %12.4f  %12.4f%n",
                        name,
                        attribution.features().get(i),
                        attribution.activations()[i],
                        attribution.toTarget()[i],
                        attribution.specificity()[i]);
            }
            out.printf(Locale.ROOT, "%-12s  class specificity %.4f%n", name, attribution.classSpecificity());
        });
    }
}
