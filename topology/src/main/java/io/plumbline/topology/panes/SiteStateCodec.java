package io.plumbline.topology.panes;

/** Makes and stores the small per-site state beside the panes. */
public interface SiteStateCodec<S> {

    /** The state of a site that was never seen. */
    S initial();

    /** Returns whether nothing of the site is waited for, since it fell silent or never had a record. */
    boolean isSilent(S state);

    byte[] encode(S state);

    S decode(byte[] bytes);
}
