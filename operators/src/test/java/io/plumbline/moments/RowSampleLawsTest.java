package io.plumbline.moments;

import java.util.List;

class RowSampleLawsTest extends MergeableLaws<RowSample> {

    @Override
    public RowSample empty() {
        return RowSample.ofCapacity(16);
    }

    @Override
    public void add(RowSample sample, Batch batch) {
        for (int i = 0; i < batch.rows().rows(); i++) {
            float[] activation = new float[DIMENSION];
            for (int j = 0; j < DIMENSION; j++) {
                activation[j] = (float) batch.rows().get(i, j);
            }
            int place = batch.firstRow() + i;
            sample.offer(
                    RowSample.hash(RowSample.requestHash("record " + place / 8), place % 8),
                    place / 8,
                    place / 8,
                    activation,
                    null);
        }
    }

    @Override
    public void merge(RowSample sample, RowSample other) {
        sample.merge(other);
    }

    @Override
    public Object snapshot(RowSample sample) {
        return sample.rows().stream()
                .map(row -> List.of(row.hash(), row.request(), List.of(boxed(row.activation()))))
                .toList();
    }

    private static Float[] boxed(float[] values) {
        Float[] boxed = new Float[values.length];
        for (int i = 0; i < values.length; i++) {
            boxed[i] = values[i];
        }
        return boxed;
    }
}
