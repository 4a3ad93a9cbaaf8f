package io.plumbline.explainer.formats;

import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;
import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorFile;
import java.util.List;

/**
 * Reads weights of a file's tensors: of a float type, in the shape expected, and finite, or they are refused by name
 * and place.
 */
final class WeightTensors {

    private WeightTensors() {}

    /** Reads a matrix as {@code rows x columns} from a tensor of that shape or of its transpose. */
    static Matrix matrix(Tensor tensor, int rows, int columns, String meaning) {
        boolean asStored = isAsStored(tensor, rows, columns, meaning);
        Matrix read = asItLies(tensor);
        return asStored ? read : read.transpose();
    }

    /** Reads a matrix in the orientation of the file. */
    static Matrix asItLies(Tensor tensor) {
        return finite(tensor, tensor.toMatrix());
    }

    /** Reads a matrix as {@link #matrix} does, in half the memory where its values are floats. */
    static Weights weights(Tensor tensor, int rows, int columns, String meaning) {
        boolean asStored = isAsStored(tensor, rows, columns, meaning);
        Weights read = weightsAsTheyLie(tensor);
        return asStored ? read : read.transpose();
    }

    /** Reads a matrix in the orientation of the file, in half the memory where its values are floats. */
    static Weights weightsAsTheyLie(Tensor tensor) {
        requireFloatingPoint(tensor);
        Weights read = tensor.toWeights();
        int at = read.firstNotFinite();
        if (at >= 0) {
            int row = at / read.columns();
            requireFinite(tensor, row, at % read.columns(), read.get(row, at % read.columns()));
        }
        return read;
    }

    /** Returns whether a tensor is of this shape; false: of its transpose. Anything else is refused. */
    static boolean isAsStored(Tensor tensor, int rows, int columns, String meaning) {
        if (tensor.shape().equals(List.of((long) rows, (long) columns))) {
            return true;
        }
        if (tensor.shape().equals(List.of((long) columns, (long) rows))) {
            return false;
        }
        throw new ExplainerFormatException("tensor \"%s\": shape %s, expected [%d, %d] (%s) or its transpose"
                .formatted(tensor.name(), tensor.shape(), rows, columns, meaning));
    }

    static double[] vector(Tensor tensor, int length, String meaning) {
        if (!tensor.shape().equals(List.of((long) length))) {
            throw new ExplainerFormatException("tensor \"%s\": shape %s, expected [%d] (%s)"
                    .formatted(tensor.name(), tensor.shape(), length, meaning));
        }
        return finite(tensor, tensor.toMatrix()).values();
    }

    /** Returns the one value of a tensor without dimensions, or of one. */
    static double scalar(TensorFile tensors, String name) {
        Tensor tensor = tensors.tensor(name);
        double[] values = tensor.shape().stream().allMatch(size -> size == 1) ? tensor.toDoubles() : new double[0];
        if (values.length != 1 || !Double.isFinite(values[0])) {
            throw new ExplainerFormatException(
                    "tensor \"%s\": shape %s, expected one finite number".formatted(name, tensor.shape()));
        }
        return values[0];
    }

    /** Returns the size of one dimension of a tensor that must have so many. */
    static int size(TensorFile tensors, String name, int dimensions, int dimension) {
        Tensor tensor = tensors.tensor(name);
        if (tensor.shape().size() != dimensions || tensor.size(dimension) < 1) {
            throw new ExplainerFormatException("tensor \"%s\": shape %s, expected %d dimensions of at least 1"
                    .formatted(name, tensor.shape(), dimensions));
        }
        return tensor.size(dimension);
    }

    static boolean isDouble(TensorFile tensors, String name) {
        return tensors.contains(name) && tensors.tensor(name).dtype() == DType.F64;
    }

    private static Matrix finite(Tensor tensor, Matrix values) {
        requireFloatingPoint(tensor);
        double[] all = values.values();
        for (int i = 0; i < all.length; i++) {
            // Its place is worked out, by divisions, only where there is something to say.
            if (!Double.isFinite(all[i])) {
                requireFinite(tensor, i / values.columns(), i % values.columns(), all[i]);
            }
        }
        return values;
    }

    private static void requireFloatingPoint(Tensor tensor) {
        if (!tensor.dtype().isFloatingPoint()) {
            throw new ExplainerFormatException(
                    "tensor \"%s\": dtype %s, expected F64, F32, F16 or BF16".formatted(tensor.name(), tensor.dtype()));
        }
    }

    private static void requireFinite(Tensor tensor, int row, int column, double value) {
        if (!Double.isFinite(value)) {
            throw new ExplainerFormatException("tensor \"%s\": row %d, column %d is %s; expected finite weights"
                    .formatted(tensor.name(), row, column, value));
        }
    }
}
