package io.plumbline.topology.panes;

/**
 * Says how much a task, or all of them together, hold in open panes.
 *
 * @param panes open, of all sites
 * @param bytes of their second moments and row samples as they are held live
 */
public record StateSize(long panes, long bytes) {

    public static final StateSize NOTHING = new StateSize(0, 0);

    public StateSize plus(StateSize other) {
        return new StateSize(panes + other.panes, bytes + other.bytes);
    }
}
