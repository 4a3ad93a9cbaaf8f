package io.plumbline.topology.metrics;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins and guards listeners of what happens a few times a window, whatever their methods are. A listener that passed
 * on each call by hand would drop what a stage learns to report later, since the methods of a listener do nothing by
 * default. A call by reflection takes a tenth of a microsecond: the stages that every record passes have
 * {@link RecordListeners}.
 */
public final class Listeners {

    private Listeners() {}

    /**
     * Returns a listener that hands every call to both of these, one after the other. An exception of the first ends
     * the call.
     *
     * @param type an interface whose methods all return nothing
     */
    public static <T> T both(Class<T> type, T first, T second) {
        return proxy(type, (method, arguments) -> {
            for (T one : List.of(first, second)) {
                call(one, method, arguments);
            }
        });
    }

    /**
     * Returns a listener whose exceptions do not reach the stage; an {@link Error} does.
     *
     * @param type an interface whose methods all return nothing
     * @param failed told of each exception
     */
    static <T> T guarded(Class<T> type, T listener, Consumer<RuntimeException> failed) {
        return proxy(type, (method, arguments) -> {
            try {
                call(listener, method, arguments);
            } catch (RuntimeException e) {
                failed.accept(e);
            }
        });
    }

    private interface Call {
        void of(Method method, Object @Nullable [] arguments);
    }

    private static <T> T proxy(Class<T> type, Call call) {
        Object proxy =
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (method.getDeclaringClass() == Object.class) {
                        throw new UnsupportedOperationException(method.getName() + " of a listener");
                    }
                    call.of(method, arguments);
                    return null;
                });
        return type.cast(proxy);
    }

    private static void call(Object listener, Method method, Object @Nullable [] arguments) {
        try {
            method.invoke(listener, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(method + " throws what it does not declare", e);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(method + " is not public", e);
        }
    }
}
