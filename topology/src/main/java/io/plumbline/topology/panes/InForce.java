package io.plumbline.topology.panes;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A value that holds from the start of a window on, until the next one does: what a configuration says, or what is made
 * of it. A window that began before a change is judged as it began.
 *
 * <p>Thread-safe; reading takes no lock. Whoever takes values over calls {@link #forgetBefore} from time to time.
 */
public final class InForce<T> {

    private record Since<T>(long fromMs, T value) {}

    /** Makes a value of each, and holds it from the same time on. */
    private record Derived<T, U>(BiFunction<T, @Nullable U, U> made, InForce<U> of) {
        Runnable prepare(Since<T> next) {
            return of.prepare(new Since<>(next.fromMs(), made.apply(next.value(), of.newest())));
        }
    }

    private final List<Derived<T, ?>> derived = new ArrayList<>();
    private volatile List<Since<T>> since;

    private InForce(T first) {
        since = List.of(new Since<>(Long.MIN_VALUE, first));
    }

    /** Returns a value that has always held. */
    public static <T> InForce<T> of(T first) {
        return new InForce<>(first);
    }

    /** Returns what is made of each of these values. */
    public <U> InForce<U> map(Function<T, U> made) {
        return map((value, before) -> made.apply(value));
    }

    /**
     * Returns what is made of each of these values.
     *
     * @param made of a value and of what was made of the one before it; null: it is the first
     */
    public synchronized <U> InForce<U> map(BiFunction<T, @Nullable U, U> made) {
        InForce<U> of = of(made.apply(newest(), null));
        derived.add(new Derived<>(made, of));
        return of;
    }

    /** Returns the value for what begins at a time. */
    public T at(long startMs) {
        List<Since<T>> all = since;
        int last = all.size() - 1;
        while (last > 0 && all.get(last).fromMs() > startMs) {
            last--;
        }
        return all.get(last).value();
    }

    /** Returns the value that was taken over last, which may hold for windows to come alone. */
    public T newest() {
        List<Since<T>> all = since;
        return all.get(all.size() - 1).value();
    }

    /**
     * Takes a value over for everything that begins at {@code fromMs} or later. What is made of it is made first: when
     * that throws, nothing has changed.
     */
    public synchronized void takeOver(long fromMs, T next) {
        prepare(new Since<>(fromMs, next)).run();
    }

    /** Forgets what held only for what began before a time. */
    public synchronized void forgetBefore(long startMs) {
        List<Since<T>> all = since;
        int first = 0;
        while (first + 1 < all.size() && all.get(first + 1).fromMs() <= startMs) {
            first++;
        }
        since = List.copyOf(all.subList(first, all.size()));
        derived.forEach(one -> one.of().forgetBefore(startMs));
    }

    private Runnable prepare(Since<T> next) {
        List<Runnable> made = derived.stream().map(one -> one.prepare(next)).toList();
        return () -> {
            List<Since<T>> all = new ArrayList<>(
                    since.stream().filter(one -> one.fromMs() < next.fromMs()).toList());
            all.add(next);
            since = List.copyOf(all);
            made.forEach(Runnable::run);
        };
    }
}
