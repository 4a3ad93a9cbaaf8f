package io.plumbline.linalg.kernel;

import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the {@link UpdateKernel} of this process, once, when it is first asked for.
 *
 * <p>The vector kernel is taken where the module {@value #MODULE} is there, its sums are those of the plain loops to
 * the last bit, and a trial ({@link KernelTrial}) shows it to be faster or as fast as plain loops never are. The
 * system property {@value #PROPERTY} forces one of the two. Where a trial found the vector kernel no faster it is held
 * again ten minutes later ({@link StandingChoice}).
 */
public final class UpdateKernels {

    /** {@code plain} or {@code vector}; without it the faster one is chosen. */
    public static final String PROPERTY = "plumbline.kernel";

    static final String MODULE = "jdk.incubator.vector";

    static final String PLAIN = "plain";
    static final String VECTOR = "vector";

    static final UpdateKernel PLAIN_KERNEL = new PlainKernel();

    /** The name of the class of the vector kernel and not the class: without the module it cannot be loaded. */
    static final String VECTOR_KERNEL = "io.plumbline.linalg.kernel.VectorKernel";

    /** The longest trial, several times what it takes to compile all: a wrong choice lasts until the next trial. */
    private static final Duration LONGEST_TRIAL = Duration.ofSeconds(8);

    private static final StandingChoice CHOICE = new StandingChoice(
            () -> choose(System.getProperty(PROPERTY), VECTOR_KERNEL, LONGEST_TRIAL),
            CompletableFuture.delayedExecutor(10, TimeUnit.MINUTES));

    private UpdateKernels() {}

    /**
     * @param reason why this one, in one sentence
     * @param lost whether the faster one was wanted and cannot be had: somebody should be told the reason
     * @param bySpeedAlone whether it is lost because it was no faster in a trial, which a later one may find otherwise
     */
    public record Choice(UpdateKernel kernel, String reason, boolean lost, boolean bySpeedAlone) {}

    /**
     * The kernel of this process and why; the first call takes half a second, on a busy machine more.
     *
     * @throws IllegalStateException if {@value #PROPERTY} asks for what is not there
     */
    public static Choice chosen() {
        return CHOICE.get();
    }

    /** The plain loops, which are there everywhere. */
    public static UpdateKernel plain() {
        return PLAIN_KERNEL;
    }

    /** The kernel of this process. */
    public static UpdateKernel kernel() {
        return chosen().kernel();
    }

    /**
     * The plain or the vector kernel, without a trial.
     *
     * @throws IllegalStateException if it cannot be had
     */
    public static UpdateKernel named(String name) {
        return choose(name, VECTOR_KERNEL, Duration.ZERO).kernel();
    }

    static Choice choose(@Nullable String wish, String vectorKernel, Duration longestTrial) {
        UpdateKernel plain = PLAIN_KERNEL;
        if (PLAIN.equals(wish)) {
            return new Choice(plain, "-D%s=%s asks for it".formatted(PROPERTY, wish), false, false);
        }
        if (wish != null && !VECTOR.equals(wish)) {
            throw new IllegalStateException("-D%s=%s: expected %s or %s, or nothing for the faster one"
                    .formatted(PROPERTY, wish, PLAIN, VECTOR));
        }
        UpdateKernel vector;
        try {
            vector = load(vectorKernel);
            String unlike = KernelTrial.difference(plain, vector);
            if (unlike != null) {
                return withoutVector(
                        wish, plain, "the vector kernel does not compute what the plain loops do: " + unlike);
            }
        } catch (ReflectiveOperationException | LinkageError e) {
            String missing =
                    "the vector kernel cannot be had (%s); start Java with --add-modules %s, as the launcher does"
                            .formatted(e, MODULE);
            return withoutVector(wish, plain, missing);
        }
        if (wish != null) {
            return new Choice(vector, "-D%s=%s asks for it".formatted(PROPERTY, wish), false, false);
        }
        KernelTrial trial = KernelTrial.of(plain, vector, longestTrial);
        return trial.isFaster()
                ? new Choice(vector, trial.toString(), false, false)
                : new Choice(
                        plain, "the vector kernel is no faster here: " + trial + "; tried again later", true, true);
    }

    private static Choice withoutVector(@Nullable String wish, UpdateKernel plain, String reason) {
        if (wish != null) {
            throw new IllegalStateException("-D%s=%s: %s".formatted(PROPERTY, wish, reason));
        }
        return new Choice(plain, reason + "; rows are summed by plain loops, several times slower", true, false);
    }

    private static UpdateKernel load(String kernel) throws ReflectiveOperationException {
        try {
            return Class.forName(kernel)
                    .asSubclass(UpdateKernel.class)
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (InvocationTargetException e) {
            throw new ReflectiveOperationException(e.getCause());
        }
    }
}
