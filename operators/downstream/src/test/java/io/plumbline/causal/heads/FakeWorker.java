package io.plumbline.causal.heads;

import io.plumbline.causal.HeadLocation;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;

/** A worker that follows the conduct of a test on each connection. */
final class FakeWorker implements AutoCloseable {

    /** Serves one connection. */
    interface Conduct {
        void with(SocketChannel connection) throws IOException;
    }

    private final ServerSocketChannel server;
    private final Deque<SocketChannel> connections = new ConcurrentLinkedDeque<>();
    private final AtomicInteger connected = new AtomicInteger();

    private FakeWorker(ServerSocketChannel server, Conduct conduct) {
        this.server = server;
        Thread serving = new Thread(() -> {
            while (server.isOpen()) {
                try {
                    SocketChannel connection = server.accept();
                    connections.add(connection);
                    connected.incrementAndGet();
                    Thread each = new Thread(() -> {
                        try (connection) {
                            conduct.with(connection);
                        } catch (IOException gone) {
                            // As it is when a test has what it wants.
                        }
                    });
                    each.setDaemon(true);
                    each.start();
                } catch (IOException closed) {
                    return;
                }
            }
        });
        serving.setDaemon(true);
        serving.start();
    }

    static FakeWorker atSocket(Path socket, Conduct conduct) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        return new FakeWorker(server, conduct);
    }

    static FakeWorker atPort(Conduct conduct) throws IOException {
        return new FakeWorker(
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)), conduct);
    }

    HeadLocation.AtWorker location() throws IOException {
        return new HeadLocation.AtWorker(server.getLocalAddress());
    }

    /** Returns how often somebody connected. */
    int connected() {
        return connected.get();
    }

    /** Says hello for an autoencoder's head and answers each request. */
    static Conduct answering(Conduct answer) {
        return connection -> {
            hello(connection, "1", "activations", "3");
            while (true) {
                answer.with(connection);
            }
        };
    }

    static void hello(SocketChannel connection, String protocol, String reads, String width) throws IOException {
        WorkerFrame.write(
                connection,
                WorkerFrame.Kind.HELLO,
                SafetensorsWriter.create()
                        .metadata("protocol", protocol)
                        .metadata("reads", reads)
                        .metadata("width", width));
    }

    /** Answers a request with its rows, doubled. */
    static void answer(SocketChannel connection) throws IOException {
        answer(connection, 2.0, DType.F32);
    }

    static void answer(SocketChannel connection, double factor, DType dtype) throws IOException {
        Matrix rows = request(connection);
        double[] values = rows.values().clone();
        for (int i = 0; i < values.length; i++) {
            values[i] *= factor;
        }
        WorkerFrame.write(
                connection,
                WorkerFrame.Kind.ANSWER,
                SafetensorsWriter.create().add("logits", dtype, new Matrix(rows.rows(), rows.columns(), values)));
    }

    static Matrix request(SocketChannel connection) throws IOException {
        return WorkerFrame.read(connection, 1 << 20)
                .blob()
                .tensor("activations")
                .toMatrix();
    }

    static void send(SocketChannel connection, byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            connection.write(buffer);
        }
    }

    @Override
    public void close() throws IOException {
        var address = server.getLocalAddress();
        server.close();
        for (SocketChannel connection : connections) {
            connection.close();
        }
        if (address instanceof UnixDomainSocketAddress socket) {
            Files.deleteIfExists(socket.getPath());
        }
    }
}
