package io.plumbline.topology.wire;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

/**
 * Says what a {@link WireProxy} does to requests of one kind.
 *
 * @param api the kind of request
 * @param act what is done to it
 * @param error the error that the client gets; for {@link Act#REFUSE} and {@link Act#DENY}
 * @param after so many requests of the kind pass before the first one it is done to
 * @param times to so many requests one after the other
 */
public record WireFault(
        ApiKeys api, Act act, Errors error, int after, int times, AtomicInteger seen, CountDownLatch left) {

    /** The acts on a request. */
    public enum Act {
        /** The broker never sees it; the client gets an error. */
        REFUSE,
        /** The broker does it; the client gets an error. */
        DENY,
        /** The broker does it; the connection ends before the answer. */
        LOSE_ANSWER,
        /** The broker does it; the connection ends in the middle of the answer. */
        CUT_ANSWER,
        /** The broker never sees it; the connection ends. */
        CUT
    }

    public static WireFault of(ApiKeys api, Act act, Errors error, int after, int times) {
        return new WireFault(api, act, error, after, times, new AtomicInteger(), new CountDownLatch(times));
    }

    /** Returns whether it is done to the request of this kind that comes now. */
    boolean meets(ApiKeys key) {
        if (key != api) {
            return false;
        }
        int number = seen.getAndIncrement();
        if (number < after || number >= after + times) {
            return false;
        }
        left.countDown();
        return true;
    }

    public boolean awaitDone(long seconds) throws InterruptedException {
        return left.await(seconds, TimeUnit.SECONDS);
    }

    @Override
    public String toString() {
        String what = act == Act.REFUSE || act == Act.DENY ? act + " " + error : act.toString();
        return "%s: %s%s".formatted(api, what, times == 1 ? "" : " x " + times);
    }
}
