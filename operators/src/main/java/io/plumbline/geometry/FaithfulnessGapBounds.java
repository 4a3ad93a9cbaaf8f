package io.plumbline.geometry;

/**
 * Two-sided bounds of the faithfulness gap {@code ‖Π_OOD − Π‖_F} from the window's spectrum and the energy the
 * reference projector Π loses in excess: {@code √(2 F⁻¹(ex)) <= Δ <= √(2 f⁻¹(ex))} with the exchange costs f and F of
 * {@code ExchangeCosts} (water filling; this project's, not the paper's).
 *
 * <p>Valid for any Π of rank r, with no assumption on the eigengap; finite when that goes to 0. On real activations
 * typically 1.1 to 2.6 times the true gap, where every bound linear in {@code 1/γ} is vacuous.
 *
 * <p>Where only the leading eigenpairs of the window are known, with their bounds in the place of eigenvalues: as
 * valid, a little wider.
 *
 * @param vacuous whether the upper one says nothing: it equals the largest possible gap
 */
public record FaithfulnessGapBounds(double lower, double upper, boolean vacuous) {

    /**
     * Returns the bounds where {@code energy} holds the losses of the reference projector under the moment of
     * {@code window}.
     */
    public static FaithfulnessGapBounds of(ActiveSubspace window, EnergyTerms energy) {
        int rank = window.rank();
        double excess = energy.explainerDependent();
        double excessAtMost = excess;
        for (int i = 0; i < rank; i++) {
            excessAtMost += window.atMost()[i] - window.atLeast()[i];
        }
        double lower = ExchangeCosts.dearestFirst(window.atMost(), window.atLeast(), rank)
                .smallestExchange(excess);
        double upper = ExchangeCosts.cheapestFirst(window.atLeast(), window.atMost(), rank)
                .largestExchange(excessAtMost);
        GapBound bound = GapBound.of(Math.sqrt(2.0 * upper), FaithfulnessGap.largest(rank, window.dimension()));
        return new FaithfulnessGapBounds(Math.sqrt(2.0 * lower), bound.value(), bound.vacuous());
    }
}
