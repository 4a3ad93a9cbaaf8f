package io.plumbline.topology.windows;

/** Makes and stores the small per-site state beside the panes. */
interface SiteStateCodec<S> {

    /** The state of a site that was never seen. */
    S initial();

    byte[] encode(S state);

    S decode(byte[] bytes);
}
