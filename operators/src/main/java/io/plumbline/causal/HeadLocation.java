package io.plumbline.causal;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A place at which the rest of a model answers. */
public sealed interface HeadLocation {

    /** A head in an ONNX file, run in this process on a device. */
    record InFile(Path file, HeadDevice device) implements HeadLocation {

        /** Creates a head that the machine's own processor runs. */
        public InFile(Path file) {
            this(file, HeadDevice.CPU);
        }

        @Override
        public String toString() {
            return file.toString();
        }
    }

    /** A worker that listens on this machine: at a Unix socket, or at a port of the loopback interface. */
    record AtWorker(SocketAddress address) implements HeadLocation {

        private static final String UNIX = "unix:";
        private static final Pattern PORT = Pattern.compile("(127(?:\\.\\d{1,3}){3}|localhost|\\[::1\\]):(\\d{1,5})");

        /** The bytes of a path that an address of a socket holds on Linux, without the final zero. */
        private static final int LONGEST_PATH = 107;

        /**
         * Reads an address.
         *
         * @param text {@code unix:PATH}, or {@code 127.0.0.1:PORT}, {@code localhost:PORT}, {@code [::1]:PORT}
         * @param folder what a relative path is relative to
         * @throws IllegalArgumentException when it is none of these
         */
        public static AtWorker parse(String text, Path folder) {
            if (text.startsWith(UNIX) && text.length() > UNIX.length()) {
                return new AtWorker(unix(text.substring(UNIX.length()), folder));
            }
            Matcher port = PORT.matcher(text);
            if (port.matches()) {
                int number = Integer.parseInt(port.group(2));
                if (number >= 1 && number <= 65_535) {
                    return new AtWorker(new InetSocketAddress(loopback(port.group(1)), number));
                }
            }
            throw new IllegalArgumentException(
                    "expected unix:PATH or 127.0.0.1:PORT: a worker listens on this machine alone");
        }

        private static SocketAddress unix(String path, Path folder) {
            Path socket;
            try {
                socket = folder.resolve(path).normalize();
            } catch (InvalidPathException broken) {
                throw new IllegalArgumentException("expected a path after unix: " + broken.getReason(), broken);
            }
            int bytes = socket.toString().getBytes(StandardCharsets.UTF_8).length;
            if (bytes > LONGEST_PATH) {
                throw new IllegalArgumentException(
                        "%s has %d bytes, a Unix socket's path at most %d".formatted(socket, bytes, LONGEST_PATH));
            }
            return UnixDomainSocketAddress.of(socket);
        }

        private static InetAddress loopback(String host) {
            try {
                // A literal is not looked up.
                return host.equals("localhost") ? InetAddress.getLoopbackAddress() : InetAddress.getByName(host);
            } catch (UnknownHostException broken) {
                throw new IllegalArgumentException(host + ": expected an address such as 127.0.0.1", broken);
            }
        }

        @Override
        public String toString() {
            return address instanceof InetSocketAddress port
                    ? "%s:%d".formatted(port.getHostString(), port.getPort())
                    : UNIX + address;
        }
    }
}
