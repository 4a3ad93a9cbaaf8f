package io.plumbline.baseline;

import io.plumbline.baseline.RequestMeans.Mean;
import io.plumbline.groups.GroupSpace;
import io.plumbline.groups.KnownGroups;
import io.plumbline.groups.UnusualRequests;
import io.plumbline.requests.RequestTotal;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The part of a {@link BaselineFile} that says which groups the baseline's own unusual requests form. */
final class KeptGroups {

    private static final String MEANS = "group_means";
    private static final String SHARES = "group_shares";

    private KeptGroups() {}

    /**
     * Groups a baseline's requests; unusual are those with the largest cross-fitted scores, as later requests are
     * judged.
     */
    static KnownGroups of(CrossFit fit, List<Mean> requests) {
        RequestModel model = fit.model();
        GroupSpace space = model.groupSpace();
        UnusualRequests pool = UnusualRequests.of(space);
        for (Mean request : requests) {
            Double score = fit.scores().get(request.number());
            RequestTotal total = WhitenedMeans.total(model.basis(), request);
            pool.add(total, score != null && space.isUnusual(total, score));
        }
        return KnownGroups.of(pool);
    }

    static void write(SafetensorsWriter writer, @Nullable KnownGroups groups) {
        if (groups != null) {
            writer.add(MEANS, DType.F64, groups.means()).addVector(SHARES, DType.F64, groups.shares());
        }
    }

    /** Reads the groups; null where the file has none, or no model of requests. */
    static @Nullable KnownGroups read(String name, Safetensors tensors) {
        if (!tensors.contains(MEANS)) {
            return null;
        }
        int components = KeptRequests.components(tensors);
        Tensor means = BaselineFile.tensor(name, tensors, MEANS, DType.F64);
        if (means.shape().size() != 2 || means.shape().get(1) != components || components == 0) {
            throw new BaselineException("%s: tensor \"%s\" has shape %s, expected [g, %d] as \"request_basis\" has rows"
                    .formatted(name, MEANS, means.shape(), components));
        }
        try {
            return new KnownGroups(
                    means.toMatrix(),
                    BaselineFile.vector(name, tensors, SHARES, means.size(0), DType.F64)
                            .toDoubles());
        } catch (IllegalArgumentException refused) {
            throw new BaselineException("%s: its groups of requests: %s".formatted(name, refused.getMessage()));
        }
    }
}
