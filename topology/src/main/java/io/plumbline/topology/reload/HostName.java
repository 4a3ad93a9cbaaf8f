package io.plumbline.topology.reload;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The name by which others know this machine. */
public final class HostName {

    private HostName() {}

    /** Returns it, or an address where it has none. */
    public static String local() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException nameless) {
            return InetAddress.getLoopbackAddress().getHostName();
        }
    }
}
