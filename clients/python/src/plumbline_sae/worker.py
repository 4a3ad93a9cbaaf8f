"""Answers for the rest of a model, so that Plumbline need not run it: the other end of `downstream: {worker: ...}`.

One worker answers for one head, which `plumbline_sae.worker_heads` makes. It listens on a Unix socket or on the
loopback interface, and nowhere else.

    byte    what
    0..3    "PLBW"
    4       kind: 1 hello, 2 request, 3 answer, 4 error
    5..7    0
    8..15   length of the blob, little-endian
    16..    a safetensors blob

The worker says hello when somebody connects; its metadata are `protocol`, `worker`, `reads` (`activations`, or
`targets,residual` for a transcoder) and, where it is known, `width`. A request has the tensors that were named, [T, d]
of F32. Its answer has `logits` [T, V]; an error has one sentence in its metadata.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import __version__
from .tensors import FLOATS, Tensor, decode, encode, tensor_of
from .worker_address import listening

PROTOCOL = "1"
AUTOENCODER = ("activations",)
TRANSCODER = ("targets", "residual")

_FRAME = struct.Struct("<4sB3xQ")
_MAGIC = b"PLBW"
_HELLO, _REQUEST, _ANSWER, _ERROR = 1, 2, 3, 4
_PIECE = 1 << 20
_LONGEST_SENTENCE = 400

Rows = npt.NDArray[np.float32]


@dataclass(frozen=True)
class WorkerHead:
    """The rest of a model as a worker runs it.

    Attributes:
        call: from `activations` [T, d] of float32, or from `targets` and `residual` [T, d] for a transcoder, to logits
            [T, V]: an array of numpy, or a tensor of torch on any device.
        reads: `AUTOENCODER` or `TRANSCODER`.
        width: d, where it is known.
    """

    call: Callable[..., Any]
    reads: tuple[str, ...] = AUTOENCODER
    width: int | None = None


@dataclass(frozen=True)
class WorkerLimits:
    """What a worker takes and waits for.

    Attributes:
        bytes: longest request.
        connections: at most so many at once. Of more, the one that was idle longest is closed: a monitor opens it again
            when it asks. Where none is idle, the new one is closed.
        transfer_seconds: the whole of a frame that has begun must have arrived, or have been taken, within it.
        idle_seconds: a connection on which nobody asks is closed after it.
        run_seconds: a run of the head that takes longer ends the process, since nothing else ends it; whoever
            supervises the process starts it again.
    """

    bytes: int = 256 << 20
    connections: int = 16
    transfer_seconds: float = 30.0
    idle_seconds: float = 3600.0
    run_seconds: float = 120.0


class DownstreamWorker:
    """Listens, and answers each request by a call of the head. One call at a time, however many are connected.

    Args:
        head: the rest of the model.
        listen: `unix:PATH`, whose socket only this user may connect to, or `127.0.0.1:PORT`; port 0 takes a free one.
        limits: what it takes and waits for.

    Raises:
        ValueError: when the address is none of this machine's own.
        OSError: when it is in use.
    """

    def __init__(self, head: WorkerHead, listen: str, limits: WorkerLimits | None = None) -> None:
        self._head = head
        self._limits = limits or WorkerLimits()
        self._socket, self._path = listening(listen)
        self._running = threading.Lock()
        self._open: dict[socket.socket, float | None] = {}  # since when it is idle; None while a frame is under way
        self._changing = threading.RLock()  # a signal's handler may close while the loop holds it
        self._closed = False

    @property
    def address(self) -> str:
        """Returns where it listens, as `downstream.worker` takes it."""
        if self._path is not None:
            return f"unix:{self._path}"
        host, port = self._socket.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def serve_forever(self) -> None:
        """Answers until `close` is called from another thread or a handler of a signal."""
        while not self._closed:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._closed:
                    return
                raise
            with self._changing:
                if self._closed or not self._has_place():
                    connection.close()
                    continue
                self._open[connection] = time.monotonic()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """Ends all connections and stops listening."""
        self._closed = True
        with self._changing:
            for connection in self._open:
                _shut(connection)
        _shut(self._socket)
        self._socket.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> DownstreamWorker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _has_place(self) -> bool:
        """Returns whether another connection may be taken, after the longest idle one is closed where all are taken."""
        if len(self._open) < self._limits.connections:
            return True
        idle = [(since, connection) for connection, since in self._open.items() if since is not None]
        if not idle:
            return False
        _, longest = min(idle, key=lambda one: one[0])
        del self._open[longest]
        _shut(longest)
        return True

    def _mark(self, connection: socket.socket, since: float | None) -> None:
        with self._changing:
            if connection not in self._open:
                raise _GoneError  # it was idle and has been closed for another
            self._open[connection] = since

    def _serve(self, connection: socket.socket) -> None:
        try:
            width = {} if self._head.width is None else {"width": str(self._head.width)}
            hello = {"protocol": PROTOCOL, "worker": f"plumbline-sae {__version__}"}
            hello |= {"reads": ",".join(self._head.reads)} | width
            self._send(connection, _HELLO, encode({}, hello))
            while True:
                self._mark(connection, time.monotonic())
                self._send(connection, *self._answer(connection, self._request(connection)))
        except (OSError, _NoFrameError, _GoneError):
            pass  # whoever asked is gone, or no monitor
        finally:
            with self._changing:
                self._open.pop(connection, None)
            connection.close()

    def _send(self, connection: socket.socket, kind: int, blob: bytes) -> None:
        deadline = self._deadline()
        for part in (_FRAME.pack(_MAGIC, kind, len(blob)), blob):
            _limit(connection, deadline)
            connection.sendall(part)

    def _deadline(self) -> float:
        return time.monotonic() + self._limits.transfer_seconds

    def _request(self, connection: socket.socket) -> bytes:
        connection.settimeout(self._limits.idle_seconds)
        first = connection.recv(1)
        if not first:
            raise _GoneError
        self._mark(connection, None)
        deadline = self._deadline()
        magic, kind, length = _FRAME.unpack(first + _received(connection, _FRAME.size - 1, deadline))
        if magic != _MAGIC or kind != _REQUEST:
            raise _NoFrameError
        if length > self._limits.bytes:
            sentence = f"a request of {length} bytes, this worker takes {self._limits.bytes}; see --max-megabytes"
            self._send(connection, _ERROR, encode({}, {"error": sentence}))
            raise _NoFrameError
        return _received(connection, length, deadline)

    def _answer(self, connection: socket.socket, blob: bytes) -> tuple[int, bytes]:
        try:
            rows = self._rows(blob)
            with self._running:
                _require_present(connection)
                with _watchdog(self._limits.run_seconds):
                    answer = self._head.call(*rows)
                    logits = tensor_of(answer)
            return _ANSWER, encode({"logits": _checked(logits, len(rows[0]))})
        except _GoneError:
            raise
        except Exception as error:
            sentence = f"{type(error).__name__}: {error}" if not isinstance(error, _RefusedError) else str(error)
            return _ERROR, encode({}, {"error": " ".join(sentence.split())[:_LONGEST_SENTENCE]})

    def _rows(self, blob: bytes) -> list[Rows]:
        try:
            tensors = decode(blob)
        except ValueError as error:
            raise _RefusedError(f"the request {error}") from None
        if set(tensors) != set(self._head.reads):
            raise _RefusedError(f"the request has {sorted(tensors)}, this head reads {list(self._head.reads)}")
        rows = [tensors[name] for name in self._head.reads]
        shape = rows[0].shape
        width = self._head.width
        if len(shape) != 2 or not shape[0] or (width is not None and shape[1] != width):
            raise _RefusedError(f"rows of shape {list(shape)}, this head reads [T, {width or 'd'}]")
        for tensor in rows:
            if tensor.dtype != "F32" or tensor.shape != shape:
                raise _RefusedError(f"rows {list(tensor.shape)} of {tensor.dtype}, expected {list(shape)} of F32")
        # A copy that may be written to: a model may work in place.
        return [np.array(tensor.values) for tensor in rows]


class _RefusedError(Exception):
    """What was asked cannot be answered; the sentence goes to who asked."""


class _NoFrameError(Exception):
    """What arrived is no request."""


class _GoneError(Exception):
    """Who asked is not there any more."""


def _checked(logits: Tensor, rows: int) -> Tensor:
    if logits.dtype not in FLOATS or len(logits.shape) != 2 or logits.shape[0] != rows or not logits.shape[1]:
        raise _RefusedError(
            f"the head answered {list(logits.shape)} of {logits.dtype} for {rows} rows, expected [{rows}, V] of floats"
        )
    return logits


def _limit(connection: socket.socket, deadline: float) -> None:
    """Lets the next call wait until the deadline and no longer."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise _GoneError
    connection.settimeout(left)


def _received(connection: socket.socket, length: int, deadline: float) -> bytes:
    """Reads so many bytes by the deadline; memory is taken as they come, not as they were announced."""
    parts: list[bytes] = []
    while length:
        _limit(connection, deadline)
        part = connection.recv(min(length, _PIECE))
        if not part:
            raise _GoneError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _require_present(connection: socket.socket) -> None:
    """A request that waited for its turn may have been given up; nobody would read the answer."""
    connection.setblocking(False)
    try:
        if not connection.recv(1, socket.MSG_PEEK):
            raise _GoneError
    except BlockingIOError:
        pass
    finally:
        connection.setblocking(True)


@contextlib.contextmanager
def _watchdog(seconds: float) -> Iterator[None]:
    def end() -> None:
        print(f"a run of the head took more than {seconds:g} s; the worker ends", file=sys.stderr, flush=True)
        os._exit(4)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
