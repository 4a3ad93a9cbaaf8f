package io.plumbline.linalg;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the {@link UpdateKernel} of this process, once, when it is first asked for.
 *
 * <p>The vector kernel is taken where the module {@value #MODULE} is there, its sums are those of the plain loops to the last
 * bit, and a trial ({@link KernelTrial}) shows it to be faster. The system property {@value #PROPERTY} forces one of the two,
 * or a native library for what neither does well.
 */
public final class UpdateKernels {

    /** {@code plain}, {@code vector} or {@code native}; without it the faster of the first two is chosen. */
    public static final String PROPERTY = "plumbline.kernel";

    static final String MODULE = "jdk.incubator.vector";

    static final String PLAIN = "plain";
    static final String VECTOR = "vector";

    /** Full eigendecompositions by a native library ({@link SymmetricEigensolver}), everything else by the faster of the two. */
    static final String NATIVE = "native";

    static final UpdateKernel PLAIN_KERNEL = new PlainKernel();

    /** A name and not the class: without the module it cannot be loaded. */
    static final String VECTOR_KERNEL = "io.plumbline.linalg.VectorKernel";

    /** Several times what it takes to compile both: a wrong choice lasts as long as the process. */
    private static final Duration LONGEST_TRIAL = Duration.ofSeconds(8);

    private static @Nullable Choice choice;

    private UpdateKernels() {}

    /**
     * @param reason why this one, in one sentence
     * @param lost whether the faster one was wanted and cannot be had: somebody should be told the reason
     */
    public record Choice(UpdateKernel kernel, String reason, boolean lost) {}

    /**
     * The kernel of this process and why; the first call takes about a second, on a busy machine some more.
     *
     * @throws IllegalStateException if {@value #PROPERTY} asks for what is not there
     */
    public static synchronized Choice chosen() {
        Choice known = choice;
        if (known == null) {
            known = choose(System.getProperty(PROPERTY), VECTOR_KERNEL, LONGEST_TRIAL);
            choice = known;
        }
        return known;
    }

    /** The plain loops, which are there everywhere. */
    public static UpdateKernel plain() {
        return PLAIN_KERNEL;
    }

    /** The kernel of this process. */
    public static UpdateKernel kernel() {
        return chosen().kernel();
    }

    static Choice choose(@Nullable String wish, String vectorKernel, Duration longestTrial) {
        UpdateKernel plain = PLAIN_KERNEL;
        if (PLAIN.equals(wish)) {
            return new Choice(plain, "-D%s=%s asks for it".formatted(PROPERTY, wish), false);
        }
        if (NATIVE.equals(wish)) {
            SymmetricEigensolver eigensolver = Eigensolvers.choose(wish);
            Choice faster = choose(null, vectorKernel, longestTrial);
            String reason = faster.reason() + "; eigendecompositions by " + eigensolver.name();
            return new Choice(faster.kernel(), reason, faster.lost());
        }
        if (wish != null && !VECTOR.equals(wish)) {
            throw new IllegalStateException("-D%s=%s: expected %s, %s or %s, or nothing for the faster one"
                    .formatted(PROPERTY, wish, PLAIN, VECTOR, NATIVE));
        }
        UpdateKernel vector;
        String unlike;
        try {
            vector = load(vectorKernel);
            unlike = KernelTrial.difference(plain, vector);
        } catch (ReflectiveOperationException | LinkageError e) {
            String missing =
                    "the vector kernel cannot be had (%s); start Java with --add-modules %s, as the launcher does"
                            .formatted(e, MODULE);
            return withoutVector(wish, plain, missing);
        }
        if (unlike != null) {
            return withoutVector(wish, plain, "the vector kernel does not compute what the plain loops do: " + unlike);
        }
        if (wish != null) {
            return new Choice(vector, "-D%s=%s asks for it".formatted(PROPERTY, wish), false);
        }
        KernelTrial trial = KernelTrial.of(plain, vector, longestTrial);
        return trial.isFaster()
                ? new Choice(vector, trial.toString(), false)
                : new Choice(plain, "the vector kernel is no faster here: " + trial, true);
    }

    private static Choice withoutVector(@Nullable String wish, UpdateKernel plain, String reason) {
        if (wish != null) {
            throw new IllegalStateException("-D%s=%s: %s".formatted(PROPERTY, wish, reason));
        }
        return new Choice(plain, reason + "; rows are summed by plain loops, several times slower", true);
    }

    private static UpdateKernel load(String name) throws ReflectiveOperationException {
        try {
            Constructor<? extends UpdateKernel> constructor =
                    Class.forName(name).asSubclass(UpdateKernel.class).getDeclaredConstructor();
            return constructor.newInstance();
        } catch (InvocationTargetException e) {
            throw new ReflectiveOperationException(e.getCause());
        }
    }
}
