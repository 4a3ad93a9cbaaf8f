package io.plumbline.moments;

import java.util.Arrays;
import java.util.List;

class SecondMomentLawsTest extends MergeableLaws<SecondMomentAccumulator> {

    @Override
    SecondMomentAccumulator empty() {
        return SecondMomentAccumulator.ofDimension(DIMENSION);
    }

    @Override
    void add(SecondMomentAccumulator accumulator, Batch batch) {
        accumulator.add(batch.rows());
    }

    @Override
    void merge(SecondMomentAccumulator accumulator, SecondMomentAccumulator other) {
        accumulator.merge(other);
    }

    @Override
    Object snapshot(SecondMomentAccumulator accumulator) {
        SecondMoment moment = accumulator.snapshot();
        return List.of(moment.rows(), Arrays.stream(moment.state()).boxed().toList());
    }
}
