package io.plumbline.refit;

import io.plumbline.linalg.Matrix;

/** Solutions of which only products with narrow matrices are kept. */
interface ProductsOnly extends Solutions {

    @Override
    default Matrix targets() {
        throw noWhole();
    }

    @Override
    default Matrix trained() {
        throw noWhole();
    }

    @Override
    default Matrix residual() {
        throw noWhole();
    }

    private static IllegalStateException noWhole() {
        return new IllegalStateException("of this level only products were kept");
    }
}
