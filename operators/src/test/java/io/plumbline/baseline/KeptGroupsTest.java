package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.groups.KnownGroups;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptGroupsTest {

    @Test
    void aBaselineKeepsTheGroupsOfItsUnusualRequestsAndReadsThemBack(@TempDir Path folder) throws IOException {
        Baseline written = BaselineTest.build(60);
        KnownGroups groups = Objects.requireNonNull(written.groups());
        // Two by their scores, two by their lengths, one of them by both.
        assertEquals(3.0 / 60, Arrays.stream(groups.shares()).sum(), 1e-12);
        KnownGroups back =
                Objects.requireNonNull(BaselineTest.reread(folder, written).groups());
        assertEquals(groups.means(), back.means());
        assertArrayEquals(groups.shares(), back.shares());
        RequestModel model = Objects.requireNonNull(written.requests());
        assertEquals(60, model.lengths().length);
        assertArrayEquals(
                model.lengths(),
                Objects.requireNonNull(BaselineTest.reread(folder, written).requests())
                        .lengths());
    }

    @Test
    void aBaselineWithoutAModelOfRequestsHasNoGroups(@TempDir Path folder) throws IOException {
        Baseline few = BaselineTest.build(RequestModel.FEWEST_REQUESTS - 1);
        assertNull(few.groups());
        assertNull(BaselineTest.reread(folder, few).groups());
    }

    @Test
    void groupsThatDoNotFitAreRefusedInWords() {
        assertRefused("has shape [2, 3], expected [g, 2]", Matrix.zeros(2, 3), 0.1, 0.1);
        assertRefused("has shape [1], expected [2]", Matrix.identity(2), 0.1);
        assertRefused("its groups of requests: share 1 of a group is 7.0", Matrix.identity(2), 0.1, 7.0);
        assertRefused("mean 0 of a group has the length NaN", new Matrix(1, 2, new double[] {Double.NaN, 1}), 0.1);
        assertRefused("257 means", Matrix.zeros(257, 2), new double[257]);
        assertRefused("no tensor \"group_shares\"", file(Matrix.identity(2)));
        assertRefused(
                "is F32, expected F64", file(Matrix.identity(2)).addVector("group_shares", DType.F32, new double[2]));
        assertRefused(
                "has shape [4], expected [g, 2]",
                SafetensorsWriter.create()
                        .add("request_basis", DType.F64, Matrix.identity(2))
                        .addVector("group_means", DType.F64, new double[4]));
        assertRefused("expected [g, 0]", SafetensorsWriter.create().add("group_means", DType.F64, Matrix.identity(2)));
        assertRefused("expected [g, 0]", SafetensorsWriter.create().add("group_means", DType.F64, Matrix.zeros(0, 0)));
    }

    private static SafetensorsWriter file(Matrix means) {
        return SafetensorsWriter.create()
                .add("request_basis", DType.F64, Matrix.identity(2))
                .add("group_means", DType.F64, means);
    }

    private static void assertRefused(String words, Matrix means, double... shares) {
        assertRefused(words, file(means).addVector("group_shares", DType.F64, shares));
    }

    private static void assertRefused(String words, SafetensorsWriter file) {
        BaselineException refusal =
                assertThrows(BaselineException.class, () -> KeptGroups.read("here", Safetensors.parse(file.toBytes())));
        assertTrue(String.valueOf(refusal.getMessage()).contains(words), refusal::toString);
        assertTrue(String.valueOf(refusal.getMessage()).startsWith("here"), refusal::toString);
    }
}
