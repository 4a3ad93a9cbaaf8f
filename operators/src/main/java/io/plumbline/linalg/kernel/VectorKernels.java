package io.plumbline.linalg.kernel;

import java.util.List;
import java.util.function.Supplier;

/**
 * The vector kernels that this machine allows, one for each shape of tiles, what suits its registers first.
 *
 * <p>{@code jdk.incubator.vector} is a module that is there only where Java was started with {@code --add-modules}: so
 * this class and those it uses are named in a string only, see {@link UpdateKernels}.
 */
final class VectorKernels implements Supplier<List<UpdateKernel>> {

    VectorKernels() {}

    @Override
    public List<UpdateKernel> get() {
        return VectorTiles.allowed().stream()
                .<UpdateKernel>map(VectorKernel::new)
                .toList();
    }
}
