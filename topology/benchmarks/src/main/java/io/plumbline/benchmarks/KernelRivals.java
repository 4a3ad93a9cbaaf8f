package io.plumbline.benchmarks;

import java.util.List;

/** Other libraries' ways of doing the same. */
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

    /** Which builds these are; which are not here, and what to install: one sentence each. */
    List<String> notes();
}
