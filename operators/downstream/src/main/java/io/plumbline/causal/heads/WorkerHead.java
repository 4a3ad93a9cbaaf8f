package io.plumbline.causal.heads;

import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.HeadException.Fault;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A head that another process of this machine runs, asked over a socket ({@link WorkerFrame}).
 *
 * <p><b>Failures.</b> A call that fails closes the connection, and the next call opens one, so a worker that was
 * started again is found; after an error that the worker tells, or an answer that is not finite, it stays. A connection
 * that was closed while it lay idle is opened again within the call. A call that is late fails with
 * {@link Fault#TIMED_OUT}; the time counts from before connecting until the last byte.
 *
 * <p><b>Trust.</b> A worker is not trusted with this process: every length is compared with the limits, and an answer
 * has the shape that was asked for and is finite. Its numbers are believed.
 *
 * <p><b>Threads.</b> Calls wait for one another.
 */
final class WorkerHead implements OpenHead {

    /** A hello or an error has no tensors. */
    private static final int LONGEST_MESSAGE = 1 << 16;

    private static final int LONGEST_SENTENCE = 500;

    private static final String AUTOENCODER = "activations";
    private static final String TRANSCODER = "targets,residual";

    private final HeadLocation.AtWorker worker;
    private final HeadLimits limits;
    private final boolean readsResidual;
    private final int width;
    private final TimedCalls calls;
    private @Nullable SocketChannel connection;
    private long runs;

    /**
     * Makes a head without connecting.
     *
     * @param limits bytes of an answer, and the time of a call
     * @param width of the rows
     */
    WorkerHead(HeadLocation.AtWorker worker, HeadLimits limits, boolean readsResidual, int width) {
        this.worker = worker;
        this.limits = limits;
        this.readsResidual = readsResidual;
        this.width = width;
        calls = new TimedCalls("worker " + worker, limits.time());
    }

    @Override
    public boolean readsResidual() {
        return readsResidual;
    }

    @Override
    public synchronized long runs() {
        return runs;
    }

    /**
     * Connects, so that a worker for another site is found before it is needed.
     *
     * @throws HeadException when there is none, or it is another's
     */
    synchronized void greet() {
        connection = calls.call(
                stop -> {
                    try {
                        return connect(stop);
                    } catch (IOException failed) {
                        throw unreachable("", failed);
                    } finally {
                        stop.over();
                    }
                },
                this::late);
    }

    @Override
    public synchronized Logits logits(Matrix rows, @Nullable Matrix residual) {
        if (rows.rows() < 1
                || rows.columns() != width
                || readsResidual != (residual != null)
                || (residual != null && (residual.rows() != rows.rows() || residual.columns() != width))) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "worker %s reads %s [T, %d], got [%d, %d]%s"
                            .formatted(
                                    worker,
                                    readsResidual ? "targets and residual" : "activations",
                                    width,
                                    rows.rows(),
                                    rows.columns(),
                                    residual == null
                                            ? " and no residual"
                                            : " and a residual [%d, %d]"
                                                    .formatted(residual.rows(), residual.columns())));
        }
        runs++;
        SafetensorsWriter request = SafetensorsWriter.create();
        if (residual == null) {
            request.add(OnnxHead.ACTIVATIONS, DType.F32, rows);
        } else {
            request.add(OnnxHead.TARGETS, DType.F32, rows).add(OnnxHead.RESIDUAL, DType.F32, residual);
        }
        return calls.call(stop -> ask(request, rows.rows(), stop), this::late);
    }

    private Logits ask(SafetensorsWriter request, int rows, TimedCalls.Stop stop) {
        SocketChannel known = connection;
        connection = null;
        String before = "";
        try {
            if (known != null) {
                stop.by(() -> close(known));
                try {
                    return answer(known, request, rows);
                } catch (ClosedChannelException stopped) {
                    throw failed(stopped);
                } catch (IOException restarted) {
                    // A request changes nothing, so it can be sent again.
                    close(known);
                    before = restarted.getMessage() + ", then ";
                }
            }
            SocketChannel fresh;
            try {
                fresh = connect(stop);
            } catch (IOException none) {
                throw unreachable(before, none);
            }
            try {
                return answer(fresh, request, rows);
            } catch (IOException broken) {
                close(fresh);
                throw failed(broken);
            }
        } finally {
            stop.over();
        }
    }

    private SocketChannel connect(TimedCalls.Stop stop) throws IOException {
        SocketChannel channel = worker.address() instanceof UnixDomainSocketAddress
                ? SocketChannel.open(StandardProtocolFamily.UNIX)
                : SocketChannel.open();
        stop.by(() -> close(channel));
        try {
            channel.connect(worker.address());
            WorkerFrame hello = WorkerFrame.read(channel, LONGEST_MESSAGE);
            requireFit(hello);
            return channel;
        } catch (IOException | RuntimeException refused) {
            close(channel);
            throw refused;
        }
    }

    private void requireFit(WorkerFrame hello) throws IOException {
        Map<String, String> said = hello.blob().metadata();
        String protocol = said.get("protocol");
        if (hello.kind() != WorkerFrame.Kind.HELLO || !WorkerFrame.PROTOCOL.equals(protocol)) {
            throw new IOException("it speaks protocol %s, expected %s: use the Python package of this version"
                    .formatted(protocol == null ? "?" : shortened(protocol), WorkerFrame.PROTOCOL));
        }
        String reads = said.getOrDefault("reads", "");
        if (!reads.equals(AUTOENCODER) && !reads.equals(TRANSCODER)) {
            throw new IOException(
                    "it reads %s, expected %s or %s".formatted(shortened(reads), AUTOENCODER, TRANSCODER));
        }
        int itsWidth;
        try {
            itsWidth = Integer.parseInt(said.getOrDefault("width", "-1"));
        } catch (NumberFormatException broken) {
            throw new IOException("its width is " + shortened(String.valueOf(said.get("width"))), broken);
        }
        HeadShape.requireFit(worker, reads.equals(TRANSCODER), itsWidth, readsResidual, width);
    }

    private Logits answer(SocketChannel channel, SafetensorsWriter request, int rows) throws IOException {
        WorkerFrame.write(channel, WorkerFrame.Kind.REQUEST, request);
        long most = Math.min(limits.bytes() + LONGEST_MESSAGE, Integer.MAX_VALUE - 8);
        WorkerFrame answer = WorkerFrame.read(channel, most);
        if (answer.kind() == WorkerFrame.Kind.ERROR) {
            connection = channel;
            throw new HeadException(
                    Fault.FAILED,
                    "worker %s: %s"
                            .formatted(
                                    worker, shortened(answer.blob().metadata().getOrDefault("error", "no reason"))));
        }
        if (answer.kind() != WorkerFrame.Kind.ANSWER) {
            throw new IOException("it sent a frame of kind %s, expected an answer".formatted(answer.kind()));
        }
        try {
            Logits logits = logits(answer, rows);
            connection = channel;
            return logits;
        } catch (HeadException refused) {
            // Numbers of the right shape answer this request; whatever else comes may be the answer to another one.
            if (refused.fault() == Fault.NOT_FINITE) {
                connection = channel;
            } else {
                close(channel);
            }
            throw refused;
        }
    }

    private Logits logits(WorkerFrame answer, int rows) {
        Set<String> names = answer.blob().names();
        if (!names.equals(Set.of(OnnxHead.LOGITS))) {
            throw new HeadException(
                    Fault.FAILED,
                    "worker %s: it sent tensors %s, expected [logits]".formatted(worker, shortened(names.toString())));
        }
        Tensor tensor = answer.blob().tensor(OnnxHead.LOGITS);
        List<Long> shape = tensor.shape();
        if (!tensor.dtype().isFloatingPoint() || shape.size() != 2 || shape.get(0) != rows || shape.get(1) < 1) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "worker %s: logits %s of %s for %d rows, expected [%d, V] of a float type"
                            .formatted(worker, shape, tensor.dtype(), rows, rows));
        }
        return Logits.finite("worker " + worker, rows, tensor.size(1), tensor.toFloats());
    }

    private HeadException unreachable(String before, IOException failed) {
        return new HeadException(
                Fault.UNREACHABLE,
                "worker %s: %scannot be reached: %s; start it with `plumbline-sae downstream-worker`"
                        .formatted(worker, before, failed.getMessage()),
                failed);
    }

    private HeadException failed(IOException failed) {
        return new HeadException(Fault.FAILED, "worker %s: %s".formatted(worker, failed.getMessage()), failed);
    }

    private HeadException late(String message) {
        return new HeadException(Fault.TIMED_OUT, "worker %s: %s; limit %s".formatted(worker, message, limits.time()));
    }

    /** Returns a worker's words, which are not trusted, as part of a line. */
    private static String shortened(String words) {
        String line = words.replaceAll("\\p{Cntrl}+", " ");
        return line.length() <= LONGEST_SENTENCE ? line : line.substring(0, LONGEST_SENTENCE) + "...";
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException ignored) {
            // Nothing is read or written on it any more.
        }
    }

    @Override
    public synchronized void close() {
        SocketChannel known = connection;
        connection = null;
        if (known != null) {
            close(known);
        }
        boolean unused = calls.close();
    }
}
