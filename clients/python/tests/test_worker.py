"""The worker behind a socket, asked as a monitor asks it."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plumbline_sae import cli
from plumbline_sae.tensors import Tensor, decode, encode, metadata_of, tensor_of
from plumbline_sae.worker import AUTOENCODER, TRANSCODER, DownstreamWorker, WorkerHead, WorkerLimits
from plumbline_sae.worker_heads import head_of_function

HELLO, REQUEST, ANSWER, ERROR = 1, 2, 3, 4
ROWS = np.arange(6, dtype="float32").reshape(2, 3)


class Asking:
    """A connection to a worker."""

    def __init__(self, address: str) -> None:
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(20)
            self.socket.connect(address[5:])
        else:
            host, _, port = address.rpartition(":")
            self.socket = socket.create_connection((host.strip("[]"), int(port)), 20)

    def frame(self) -> tuple[int, bytes]:
        magic, kind, length = struct.unpack("<4sB3xQ", self.received(16))
        assert magic == b"PLBW"
        return kind, self.received(length)

    def received(self, length: int) -> bytes:
        parts = b""
        while len(parts) < length:
            part = self.socket.recv(length - len(parts))
            if not part:
                raise EOFError
            parts += part
        return parts

    def ask(self, **rows: Any) -> tuple[int, bytes]:
        blob = encode({name: tensor_of(values) for name, values in rows.items()})
        self.socket.sendall(struct.pack("<4sB3xQ", b"PLBW", REQUEST, len(blob)) + blob)
        return self.frame()

    def logits(self, **rows: Any) -> Tensor:
        kind, blob = self.ask(**rows)
        assert kind == ANSWER, metadata_of(blob)
        return decode(blob)["logits"]

    def refusal(self, **rows: Any) -> str:
        kind, blob = self.ask(**rows)
        assert kind == ERROR
        return metadata_of(blob)["error"]


@contextmanager
def serving(head: WorkerHead, listen: str = "127.0.0.1:0", **limits: Any) -> Iterator[DownstreamWorker]:
    with DownstreamWorker(head, listen, WorkerLimits(**limits)) as worker:
        thread = threading.Thread(target=worker.serve_forever)
        thread.start()
        try:
            yield worker
        finally:
            worker.close()
            thread.join(20)
            assert not thread.is_alive(), "it stops when it is closed"


def connected(worker: DownstreamWorker) -> Asking:
    asking = Asking(worker.address)
    kind, _ = asking.frame()
    assert kind == HELLO
    return asking


def twice(rows: Any) -> Any:
    return rows * 2


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "localhost:0", "unix:{}/head.sock"])
def test_a_worker_says_hello_and_answers_each_request(listen: str, tmp_path: Path) -> None:
    with serving(WorkerHead(twice, width=3), listen.format(tmp_path)) as worker:
        asking = Asking(worker.address)
        kind, blob = asking.frame()
        assert kind == HELLO
        found = metadata_of(blob)
        assert found.pop("worker").startswith("plumbline-sae ")
        assert found == {"protocol": "1", "reads": "activations", "width": "3"}
        for factor in (1, 5):
            np.testing.assert_array_equal(asking.logits(activations=factor * ROWS).values, 2 * factor * ROWS)


def test_a_transcoders_head_gets_targets_and_residual_in_this_order() -> None:
    with serving(WorkerHead(lambda targets, residual: targets - residual, TRANSCODER)) as worker:
        asking = Asking(worker.address)
        assert metadata_of(asking.frame()[1])["reads"] == "targets,residual"
        np.testing.assert_array_equal(asking.logits(residual=ROWS, targets=3 * ROWS).values, 2 * ROWS)


def test_only_this_user_may_connect_to_the_socket_which_is_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "head.sock"
    with serving(WorkerHead(twice), f"unix:{path}"):
        assert path.stat().st_mode & 0o777 == 0o600
        with pytest.raises(OSError, match="a worker listens there already"):
            DownstreamWorker(WorkerHead(twice), f"unix:{path}")
    assert not path.exists()


def test_a_socket_left_by_a_crash_is_taken_over_and_another_file_is_not(tmp_path: Path) -> None:
    path = tmp_path / "head.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with serving(WorkerHead(twice), f"unix:{path}") as worker:
        connected(worker)
    path.write_text("mine")
    with pytest.raises(OSError, match="is no socket"):
        DownstreamWorker(WorkerHead(twice), f"unix:{path}")
    assert path.read_text() == "mine"


@pytest.mark.parametrize("listen", ["0.0.0.0:1", "192.168.0.1:80", "example.org:80", "7070", "unix:", "127.0.0.1:x"])
def test_it_listens_on_this_machine_alone(listen: str) -> None:
    with pytest.raises(ValueError, match="this machine alone"):
        DownstreamWorker(WorkerHead(twice), listen)


def broken(_: Any) -> Any:
    raise RuntimeError("CUDA out of memory\n on device 0")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (broken, "RuntimeError: CUDA out of memory on device 0"),
        (lambda rows: rows[:1], r"answered \[1, 3\] of F32 for 2 rows"),
        (lambda rows: rows.astype("int64"), "of I64 for 2 rows"),
        (lambda rows: rows.astype("complex64"), "TypeError: numbers of type complex64"),
        (lambda rows: None, "TypeError"),
    ],
)
def test_a_head_that_gives_no_logits_is_told_of_and_asked_again(call: Callable[..., Any], sentence: str) -> None:
    with serving(WorkerHead(call)) as worker:
        asking = connected(worker)
        for _ in range(2):
            assert re.search(sentence, asking.refusal(activations=ROWS))


def test_rows_that_the_head_does_not_read_are_refused_with_what_it_reads() -> None:
    with serving(WorkerHead(twice, AUTOENCODER, 3)) as worker:
        asking = connected(worker)
        assert "this head reads ['activations']" in asking.refusal(targets=ROWS)
        assert "this head reads [T, 3]" in asking.refusal(activations=ROWS[:, :2])
        assert "this head reads [T, 3]" in asking.refusal(activations=ROWS[:0])
        assert "expected [2, 3] of F32" in asking.refusal(activations=ROWS.astype("float64"))
        np.testing.assert_array_equal(asking.logits(activations=ROWS).values, 2 * ROWS)
    with serving(WorkerHead(lambda targets, _: targets, TRANSCODER)) as worker:
        assert "rows [1, 3] of F32" in connected(worker).refusal(targets=ROWS, residual=ROWS[:1])


def test_a_claimed_length_is_refused_before_anything_is_read() -> None:
    with serving(WorkerHead(twice), bytes=1 << 10) as worker:
        asking = connected(worker)
        asking.socket.sendall(struct.pack("<4sB3xQ", b"PLBW", REQUEST, 1 << 62))
        kind, blob = asking.frame()
        assert kind == ERROR
        assert "this worker takes 1024" in metadata_of(blob)["error"]
        with pytest.raises(EOFError):
            asking.frame()


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\n\r\n", struct.pack("<4sB3xQ", b"PLBW", ANSWER, 0), b"PLBW\2"])
def test_what_is_no_request_ends_its_connection_and_no_other(sent: bytes) -> None:
    with serving(WorkerHead(twice), transfer_seconds=0.2) as worker:
        other = connected(worker)
        asking = connected(worker)
        asking.socket.sendall(sent)
        with pytest.raises((EOFError, ConnectionResetError)):
            asking.frame()
        np.testing.assert_array_equal(other.logits(activations=ROWS).values, 2 * ROWS)


def test_bytes_that_are_no_safetensors_are_told_of() -> None:
    with serving(WorkerHead(twice)) as worker:
        asking = connected(worker)
        asking.socket.sendall(struct.pack("<4sB3xQ", b"PLBW", REQUEST, 9) + b"x" * 9)
        kind, blob = asking.frame()
        assert kind == ERROR
        assert "cannot be read" in metadata_of(blob)["error"]


def test_an_idle_connection_ends() -> None:
    with serving(WorkerHead(twice), idle_seconds=0.3) as worker, pytest.raises(EOFError):
        connected(worker).frame()


def all_idle(worker: DownstreamWorker) -> None:
    """Waits until the worker knows that its answers were taken, which is after they were."""
    deadline = time.monotonic() + 20
    while None in worker._open.values():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_new_connection_takes_the_place_of_the_one_that_was_idle_longest() -> None:
    with serving(WorkerHead(twice), connections=2) as worker:
        longest, second = connected(worker), connected(worker)
        for asking in (second, longest, second):
            asking.logits(activations=ROWS)
            all_idle(worker)
        third = connected(worker)
        with pytest.raises(EOFError):
            longest.frame()
        for kept in (second, third):
            np.testing.assert_array_equal(kept.logits(activations=ROWS).values, 2 * ROWS)


def test_a_connection_is_refused_where_all_others_are_at_work() -> None:
    begun, go = threading.Event(), threading.Event()

    def head(rows: Any) -> Any:
        begun.set()
        assert go.wait(20)
        return rows

    with serving(WorkerHead(head), connections=1) as worker:
        asking = connected(worker)
        blob = encode({"activations": tensor_of(ROWS)})
        asking.socket.sendall(struct.pack("<4sB3xQ", b"PLBW", REQUEST, len(blob)) + blob)
        assert begun.wait(20)
        with pytest.raises((EOFError, ConnectionResetError)):
            Asking(worker.address).frame()
        go.set()
        assert asking.frame()[0] == ANSWER


def drip(sender: socket.socket, frame: bytes) -> None:
    """Sends a byte at a time until the other end closes."""
    sender.settimeout(0.05)
    for byte in frame:
        sender.sendall(bytes([byte]))
        with contextlib.suppress(TimeoutError):
            if not sender.recv(1):
                raise EOFError


def test_a_frame_that_comes_byte_by_byte_ends_when_its_time_is_over() -> None:
    with serving(WorkerHead(twice), transfer_seconds=0.5) as worker:
        slow = connected(worker)
        begun = time.monotonic()
        with pytest.raises((EOFError, ConnectionError)):
            drip(slow.socket, struct.pack("<4sB3xQ", b"PLBW", REQUEST, 1 << 20) + b"x" * 200)
        assert time.monotonic() - begun < 5


def test_a_request_whose_sender_is_gone_is_not_run() -> None:
    begun, go = threading.Event(), threading.Event()
    seen: list[float] = []

    def head(rows: Any) -> Any:
        seen.append(float(rows[0, 0]))
        begun.set()
        assert go.wait(20)
        return rows

    with serving(WorkerHead(head)) as worker:
        first, gone, last = connected(worker), connected(worker), connected(worker)
        blob = encode({"activations": tensor_of(ROWS)})
        first.socket.sendall(struct.pack("<4sB3xQ", b"PLBW", REQUEST, len(blob)) + blob)
        assert begun.wait(20)
        blob = encode({"activations": tensor_of(ROWS + 1)})
        gone.socket.sendall(struct.pack("<4sB3xQ", b"PLBW", REQUEST, len(blob)) + blob)
        gone.socket.close()
        go.set()
        np.testing.assert_array_equal(last.logits(activations=ROWS + 2).values, ROWS + 2)
        assert first.frame()[0] == ANSWER
    assert seen == [0.0, 2.0]


def test_a_bfloat16_answer_travels_as_it_is() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    with serving(WorkerHead(lambda rows: torch.from_numpy(rows).bfloat16())) as worker:
        answer = connected(worker).logits(activations=ROWS)
        assert answer.dtype == "BF16"
        np.testing.assert_array_equal(answer.widened(), ROWS)


def test_a_model_cut_behind_a_site_answers_as_the_whole_model() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    pytest.importorskip("transformers", reason="needs transformers: pip install transformers")
    from test_heads import RESIDUAL, TOKENS, gpt2, recorded
    from test_heads import TRANSCODER as SITE

    from plumbline_sae.worker_heads import head_of_model

    model = gpt2()
    with torch.no_grad():
        expected = model(torch.tensor(TOKENS)).logits[0].numpy()
    rows, targets = recorded(model, RESIDUAL), recorded(model, "blocks.1.hook_mlp_out")
    with serving(head_of_model(model, RESIDUAL)) as worker:
        asking = Asking(worker.address)
        assert metadata_of(asking.frame()[1])["width"] == "32"
        np.testing.assert_allclose(asking.logits(activations=rows.numpy()).values, expected, atol=1e-5)
    with serving(head_of_model(model, SITE)) as worker:
        found = connected(worker).logits(targets=targets.numpy(), residual=(rows - targets).numpy())
        np.testing.assert_allclose(found.values, expected, atol=1e-5)


def test_a_function_is_found_by_name_and_its_arguments_say_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_heads.py").write_text(
        "scale = 2\n"
        "def one(activations, temperature=1.0): return activations\n"
        "def two(targets, residual): return targets\n"
        "def none(): return 0\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert head_of_function("my_heads:one").reads == AUTOENCODER
    assert head_of_function("my_heads:two").reads == TRANSCODER
    for name, sentence in {
        "my_heads": "expected MODULE:FUNCTION",
        "my_heads:none": "takes 0 arguments",
        "my_heads:scale": "is no function",
        "my_heads:missing": "missing",
        "nowhere:head": "No module named 'nowhere'",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            head_of_function(name)


def test_the_command_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    (tmp_path / "my_head.py").write_text("def head(activations):\n    return activations * 2\n")
    with started(tmp_path, "my_head:head") as process:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line == f"listening on unix:{tmp_path}/head.sock"
        asking = Asking(line.removeprefix("listening on "))
        assert asking.frame()[0] == HELLO
        np.testing.assert_array_equal(asking.logits(activations=ROWS).values, 2 * ROWS)
        process.terminate()
        assert process.wait(20) == 0
    assert not (tmp_path / "head.sock").exists()


def test_a_run_that_does_not_end_ends_the_worker(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import time\ndef head(activations):\n    time.sleep(600)\n")
    with started(tmp_path, "endless:head", "--run-timeout", "0.2") as process:
        assert process.stdout is not None
        asking = Asking(process.stdout.readline().strip().removeprefix("listening on "))
        assert asking.frame()[0] == HELLO
        with pytest.raises((EOFError, ConnectionResetError)):
            asking.ask(activations=ROWS)
        assert process.wait(20) == 4
        assert process.stderr is not None
        assert "took more than 0.2 s" in process.stderr.read()


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "plumbline_sae", "downstream-worker", "--listen", "unix:head.sock", *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "expected one of HEAD, --onnx and --model"),
        (["a:b", "--onnx", "x"], "expected one of HEAD, --onnx and --model"),
        (["--model", "x"], "--model needs --site"),
        (["nowhere:head"], "No module named 'nowhere'"),
        (["os:getpid", "--run-timeout", "0"], "expected more than 0"),
    ],
)
def test_a_wrong_option_of_the_worker_is_told(words: list[str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["downstream-worker", "--listen", f"unix:{tmp_path}/head.sock", *words])
    assert sentence in str(ended.value)
