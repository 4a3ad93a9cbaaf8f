package io.plumbline.linalg.kernel;

import java.lang.reflect.InvocationTargetException;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the {@link UpdateKernel} of this process by a fixed rule, so that the last bits of a sum are the same on
 * every start of the same machine.
 *
 * <p>The vector kernel is taken where the module {@value #MODULE} is there and the processor's vectors have a width
 * that it is fast with, see {@link VectorTiles#of}; otherwise the plain loops are taken. The system property
 * {@value #PROPERTY} forces one of the two. Nothing is timed: a Java without its optimising compiler, in which vectors
 * are objects, needs the property.
 */
public final class UpdateKernels {

    /** {@code plain} or {@code vector}; without it the processor decides. */
    public static final String PROPERTY = "plumbline.kernel";

    static final String MODULE = "jdk.incubator.vector";

    static final String PLAIN = "plain";
    static final String VECTOR = "vector";

    private static final UpdateKernel PLAIN_KERNEL = new PlainKernel();

    /** The name of the class of the vector kernel and not the class: without the module it cannot be loaded. */
    private static final String VECTOR_KERNEL = "io.plumbline.linalg.kernel.VectorKernel";

    /** Written by whoever asks first; threads that ask at the same time choose the same. */
    private static volatile @Nullable Choice standing;

    private UpdateKernels() {}

    /**
     * @param reason why this one, in one sentence
     * @param lost whether the faster one was wanted and cannot be had: somebody should be told the reason
     */
    public record Choice(UpdateKernel kernel, String reason, boolean lost) {}

    /**
     * Returns the kernel of this process and why.
     *
     * @throws IllegalStateException if {@value #PROPERTY} asks for what is not there
     */
    public static Choice chosen() {
        Choice known = standing;
        if (known == null) {
            known = choose(System.getProperty(PROPERTY));
            standing = known;
        }
        return known;
    }

    /** Returns the plain loops, which are there everywhere. */
    public static UpdateKernel plain() {
        return PLAIN_KERNEL;
    }

    /** Returns the kernel of this process. */
    public static UpdateKernel kernel() {
        return chosen().kernel();
    }

    /**
     * Returns the plain or the vector kernel.
     *
     * @throws IllegalStateException if it cannot be had
     */
    static UpdateKernel named(String name) {
        return choose(name).kernel();
    }

    static Choice choose(@Nullable String wish) {
        if (wish != null && !wish.equals(PLAIN) && !wish.equals(VECTOR)) {
            throw new IllegalStateException("-D%s=%s: expected %s or %s, or nothing for what suits the processor"
                    .formatted(PROPERTY, wish, PLAIN, VECTOR));
        }
        String asked = "-D%s=%s asks for it".formatted(PROPERTY, wish);
        if (PLAIN.equals(wish)) {
            return new Choice(PLAIN_KERNEL, asked, false);
        }
        String missing;
        try {
            UpdateKernel vector = vectorKernel();
            return new Choice(vector, wish == null ? vector.toString() : asked, false);
        } catch (UnsupportedOperationException e) {
            missing = "the vector kernel does not suit this processor: " + e.getMessage();
        } catch (ReflectiveOperationException | LinkageError e) {
            missing = "the vector kernel cannot be had (%s); start Java with --add-modules %s, as the launcher does"
                    .formatted(e, MODULE);
        }
        if (wish != null) {
            throw new IllegalStateException("-D%s=%s: %s".formatted(PROPERTY, wish, missing));
        }
        return new Choice(PLAIN_KERNEL, missing + "; rows are summed by plain loops, several times slower", true);
    }

    private static UpdateKernel vectorKernel() throws ReflectiveOperationException {
        try {
            return Class.forName(VECTOR_KERNEL)
                    .asSubclass(UpdateKernel.class)
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof UnsupportedOperationException unsuited) {
                throw unsuited;
            }
            throw new ReflectiveOperationException(e.getCause());
        }
    }
}
