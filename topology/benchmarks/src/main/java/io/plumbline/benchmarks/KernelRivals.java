package io.plumbline.benchmarks;

import java.util.List;

/** Computes the same by other libraries. */
interface KernelRivals {

    String DSYRK = "OpenBLAS dsyrk, float64 moment";
    String SSYRK = "OpenBLAS ssyrk, float32 moment";
    String SGEMM = "OpenBLAS sgemm";
    String DSYEVR = "OpenBLAS dsyevr";
    String OJALGO = "ojAlgo";
    String COMMONS_MATH = "Commons Math";

    /**
     * Returns the rivals for which the case is not too large to wait for. They use no more threads than {@link
     * KernelCase#threads},
     * which is set before each run; what they need is laid out before this returns, as they are fastest with it.
     */
    List<Variant> variants(KernelCase work);

    /** Returns one sentence for each build that was measured, and for each that is not here what to install. */
    List<String> notes();
}
