package io.plumbline.explainer;

/**
 * The sizes of an explainer, known before its weights are read.
 *
 * @param inputWidth width of the rows the encoder reads
 * @param targetWidth width of the rows the decoder writes
 * @param features size of the dictionary
 * @param transcoder whether batches bring targets of their own
 * @param mostActive how many features of a row can be active: k where the encoder keeps the k largest, else all
 * @param floats whether the weights are floats for certain: stored as F32, F16 or BF16
 * @param encoderLayers how many layers the encoder has, each of whose features reads its own layer of the rows alone
 */
public record ExplainerShape(
        int inputWidth,
        int targetWidth,
        int features,
        boolean transcoder,
        int mostActive,
        boolean floats,
        int encoderLayers) {

    /** Makes the shape of an explainer each of whose features reads whole rows. */
    public ExplainerShape(
            int inputWidth, int targetWidth, int features, boolean transcoder, int mostActive, boolean floats) {
        this(inputWidth, targetWidth, features, transcoder, mostActive, floats, 1);
    }

    /** Returns this shape with an encoder of so many layers, each of whose features reads rows of its own layer. */
    public ExplainerShape ofLayers(int layers) {
        return new ExplainerShape(inputWidth, targetWidth, features, transcoder, mostActive, floats, layers);
    }

    /** Returns the weights of the encoder, of all its layers. */
    public long encoderWeights() {
        return (long) inputWidth * features / encoderLayers;
    }

    /** Returns the bytes of all weights in memory, at most; while they are read more is needed. */
    public long weightBytes() {
        return (floats ? 1 : Double.BYTES / Float.BYTES) * floatBytes();
    }

    /** Returns the bytes of all weights as floats: with less memory none of their arrays can be read. */
    public long floatBytes() {
        return Float.BYTES * (encoderWeights() + (long) features * targetWidth);
    }

    /** Returns the bytes that a weight of the decoder takes in memory, at most. */
    public int decoderWeightBytes() {
        return floats ? Float.BYTES : Double.BYTES;
    }

    /** Returns the bytes that a weight of the encoder takes in memory, at most: small layers are held in float64. */
    public int encoderWeightBytes() {
        return floats && encoderWeights() / encoderLayers >= LinearLayer.LEAST_FLOAT_WEIGHTS
                ? Float.BYTES
                : Double.BYTES;
    }
}
