package io.plumbline.explainer;

/**
 * Keeps the largest pre-activation {@code W_enc x + b_enc} of each group of consecutive features, where it is above 0;
 * of equal ones that of the lower index. All groups are of one size.
 */
public final class GroupMaxEncoder extends LayerEncoder {

    private final int groups;

    public GroupMaxEncoder(LinearLayer layer, int groups) {
        super(layer);
        if (groups < 1 || layer.features() % groups != 0) {
            throw new IllegalArgumentException(
                    "%d features cannot be split into %d groups of one size".formatted(layer.features(), groups));
        }
        this.groups = groups;
    }

    @Override
    CodeSelection selection(int rows) {
        return new LargestOfGroup(rows);
    }

    private final class LargestOfGroup implements CodeSelection {

        private final int groupSize = features() / groups;

        /** Feature and value of the largest code so far, row by group. */
        private final int[] feature;

        private final double[] value;

        LargestOfGroup(int rows) {
            feature = new int[Math.multiplyExact(rows, groups)];
            value = new double[feature.length];
        }

        @Override
        public double level(int row) {
            return 0.0;
        }

        @Override
        public void take(int row, int first, double[] preActivations, int at, int count) {
            for (int j = 0; j < count; j++) {
                int group = row * groups + (first + j) / groupSize;
                if (preActivations[at + j] > value[group]) {
                    value[group] = preActivations[at + j];
                    feature[group] = first + j;
                }
            }
        }

        @Override
        public void finish(int row, SparseCodes.Builder codes) {
            for (int group = row * groups; group < (row + 1) * groups; group++) {
                codes.add(feature[group], value[group]);
            }
            codes.endRow();
        }
    }
}
