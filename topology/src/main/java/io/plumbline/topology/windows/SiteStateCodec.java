package io.plumbline.topology.windows;

/** How the small per-site state beside the panes is made and stored. */
interface SiteStateCodec<S> {

    /** The state of a site that was never seen. */
    S initial();

    byte[] encode(S state);

    S decode(byte[] bytes);
}
