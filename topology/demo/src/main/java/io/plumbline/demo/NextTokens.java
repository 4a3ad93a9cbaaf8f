package io.plumbline.demo;

import io.plumbline.causal.heads.Logits;
import io.plumbline.causal.heads.OnnxHead;
import io.plumbline.causal.heads.RequestRows;
import io.plumbline.causal.heads.RequestStudy;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.records.ActivationBatch;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * Says what a model would say next after each token of a sentence: as it is, with the trained decoder's reconstructions
 * in place, and with the adapted one's.
 */
record NextTokens(BytePairs tokenizer, long[] tokens, Logits original, Logits trained, Logits adapted) {

    private static final int WIDTH = 16;

    /** Runs the model three times. */
    static NextTokens of(Explainer explainer, OnnxHead head, LanguageModel model, Decoder adapted, long... tokens) {
        RequestRows rows = new RequestRows(new ActivationBatch(model.activations(tokens), null, tokens), null);
        RequestStudy study = RequestStudy.of(explainer, head, rows, new double[explainer.targetWidth()]);
        return new NextTokens(
                model.tokenizer(),
                tokens,
                study.original(),
                study.patched(explainer.decoder()),
                study.patched(adapted));
    }

    void print(PrintWriter out) {
        out.printf("%nThe most likely next token after each one of a sentence, and its probability:%n");
        out.printf("%-18s %-22s %-24s %s%n", "after", "the model itself", "trained explainer", "adapted explainer");
        for (int row = 1; row < tokens.length; row++) {
            int itself = original.mostLikely(row);
            out.printf(
                    "%-18s %-22s %-24s %s%n",
                    text(tokens[row]),
                    likely(original, row),
                    likely(trained, row) + (trained.mostLikely(row) == itself ? " =" : ""),
                    likely(adapted, row) + (adapted.mostLikely(row) == itself ? " =" : ""));
        }
        out.printf(
                "= as the model itself: %d of %d through the trained explainer, %d through the adapted one%n",
                agreements(trained), tokens.length - 1, agreements(adapted));
    }

    /** Returns after how many tokens the most likely next one is the model's own. */
    int agreements(Logits logits) {
        int count = 0;
        for (int row = 1; row < tokens.length; row++) {
            count += logits.mostLikely(row) == original.mostLikely(row) ? 1 : 0;
        }
        return count;
    }

    private String likely(Logits logits, int row) {
        int token = logits.mostLikely(row);
        return String.format(Locale.ROOT, "%-" + WIDTH + "s %.2f", text(token), logits.probability(row, token));
    }

    private String text(long token) {
        String text = tokenizer.decode(token).replace("\n", "\\n").replace("\t", "\\t");
        return "'" + (text.length() > WIDTH - 2 ? text.substring(0, WIDTH - 2) : text) + "'";
    }
}
