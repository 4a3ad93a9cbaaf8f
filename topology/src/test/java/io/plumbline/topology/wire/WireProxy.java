package io.plumbline.topology.wire;

import io.plumbline.fixtures.EmbeddedBroker;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestUtils;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy between clients and a broker that reads Kafka's frames and does to some of them what a {@link WireFault}
 * says. The broker names the proxy's port to those who come through it (a listener of its own), so that every
 * connection of such a client passes here.
 *
 * <p>Answers leave in the order of their requests, as Kafka's clients expect. Two threads a connection.
 */
public final class WireProxy implements AutoCloseable {

    private static final int LARGEST_FRAME = 64 << 20;

    private final int brokerPort;
    private final ServerSocket server;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable WireFault> armed = new AtomicReference<>();
    private final Map<ApiKeys, Integer> requests = new ConcurrentHashMap<>();

    private WireProxy(int brokerPort, ServerSocket server) {
        this.brokerPort = brokerPort;
        this.server = server;
    }

    /** A broker that listens at a plain port and, for those who come through the proxy, at another one. */
    public record Pair(EmbeddedBroker broker, WireProxy proxy) implements AutoCloseable {
        @Override
        public void close() {
            proxy.close();
            broker.close();
        }
    }

    public static Pair start(java.nio.file.Path directory, Map<String, String> settings) throws IOException {
        int plain = EmbeddedBroker.freePort();
        int behind = EmbeddedBroker.freePort();
        int controller = EmbeddedBroker.freePort();
        WireProxy proxy = new WireProxy(behind, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        Map<String, String> all = new TreeMap<>(settings);
        all.put(
                "listeners",
                "PLAINTEXT://127.0.0.1:%d,WIRE://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d"
                        .formatted(plain, behind, controller));
        all.put(
                "advertised.listeners",
                "PLAINTEXT://127.0.0.1:%d,WIRE://127.0.0.1:%d".formatted(plain, proxy.server.getLocalPort()));
        all.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,WIRE:PLAINTEXT,CONTROLLER:PLAINTEXT");
        all.put("controller.quorum.voters", "1@127.0.0.1:" + controller);
        EmbeddedBroker broker = EmbeddedBroker.start(directory, plain, all);
        thread("accept", proxy::accept);
        return new Pair(broker, proxy);
    }

    public String bootstrapServers() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    /** Arms a fault from now on; the fault before is over. */
    public void arm(WireFault fault) {
        armed.set(fault);
    }

    /** Returns how many requests of each kind came through. */
    public Map<ApiKeys, Integer> requests() {
        return Map.copyOf(requests);
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                Socket broker = new Socket(InetAddress.getLoopbackAddress(), brokerPort);
                sockets.add(client);
                sockets.add(broker);
                Connection connection = new Connection(client, broker);
                thread("requests", connection::requests);
                thread("answers", connection::answers);
            } catch (IOException closed) {
                if (!server.isClosed()) {
                    throw new UncheckedIOException(closed);
                }
            }
        }
    }

    private static void thread(String name, Runnable work) {
        Thread thread = new Thread(work, "wire-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The fate of the answer to one request: passed on, or {@code instead} of it, or the end. */
    private record Answer(boolean fromBroker, byte @Nullable [] instead, WireFault.@Nullable Act end) {}

    private final class Connection {

        private final Socket client;
        private final Socket broker;
        private final BlockingQueue<Answer> expected = new LinkedBlockingQueue<>();

        Connection(Socket client, Socket broker) {
            this.client = client;
            this.broker = broker;
        }

        void requests() {
            try (Socket one = client;
                    Socket other = broker) {
                DataInputStream in = new DataInputStream(one.getInputStream());
                DataOutputStream out = new DataOutputStream(other.getOutputStream());
                while (true) {
                    byte[] frame = frame(in);
                    ByteBuffer buffer = ByteBuffer.wrap(frame);
                    ApiKeys api = ApiKeys.forId(buffer.getShort(0));
                    requests.merge(api, 1, Integer::sum);
                    WireFault fault = armed.get();
                    if (fault == null || !fault.meets(api)) {
                        expected.add(new Answer(true, null, null));
                        write(out, frame);
                        continue;
                    }
                    switch (fault.act()) {
                        case REFUSE -> expected.add(new Answer(false, error(buffer, fault), null));
                        case DENY -> {
                            expected.add(new Answer(true, error(buffer, fault), null));
                            write(out, frame);
                        }
                        case CUT -> {
                            return;
                        }
                        default -> {
                            expected.add(new Answer(true, null, fault.act()));
                            write(out, frame);
                        }
                    }
                }
            } catch (IOException ended) {
                // By either side; the sockets are closed on the way out.
            }
        }

        void answers() {
            try (Socket one = client;
                    Socket other = broker) {
                DataInputStream in = new DataInputStream(other.getInputStream());
                DataOutputStream out = new DataOutputStream(one.getOutputStream());
                while (true) {
                    Answer answer = expected.take();
                    byte[] instead = answer.instead();
                    byte[] frame = answer.fromBroker() ? frame(in) : new byte[0];
                    if (answer.end() == WireFault.Act.CUT_ANSWER) {
                        out.writeInt(frame.length);
                        out.write(frame, 0, frame.length / 2);
                    }
                    if (answer.end() != null) {
                        return;
                    }
                    write(out, instead == null ? frame : instead);
                }
            } catch (IOException ended) {
                // By either side; the sockets are closed on the way out.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private byte[] frame(DataInputStream in) throws IOException {
            int size = in.readInt();
            if (size < 0 || size > LARGEST_FRAME) {
                throw new IOException("a frame of " + size);
            }
            byte[] frame = new byte[size];
            in.readFully(frame);
            return frame;
        }

        private void write(DataOutputStream out, byte[] frame) throws IOException {
            ByteBuffer sized = ByteBuffer.allocate(Integer.BYTES + frame.length);
            out.write(sized.putInt(frame.length).put(frame).array());
            out.flush();
        }

        private byte[] error(ByteBuffer request, WireFault fault) {
            RequestHeader header = RequestHeader.parse(request);
            AbstractRequest parsed = AbstractRequest.parseRequest(
                            header.apiKey(), header.apiVersion(), new ByteBufferAccessor(request))
                    .request;
            ByteBuffer answer = RequestUtils.serialize(
                    new ResponseHeaderData().setCorrelationId(header.correlationId()),
                    header.apiKey().responseHeaderVersion(header.apiVersion()),
                    parsed.getErrorResponse(0, fault.error().exception()).data(),
                    header.apiVersion());
            byte[] bytes = new byte[answer.remaining()];
            answer.get(bytes);
            return bytes;
        }
    }
}
