package io.plumbline.causal.heads;

import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.records.RequestRecord;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Measures what the trained decoder makes of the clean windows of a recording, as a service would: on a uniform sample
 * of each window's whole requests.
 *
 * <p><b>Cost.</b> Three runs of the head for each request that some window asks for, once. <b>Size.</b> Some hundred
 * bytes a request. Not thread-safe.
 */
public final class CleanRequestsStudy {

    private final Explainer explainer;
    private final Head head;
    private final SiteStudy.Requests requests;
    private final int most;
    private final Map<Integer, Optional<Sums>> known = new HashMap<>();

    /** @param most requests of a window that are run, and that are kept whole, at least 1 */
    public CleanRequestsStudy(Explainer explainer, Head head, SiteStudy.Requests requests, int most) {
        this.explainer = explainer;
        this.head = head;
        this.requests = requests;
        this.most = most;
    }

    /**
     * Returns the figures of a window of these requests, without those that are undefined.
     *
     * @throws HeadException when the head gives no usable answer
     * @throws IllegalArgumentException when a request has a token that the head does not know; the message names it
     */
    public Map<Statistic, Double> of(List<Integer> places) {
        Sums.Builder window = new Sums.Builder();
        int run = 0;
        for (int place : sampled(places)) {
            if (run == most) {
                break;
            }
            Optional<Sums> sums = sums(place);
            if (sums.isPresent()) {
                window.add(sums.get());
                run++;
            }
        }
        return run == 0 ? Map.of() : WindowMetrics.of(window.build());
    }

    /** Returns a uniform sample of the requests, each as a record, of at most so many bytes together. */
    public List<byte[]> sample(long mostBytes) {
        List<byte[]> records = new ArrayList<>();
        long bytes = 0;
        for (int place : sampled(IntStream.range(0, requests.count()).boxed().toList())) {
            RequestRows request = requests.request(place);
            if (records.size() == most || bytes > mostBytes) {
                break;
            }
            if (request.rows() > 1) {
                byte[] record = record(request);
                bytes += record.length;
                if (bytes <= mostBytes) {
                    records.add(record);
                }
            }
        }
        return records;
    }

    /** Returns these places in an order of chance that is the same every time. */
    private static List<Integer> sampled(List<Integer> places) {
        return places.stream()
                .sorted(Comparator.comparingLong(place -> RowSample.requestHash(Integer.toString(place))))
                .toList();
    }

    /** Returns the sums of a request, or nothing for one of one row, which says nothing. */
    private Optional<Sums> sums(int place) {
        return known.computeIfAbsent(place, unknown -> {
            RequestRows rows = requests.request(place);
            return rows.rows() < 2 ? Optional.empty() : Optional.of(measured(place, rows));
        });
    }

    private Sums measured(int place, RequestRows rows) {
        try {
            return RequestStudy.of(explainer, head, rows, new double[explainer.targetWidth()])
                    .sequence(explainer.decoder());
        } catch (HeadException failed) {
            throw new HeadException(failed.fault(), "request %d: %s".formatted(place, failed.getMessage()), failed);
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException("request %d: %s".formatted(place, refused.getMessage()), refused);
        }
    }

    private static byte[] record(RequestRows request) {
        SafetensorsWriter record = SafetensorsWriter.create()
                .add("activations", DType.F32, request.batch().activations());
        Matrix targets = request.batch().targets();
        if (targets != null) {
            record.add("targets", DType.F32, targets);
        }
        long[] ids = request.batch().tokenIds();
        if (ids != null) {
            record.addLongs("token_ids", ids);
        }
        Matrix residual = request.residual();
        if (residual != null) {
            record.add(RequestRecord.RESIDUAL, DType.F32, residual);
        }
        return record.toBytes();
    }
}
