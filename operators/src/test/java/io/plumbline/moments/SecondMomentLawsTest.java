package io.plumbline.moments;

import java.util.Arrays;
import java.util.List;

class SecondMomentLawsTest extends MergeableLaws<SecondMomentAccumulator> {

    @Override
    public SecondMomentAccumulator empty() {
        return SecondMomentAccumulator.ofDimension(DIMENSION);
    }

    @Override
    public void add(SecondMomentAccumulator accumulator, Batch batch) {
        accumulator.add(batch.rows());
    }

    @Override
    public void merge(SecondMomentAccumulator accumulator, SecondMomentAccumulator other) {
        accumulator.merge(other);
    }

    @Override
    public Object snapshot(SecondMomentAccumulator accumulator) {
        SecondMoment moment = accumulator.snapshot();
        return List.of(moment.rows(), Arrays.stream(moment.state()).boxed().toList());
    }
}
