package io.plumbline.linalg.kernel;

import java.lang.reflect.InvocationTargetException;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the {@link UpdateKernel} of this process by a fixed rule, so that the last bits of a sum are the same on
 * every start of the same machine.
 *
 * <p>The vector kernel is taken where the module {@value #MODULE} is there and the processor's vectors have a width
 * that it is fast with, see {@link VectorTiles#of}; otherwise the plain loops are taken. The system property
 * {@value #PROPERTY} forces one of the two, or adds the library of the machine that a {@link BrainProduct.Finder}
 * finds. Nothing is timed: a Java without its optimising compiler, in which vectors are objects, needs the property.
 */
public final class UpdateKernels {

    /** {@code plain}, {@code vector} or {@code native}; without it the processor decides between the first two. */
    public static final String PROPERTY = "plumbline.kernel";

    static final String MODULE = "jdk.incubator.vector";

    static final String PLAIN = "plain";
    static final String VECTOR = "vector";
    static final String NATIVE = "native";

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

    /**
     * Returns what the library does that {@value #PROPERTY} asks for; empty where it asks for none.
     *
     * @throws IllegalStateException if it asks for what is not there
     */
    public static Optional<String> library() {
        return chosen().kernel() instanceof NativeKernel kernel ? Optional.of(kernel.library()) : Optional.empty();
    }

    /** Returns the plain loops, which are there everywhere. */
    public static UpdateKernel plain() {
        return PLAIN_KERNEL;
    }

    /** Returns the kernel of this process. */
    public static UpdateKernel kernel() {
        return chosen().kernel();
    }

    static Choice choose(@Nullable String wish) {
        if (NATIVE.equals(wish)) {
            return withLibrary();
        }
        if (wish != null && !wish.equals(PLAIN) && !wish.equals(VECTOR)) {
            throw new IllegalStateException("-D%s=%s: expected %s, %s or %s, or nothing for what suits the processor"
                    .formatted(PROPERTY, wish, PLAIN, VECTOR, NATIVE));
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

    /** Returns what would run otherwise, with a library for rows of bfloat16. */
    private static Choice withLibrary() {
        try {
            BrainProduct.Finder finder = ServiceLoader.load(BrainProduct.Finder.class)
                    .findFirst()
                    .orElseThrow(() -> new UnsupportedOperationException(
                            "plumbline-native and JNA are not on the class path, where the launcher puts them"));
            Choice otherwise = choose(null);
            UpdateKernel kernel = new NativeKernel(otherwise.kernel(), finder.find());
            return new Choice(kernel, kernel + (otherwise.lost() ? ": " + otherwise.reason() : ""), otherwise.lost());
        } catch (UnsupportedOperationException | ServiceConfigurationError | LinkageError e) {
            throw new IllegalStateException("-D%s=%s: %s".formatted(PROPERTY, NATIVE, e.getMessage()), e);
        }
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
