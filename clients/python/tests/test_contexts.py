"""Rows of requests that are served beside each other, by tasks, threads and processes: each under its own request."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from recorder import Recorder

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")

from plumbline_sae.capture import Capture, capture  # noqa: E402

TOKENS = 10


class Model(torch.nn.Module):
    """Gives its tokens back; `meanwhile` runs in the middle of a call."""

    def __init__(self, meanwhile: Callable[[], Any] = lambda: None) -> None:
        super().__init__()
        self.place = torch.nn.Identity()
        self.meanwhile = meanwhile

    def forward(self, input_ids: Any) -> Any:
        self.meanwhile()
        return self.place(input_ids.float()[..., None])


def ids_of(number: int) -> Any:
    return torch.full((1, TOKENS), number)


def require_own_rows(producer: Recorder, names: list[str]) -> None:
    assert sorted(sent.request for sent in producer.sent) == sorted(names)
    for name in names:
        assert producer.of(name).rows[:, 0].tolist() == [float(name)] * TOKENS


def test_tasks_that_wait_within_a_batch_keep_their_rows_apart() -> None:
    model, producer = Model(), Recorder()
    with capture(model, producer, {"r": "place"}) as captured:

        async def serve(number: int) -> None:
            with captured.batch([str(number)]):
                await asyncio.sleep(0.001 * (5 - number))
                model(ids_of(number))
                await asyncio.sleep(0)

        async def serve_all() -> None:
            await asyncio.gather(*(serve(number) for number in range(1, 5)))

        asyncio.run(serve_all())
    assert (captured.stats.failed, captured.stats.without_batch) == (0, 0)
    require_own_rows(producer, ["1", "2", "3", "4"])


def test_a_thread_finds_the_batch_of_the_context_it_runs_in() -> None:
    model, producer = Model(), Recorder()
    with capture(model, producer, {"r": "place"}) as captured, ThreadPoolExecutor(2) as pool:

        async def serve(number: int) -> None:
            with captured.batch([str(number)]):
                await asyncio.to_thread(model, ids_of(number))

        async def serve_all() -> None:
            await asyncio.gather(*(serve(number) for number in range(1, 4)))

        asyncio.run(serve_all())
        with captured.batch(["4"]):
            thread = threading.Thread(target=contextvars.copy_context().run, args=(model, ids_of(4)))
            thread.start()
            thread.join()
        with captured.batch(["5"]):
            pool.submit(contextvars.copy_context().run, model, ids_of(5)).result()
    assert (captured.stats.failed, captured.stats.without_batch) == (0, 0)
    require_own_rows(producer, ["1", "2", "3", "4", "5"])


@pytest.mark.parametrize("way", ["thread", "executor"])
def test_a_thread_that_finds_no_batch_takes_nothing_and_says_so_once(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    model, producer = Model(), Recorder()

    def run() -> None:
        if way == "executor":
            with ThreadPoolExecutor(1) as pool:
                pool.submit(model, ids_of(2)).result()
            return
        thread = threading.Thread(target=model, args=(ids_of(2),))
        thread.start()
        thread.join()

    with caplog.at_level(logging.WARNING), capture(model, producer, {"r": "place"}) as captured:
        with captured.batch(["1"]):
            model(ids_of(1))
            run()
            run()
        model(ids_of(3))
    require_own_rows(producer, ["1"])
    assert (captured.stats.failed, captured.stats.without_batch) == (0, 3)
    beside, outside = [record.getMessage() for record in caplog.records]
    assert "while one is open elsewhere" in beside
    assert "Thread(target=contextvars.copy_context().run" in beside
    assert outside.startswith("the model is called outside of every batch: nothing is taken of the call;")


def test_two_calls_at_once_are_of_their_own_threads_batches() -> None:
    both = threading.Barrier(2, timeout=10)
    model, producer = Model(both.wait), Recorder()
    with capture(model, producer, {"r": "place"}) as captured:

        def serve(number: int) -> None:
            with captured.batch([str(number)]):
                model(ids_of(number))

        threads = [threading.Thread(target=serve, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert captured.stats.failed == 0, captured.stats
    require_own_rows(producer, ["1", "2"])


def test_a_task_that_outlives_its_batch_is_filed_under_no_other_one() -> None:
    model, producer = Model(), Recorder()
    with capture(model, producer, {"r": "place"}) as captured:
        with captured.batch(["1"]):
            model(ids_of(1))
            late = contextvars.copy_context()
            with captured.batch(["2"]):
                model(ids_of(2))
                within = contextvars.copy_context()
            within.run(model, ids_of(1))  # the batch around it is still open: its text repeats
        with captured.batch(["3"]):
            late.run(model, ids_of(9))
            model(ids_of(3))
    require_own_rows(producer, ["1", "2", "3"])
    assert (captured.stats.failed, captured.stats.without_batch) == (0, 1)


def test_a_call_that_goes_on_when_its_batch_has_ended_is_told() -> None:
    begun, over = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        over.wait(10)

    model, producer = Model(wait), Recorder()
    with capture(model, producer, {"r": "place"}) as captured:
        with captured.batch(["1"]):
            thread = threading.Thread(target=contextvars.copy_context().run, args=(model, ids_of(1)))
            thread.start()
            begun.wait(10)
        over.set()
        thread.join()
    assert "the model goes on when the batch has ended" in str(captured.stats.last_error)
    assert producer.sent == []


def test_a_call_that_another_thread_replaces_half_way_gives_no_token_twice() -> None:
    begun, replaced = threading.Event(), threading.Event()

    def wait() -> None:
        if not begun.is_set():
            begun.set()
            replaced.wait(10)

    model, producer = Model(wait), Recorder()
    with capture(model, producer, {"r": "place"}) as captured, captured.batch(["1"]):
        thread = threading.Thread(target=contextvars.copy_context().run, args=(model, ids_of(1)))
        thread.start()
        begun.wait(10)
        model(ids_of(1))
        replaced.set()
        thread.join()
    assert captured.stats.failed == 0, captured.stats
    require_own_rows(producer, ["1"])


def test_a_site_that_is_refused_in_one_batch_is_taken_in_those_beside_it(caplog: pytest.LogCaptureFixture) -> None:
    class Repeats(Model):
        def forward(self, input_ids: Any) -> Any:
            rows = super().forward(input_ids)
            return super().forward(input_ids) if input_ids[0, 0] == 2 else rows

    both = threading.Barrier(2, timeout=10)
    model, producer = Repeats(), Recorder()
    with capture(model, producer, {"r": "place"}) as captured:

        def serve(number: int) -> None:
            with captured.batch([str(number)]):
                for _ in range(3):
                    both.wait()
                    model(ids_of(number))

        threads = [threading.Thread(target=serve, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    require_own_rows(producer, ["1"])
    assert captured.stats.failed == 1
    assert "place is called more than once in one call of the model" in str(captured.stats.last_error)
    assert len(caplog.records) == 1
    assert captured.silent == {}


def test_a_batch_that_is_left_in_another_context_ends_too() -> None:
    model, producer = Model(), Recorder()
    with capture(model, producer, {"r": "place"}) as captured:
        opened = captured.batch(["1"])
        contextvars.copy_context().run(opened.__enter__)
        opened.__exit__(None, None, None)
        with captured.batch(["2"]):
            model(ids_of(2))
    require_own_rows(producer, ["2"])


def in_child(work: Callable[[], bool]) -> bool:
    """Runs `work` in a forked process; True where it returned True there within a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a lock that nobody releases is a failure, and no test without an end
        passed = False
        try:
            passed = work()
        finally:
            os._exit(0 if passed else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_takes_nothing_and_says_so() -> None:
    model, producer = Model(), Recorder()
    with capture(model, producer, {"r": "place"}) as captured:

        def serve() -> bool:
            model(ids_of(2))  # in the batch of the other process
            with captured.batch(["2"]):
                model(ids_of(2))
            told = "was forked from; make it behind the fork" in str(captured.stats.last_error)
            return told and captured.stats.failed == 2 and captured.flush(0.1) == 0 and producer.sent == []

        with captured.batch(["1"]), captured._lock:  # as if another thread held the lock where the process forks
            assert in_child(serve)
        with captured.batch(["1"]):
            model(ids_of(1))
    assert captured.stats.failed == 0
    require_own_rows(producer, ["1"])


ENDS = """
    import threading, time
    import torch
    from recorder import Recorder
    from plumbline_sae.capture import capture

    class Slow(Recorder):
        def send(self, site, request, activations, **others):
            time.sleep({pause})
            print(request, len(activations.values), flush=True)
            return True

    model = torch.nn.Sequential(torch.nn.Embedding(64, 8))
    captured = capture(model, Slow(), {{"r": "0"}})
    for number in range(20):
        with captured.batch([f"request-{{number}}"]):
            model(torch.tensor([[number]]))
"""


ADDS_UP = """
    import torch
    from test_moments import PANE, Accumulation, MomentAccumulator, Records
    from plumbline_sae.capture import capture

    class Printing(Records):
        def at_exit(self, timeout):
            print([int(record["rows"].values[0]) for _, record, *_ in self.records], flush=True)

    model = torch.nn.Sequential(torch.nn.Embedding(64, 8))
    moments = MomentAccumulator(Printing(), {"r": Accumulation(PANE)}, linger_ms=10**9)
    captured = capture(model, moments, {"r": "0"})
    with captured.batch(["request"], timestamp_ms=0):
        model(torch.tensor([[1, 2, 3]]))
"""


def ends(pause: float, timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
    limit = f"import plumbline_sae.process as process\nprocess._TIMEOUT = {timeout}\n"
    return run_to_its_end(textwrap.dedent(ENDS.format(pause=pause)) + limit)


def run_to_its_end(code: str) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here.parent / "src")])}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )


def test_what_waits_when_the_process_ends_is_stored() -> None:
    run = ends(0.005)
    assert run.stdout.splitlines() == [f"request-{number} 1" for number in range(20)]
    assert run.stderr == ""


def test_what_a_capture_has_adds_up_and_is_sent_when_the_process_ends() -> None:
    run = run_to_its_end(textwrap.dedent(ADDS_UP))
    assert (run.stdout, run.stderr) == ("[3]\n", "")


def test_what_cannot_be_stored_when_the_process_ends_is_told() -> None:
    run = ends(2.0, timeout=0.1)
    assert len(run.stdout.splitlines()) < 2
    assert "the process ends and captured rows are lost" in run.stderr


def test_a_removed_capture_has_nothing_to_do_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    captured: Capture = capture(Model(), Recorder(), {"r": "place"})
    captured.remove()
    captured.at_exit(0.1)
    assert caplog.records == []
