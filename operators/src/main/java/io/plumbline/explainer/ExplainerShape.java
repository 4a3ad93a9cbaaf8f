package io.plumbline.explainer;

/**
 * The sizes of an explainer, known before its weights are read.
 *
 * @param inputWidth width of the rows the encoder reads
 * @param targetWidth width of the rows the decoder writes
 * @param features size of the dictionary
 * @param transcoder whether batches bring targets of their own
 * @param mostActive how many features of a row can be active: k where the encoder keeps the k largest, else all
 */
public record ExplainerShape(int inputWidth, int targetWidth, int features, boolean transcoder, int mostActive) {}
