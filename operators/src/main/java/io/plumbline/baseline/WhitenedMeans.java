package io.plumbline.baseline;

import io.plumbline.baseline.RequestMeans.Mean;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.OrthonormalRows;
import io.plumbline.requests.RequestTotal;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Location and precision of the means of requests, in few components.
 *
 * <p>A request g of {@code n_g} rows has the mean {@code x_g} and the weight {@code w_g = min(1, n_g / n0)}, n0 rows
 * being usual; its deviation is {@code r_g = sqrt(w_g) (x_g - m)} with the weighted mean m. The covariance of the
 * deviations is shrunk towards a multiple of the identity, {@code (1 - rho) S + rho mu I}, by the formula of Ledoit and
 * Wolf (A well-conditioned estimator for large-dimensional covariance matrices, Journal of Multivariate Analysis 88,
 * 2004).
 *
 * <p>The squared length of a deviation under its inverse is not taken in all d directions. A quarter of the p
 * components are the leading eigenvectors. The others are random directions of the complement, a sketch: there the mean
 * shrunk eigenvalue stands for each, and the squared length is scaled up from the directions drawn to all. Where
 * {@code d <= p} all eigenvectors are taken. The leading p eigenvectors alone leave out the directions in which clean
 * requests hardly differ, and foreign ones do: on recorded activations (d = 384, p = 128, 10 % of 17 requests foreign)
 * they found 64 % of windows, the sketch 75 to 79 %, all 384 directions 75 %.
 *
 * <p><b>Cost.</b> {@code B d^2} flops for B requests and one leading eigenspace of a d x d matrix. <b>Size.</b>
 * {@code 8 p d} bytes.
 *
 * @param basis p x d; rows are scaled so that the deviations of clean requests have about unit variance along each
 * @param location {@code basis m}, p numbers
 */
record WhitenedMeans(Matrix basis, double[] location) {

    private static final int LEADING_SHARE = 4;

    /** The number of requests for each leading direction that is used. */
    private static final int REQUESTS_PER_DIRECTION = 4;

    private static final long SEED = 20_040_201L;

    /** The share of the mean eigenvalue below which none is believed. */
    private static final double LEAST_EIGENVALUE = 1e-9;

    /**
     * Fits requests.
     *
     * @param usualRows n0
     * @param components p at most; d where that is less
     * @return null where their means do not differ
     */
    static @Nullable WhitenedMeans of(List<Mean> requests, double usualRows, int components) {
        int d = requests.get(0).mean().length;
        double[] centre = centre(requests, usualRows);
        Matrix deviations = Matrix.zeros(requests.size(), d);
        for (int g = 0; g < requests.size(); g++) {
            Mean request = requests.get(g);
            double root = Math.sqrt(weight(request.rows(), usualRows));
            for (int j = 0; j < d; j++) {
                deviations.values()[g * d + j] = root * (request.mean()[j] - centre[j]);
            }
        }
        Matrix covariance = Kernels.transposeMultiply(deviations, deviations);
        for (int i = 0; i < covariance.values().length; i++) {
            covariance.values()[i] /= requests.size();
        }
        double mean = covariance.trace() / d;
        if (!(mean > 0.0) || !Double.isFinite(mean)) {
            return null;
        }
        double shrinkage = shrinkage(deviations, covariance, mean);
        int p = Math.min(components, d);
        int leading = p == d ? d : Math.max(1, Math.min(p / LEADING_SHARE, requests.size() / REQUESTS_PER_DIRECTION));
        ActiveSubspace eigen = ActiveSubspace.leadingOnly(covariance, leading, null);
        Matrix basis = Matrix.zeros(p, d);
        double left = covariance.trace();
        Matrix directions = eigen.subspace().basis().transpose();
        for (int i = 0; i < leading; i++) {
            left -= eigen.eigenvalue(i + 1);
            double shrunk = shrunk(eigen.eigenvalue(i + 1), shrinkage, mean);
            Kernels.addScaled(1.0 / Math.sqrt(shrunk), directions.values(), i * d, basis.values(), i * d, d);
        }
        if (p > leading) {
            Matrix sketch = sketch(p - leading, directions);
            double shrunk = shrunk(Math.max(0.0, left) / (d - leading), shrinkage, mean);
            double scale = Math.sqrt((double) (d - leading) / (p - leading) / shrunk);
            Kernels.addScaled(scale, sketch.values(), 0, basis.values(), leading * d, (p - leading) * d);
        }
        return new WhitenedMeans(basis, product(basis, centre));
    }

    /**
     * Returns {@code min(1, n / n0)}: a mean of few rows varies more, and what more of it is noise is at most this
     * much.
     */
    static double weight(long rows, double usualRows) {
        return Math.min(1.0, rows / usualRows);
    }

    /** Returns {@code w |basis x - location|^2}. */
    static double score(double[] projected, double[] location, double weight) {
        double sum = 0.0;
        for (int i = 0; i < location.length; i++) {
            double distance = projected[i] - location[i];
            sum += distance * distance;
        }
        return weight * sum;
    }

    double score(Mean request, double usualRows) {
        return score(product(basis, request.mean()), location, weight(request.rows(), usualRows));
    }

    private static double[] centre(List<Mean> requests, double usualRows) {
        double[] centre = new double[requests.get(0).mean().length];
        double weights = 0.0;
        for (Mean request : requests) {
            double weight = weight(request.rows(), usualRows);
            weights += weight;
            for (int j = 0; j < centre.length; j++) {
                centre[j] += weight * request.mean()[j];
            }
        }
        for (int j = 0; j < centre.length; j++) {
            centre[j] /= weights;
        }
        return centre;
    }

    /** Returns {@code rho = min(1, b^2 / d^2)} in the notation of Ledoit and Wolf. */
    private static double shrinkage(Matrix deviations, Matrix covariance, double mean) {
        int n = deviations.rows();
        int d = deviations.columns();
        double norm = covariance.frobeniusNorm();
        double fourth = 0.0;
        for (int g = 0; g < n; g++) {
            double squared = Kernels.dot(deviations.values(), g * d, deviations.values(), g * d, d);
            fourth += squared * squared;
        }
        double distance = norm * norm / d - mean * mean;
        double error = Math.max(0.0, (fourth / n - norm * norm) / n / d);
        return error < distance ? error / distance : 1.0;
    }

    private static double shrunk(double eigenvalue, double shrinkage, double mean) {
        return Math.max(LEAST_EIGENVALUE * mean, (1.0 - shrinkage) * eigenvalue + shrinkage * mean);
    }

    private static Matrix sketch(int directions, Matrix leading) {
        Random random = new Random(SEED);
        Matrix gaussian = Matrix.zeros(directions, leading.columns());
        for (int i = 0; i < gaussian.values().length; i++) {
            gaussian.values()[i] = random.nextGaussian();
        }
        return OrthonormalRows.of(gaussian, leading, random);
    }

    /** Returns a request's sum of rows under a basis. */
    static RequestTotal total(Matrix basis, Mean request) {
        double[] sum = product(basis, request.mean());
        for (int i = 0; i < sum.length; i++) {
            sum[i] *= request.rows();
        }
        return new RequestTotal(request.number(), null, request.rows(), sum);
    }

    static double[] product(Matrix basis, double[] x) {
        double[] product = new double[basis.rows()];
        for (int i = 0; i < product.length; i++) {
            product[i] = Kernels.dot(basis.values(), i * x.length, x, 0, x.length);
        }
        return product;
    }
}
