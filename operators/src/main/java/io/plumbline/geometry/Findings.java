package io.plumbline.geometry;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Collects, beside the numbers of one window, why some of them do not exist and which bounds say nothing. */
final class Findings {

    private final Map<String, String> undefined = new HashMap<>();
    private final Map<String, Boolean> vacuous = new HashMap<>();

    /** The value, computed only when there is no reason against it; otherwise null, and the reason is kept. */
    <T> @Nullable T unless(@Nullable String reason, String name, Supplier<T> value) {
        if (reason == null) {
            return value.get();
        }
        undefined.put(name, reason);
        return null;
    }

    /** A bound's value; {@code missing} is the reason where the bound itself is null. */
    @Nullable
    Double bound(@Nullable String reason, String name, @Nullable GapBound bound, String missing) {
        if (reason == null && bound != null) {
            vacuous.put(name, bound.vacuous());
            return bound.value();
        }
        undefined.put(name, reason == null ? missing : reason);
        return null;
    }

    Map<String, String> undefined() {
        return undefined;
    }

    Map<String, Boolean> vacuous() {
        return vacuous;
    }

    /** The first reason there is, or null. */
    static @Nullable String first(@Nullable String one, @Nullable String other) {
        return one == null ? other : one;
    }
}
