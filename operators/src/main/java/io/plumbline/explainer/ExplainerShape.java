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
 */
public record ExplainerShape(
        int inputWidth, int targetWidth, int features, boolean transcoder, int mostActive, boolean floats) {

    /** Returns the bytes that a weight of the decoder takes in memory, at most. */
    public int decoderWeightBytes() {
        return floats ? Float.BYTES : Double.BYTES;
    }

    /** Returns the bytes that a weight of the encoder takes in memory, at most: small ones are held in float64. */
    public int encoderWeightBytes() {
        return floats && (long) inputWidth * features >= LinearLayer.LEAST_FLOAT_WEIGHTS ? Float.BYTES : Double.BYTES;
    }
}
