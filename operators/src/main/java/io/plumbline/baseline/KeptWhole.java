package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.EncodedRows;
import io.plumbline.records.RequestRecord;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The whole requests kept in a baseline file; the tensors are in the table of {@link BaselineFile}. */
final class KeptWhole {

    private static final String OFFSETS = "whole_request_offsets";
    private static final String ACTIVATIONS = "whole_activations";
    private static final String TARGETS = "whole_targets";
    private static final String RESIDUAL = "whole_residual";
    private static final String TOKEN_IDS = "whole_token_ids";

    private KeptWhole() {}

    /** @param requests records of one request each, all with the same tensors */
    static void write(SafetensorsWriter writer, List<byte[]> requests) {
        if (requests.isEmpty()) {
            return;
        }
        long[] offsets = new long[requests.size() + 1];
        List<Matrix> activations = new ArrayList<>();
        List<Matrix> targets = new ArrayList<>();
        List<Matrix> residuals = new ArrayList<>();
        List<long[]> tokenIds = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            RequestRecord record = RequestRecord.parse(requests.get(i), new KnownHeaders(), null);
            ActivationBatch batch = record.batch();
            offsets[i + 1] = offsets[i] + batch.rows();
            activations.add(batch.activations());
            if (batch.targets() != null) {
                targets.add(batch.targets());
            }
            EncodedRows residual = record.residual();
            if (residual != null) {
                residuals.add(residual.toMatrix());
            }
            if (batch.tokenIds() != null) {
                tokenIds.add(batch.tokenIds());
            }
        }
        writer.addLongs(OFFSETS, offsets);
        add(writer, ACTIVATIONS, activations, requests.size());
        add(writer, TARGETS, targets, requests.size());
        add(writer, RESIDUAL, residuals, requests.size());
        if (tokenIds.size() == requests.size()) {
            writer.addLongs(
                    TOKEN_IDS, tokenIds.stream().flatMapToLong(Arrays::stream).toArray());
        }
    }

    private static void add(SafetensorsWriter writer, String name, List<Matrix> parts, int requests) {
        if (parts.size() < requests) {
            return; // not all have it
        }
        int rows = parts.stream().mapToInt(Matrix::rows).sum();
        Matrix all = Matrix.zeros(rows, parts.get(0).columns());
        int at = 0;
        for (Matrix part : parts) {
            System.arraycopy(part.values(), 0, all.values(), at, part.values().length);
            at += part.values().length;
        }
        writer.add(name, KeptRows.narrowest(all.values()), all);
    }

    /** Returns each request as a record of its own; none where the file keeps none. */
    static List<byte[]> read(String name, Safetensors tensors, int dimension) {
        if (!tensors.contains(ACTIVATIONS)) {
            return List.of();
        }
        Tensor activations = tensors.tensor(ACTIVATIONS);
        Tensor targets = tensors.contains(TARGETS) ? tensors.tensor(TARGETS) : null;
        Tensor residual = tensors.contains(RESIDUAL) ? tensors.tensor(RESIDUAL) : null;
        int rows = KeptRows.requireRows(name, activations, null, targets == null ? dimension : null);
        if (targets != null) {
            KeptRows.requireRows(name, targets, rows, dimension);
        }
        if (residual != null) {
            KeptRows.requireRows(name, residual, rows, dimension);
        }
        long[] ids = tensors.contains(TOKEN_IDS)
                ? BaselineFile.vector(name, tensors, TOKEN_IDS, rows, DType.I64).toLongs()
                : null;
        long[] offsets = KeptRows.list(name, tensors, OFFSETS);
        KeptRows.requireOffsets(name, OFFSETS, offsets.length - 1, offsets, rows);
        List<byte[]> requests = new ArrayList<>();
        for (int i = 0; i + 1 < offsets.length; i++) {
            requests.add(record(activations, targets, residual, ids, (int) offsets[i], (int) offsets[i + 1]));
        }
        return requests;
    }

    private static byte[] record(
            Tensor activations,
            @Nullable Tensor targets,
            @Nullable Tensor residual,
            long @Nullable [] ids,
            int from,
            int to) {
        SafetensorsWriter record =
                SafetensorsWriter.create().add("activations", activations.dtype(), activations.rows(from, to));
        if (targets != null) {
            record.add("targets", targets.dtype(), targets.rows(from, to));
        }
        if (residual != null) {
            record.add(RequestRecord.RESIDUAL, residual.dtype(), residual.rows(from, to));
        }
        if (ids != null) {
            record.addLongs("token_ids", Arrays.copyOfRange(ids, from, to));
        }
        return record.toBytes();
    }
}
