package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class ChildProcessTest {

    /** Tests refits beside a monitor of 256 bits: they had vectors of 512, and on ARM objects in place of vectors. */
    @Test
    void whatRunsBesideHasTheVectorsOfThisProcess() {
        assertEquals(
                List.of("-XX:UseSVE=0", "-XX:UseAVX=2", "-XX:MaxVectorSize=32"),
                ChildProcess.vectorOptions(List.of(
                        "--add-modules=jdk.incubator.vector",
                        "-XX:UseSVE=0",
                        "-XX:G1HeapRegionSize=8m",
                        "-XX:UseAVX=2",
                        "-XX:MaxVectorSize=32",
                        "-Xmx4g")));
    }
}
