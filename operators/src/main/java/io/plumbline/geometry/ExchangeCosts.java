package io.plumbline.geometry;

/**
 * The least (or most) energy that a projector of rank r can lose when an amount S of it leaves the leading eigenspace.
 *
 * <p>Let a projector differ from the leading one by {@code Δ² = 2S}: it gives up a total weight S of the leading
 * directions and takes up as much of the others. The cheapest exchange trades eigenvalue r for r+1 first, then r−1 for
 * r+2, and so on, each pair for at most one unit: {@code f(S) = ∫₀^S (λ_{r−⌊t⌋} − λ_{r+1+⌊t⌋}) dt}, convex and
 * piecewise linear on {@code [0, min(r, d−r)]}. The dearest trades {@code λ_1} for {@code λ_d} first: concave.
 */
final class ExchangeCosts {

    private final double[] costs;

    private ExchangeCosts(double[] costs) {
        this.costs = costs;
    }

    /** Returns the function f from all d eigenvalues, descending. */
    static ExchangeCosts cheapestFirst(double[] eigenvalues, int rank) {
        return cheapestFirst(eigenvalues, eigenvalues, rank);
    }

    /** Returns a function no more than f, from lower and upper bounds of the eigenvalues, each descending. */
    static ExchangeCosts cheapestFirst(double[] atLeast, double[] atMost, int rank) {
        double[] costs = new double[Math.min(rank, atLeast.length - rank)];
        for (int j = 0; j < costs.length; j++) {
            costs[j] = Math.max(0.0, atLeast[rank - 1 - j] - atMost[rank + j]);
        }
        return new ExchangeCosts(costs);
    }

    /** Returns a function no less than F, from upper and lower bounds of all d eigenvalues, each descending. */
    static ExchangeCosts dearestFirst(double[] atMost, double[] atLeast, int rank) {
        double[] costs = new double[Math.min(rank, atLeast.length - rank)];
        for (int j = 0; j < costs.length; j++) {
            costs[j] = atMost[j] - atLeast[atLeast.length - 1 - j];
        }
        return new ExchangeCosts(costs);
    }

    ExchangeCosts plus(ExchangeCosts other) {
        double[] sum = costs.clone();
        for (int j = 0; j < sum.length; j++) {
            sum[j] += other.costs[j];
        }
        return new ExchangeCosts(sum);
    }

    /** The largest S that costs no more than {@code energy}: the inverse of f, or all there is to exchange. */
    double largestExchange(double energy) {
        double spent = 0.0;
        for (int j = 0; j < costs.length; j++) {
            if (spent + costs[j] > energy) {
                return j + (energy - spent) / costs[j];
            }
            spent += costs[j];
        }
        return costs.length;
    }

    /** The smallest S that can cost as much as {@code energy}: the inverse of F. */
    double smallestExchange(double energy) {
        double spent = 0.0;
        for (int j = 0; j < costs.length; j++) {
            if (costs[j] <= 0.0) {
                return j;
            }
            if (spent + costs[j] >= energy) {
                return j + (energy - spent) / costs[j];
            }
            spent += costs[j];
        }
        return costs.length;
    }

    /**
     * The largest S with {@code f(S) <= slope √S}. {@code f(S) − slope √S} is convex and 0 at 0, so it is not positive
     * up to S and positive after; in the piece where it changes sign it is a quadratic in {@code √S}, solved in closed
     * form.
     */
    double largestBelowRoot(double slope) {
        double spent = 0.0;
        for (int j = 0; j < costs.length; j++) {
            double cost = costs[j];
            if (spent + cost > slope * Math.sqrt(j + 1.0)) {
                // cost S − slope √S + (spent − cost j) = 0, the larger root in √S. spent <= cost j by convexity, so
                // the constant is not positive and nothing cancels.
                double root = (slope + Math.sqrt(slope * slope + 4.0 * cost * (cost * j - spent))) / (2.0 * cost);
                return root * root;
            }
            spent += cost;
        }
        return costs.length;
    }
}
