"""The worker with a tap on recorded steps: every token that stands has one row, whatever the scheduler did."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_vllm import Base, Engine, Part, Planned, expected, new, vllm_config
from recorder import Recorder

import plumbline_sae.vllm.outlets as outlets
import plumbline_sae.vllm.worker as workers
from plumbline_sae.coverage import Missing
from plumbline_sae.producer import Stats
from plumbline_sae.vllm.places import Place

SITES = {"a": "blocks.0.hook_resid_post", "b": "blocks.2.hook_resid_pre"}
TAGS = "plumbline.tags"
KAFKA = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}


class Sink(Recorder):
    stats = Stats()


class Served:
    """A worker with a tap, whose rows stay here."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, v2: bool = False, engine: Any = None, **settings: Any):
        self.sink = Sink()
        monkeypatch.setattr(workers, "Producer", self._producer)
        config = vllm_config({"kafka": KAFKA, "sites": SITES, **settings})
        self.worker = workers.worker_class(Base, engine or Engine())(config, v2=v2)
        self.worker.load_model()

    def _producer(self, config: Any, topic: str, **options: Any) -> Any:
        self.options = {"topic": topic, **options}
        return self.sink

    def run(self, *steps: Planned) -> Any:
        for step in steps:
            assert self.worker.execute_model(step.scheduled()) == "output"
        self.worker.shutdown()
        assert self.worker.ended
        tap = self.worker.plumbline
        assert tap.stats.failed == 0, tap.stats.last_error
        assert tap.stats.waiting_bytes == 0
        return tap.stats

    def check(self, request: str, tokens: list[int], start: int = 0) -> None:
        """Compares what was sent of a request, in however many records."""
        for site, layer in (("a", 1), ("b", 2)):
            sent = [record for record in self.sink.sent if (record.site, record.request) == (site, request)]
            rows = np.concatenate([record.rows for record in sent])
            np.testing.assert_array_equal(rows, expected(tokens, start, layer))
            assert [int(number) for record in sent for number in record.token_ids] == tokens


@pytest.fixture(params=["v1", "v2"])
def served(request: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Served]:
    return lambda **settings: Served(monkeypatch, v2=request.param == "v2", **settings)


def test_prompts_and_answers_of_a_ragged_batch_have_a_row_each(served: Any) -> None:
    it = served()
    stats = it.run(
        Planned([Part("x", 0, [5, 6, 7]), Part("y", 0, [8])], new=[new("x"), new("y")]),
        Planned([Part("y", 1, [9]), Part("x", 3, [4])]),
        Planned([Part("x", 4, [3])], ended=["y"]),
        Planned(ended=["x"]),
    )
    it.check("x", [5, 6, 7, 4, 3])
    it.check("y", [8, 9])
    assert (stats.steps, stats.requests, stats.rows) == (4, 2, 14)


def test_the_records_of_a_request_have_one_time_at_all_sites(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlets, "time", SimpleNamespace(time=itertools.count(1_700_000_000).__next__))
    it = served()
    it.run(Planned([Part("x", 0, [5, 6, 7])], new=[new("x")]), Planned(ended=["x"]))
    assert [(sent.site, sent.timestamp_ms) for sent in it.sink.sent] == [(site, 1_700_000_000_000) for site in "ab"]


def test_chunks_of_a_prompt_are_joined_and_a_cached_prefix_is_counted(served: Any) -> None:
    it = served()
    it.run(
        Planned([Part("x", 16, [1, 2])], new=[new("x")]),
        Planned([Part("x", 18, [3, 4, 5])]),
        Planned(ended=["x"]),
    )
    it.check("x", [1, 2, 3, 4, 5], start=16)
    assert it.sink.missing == {"a": Missing(cached=16), "b": Missing(cached=16)}


def test_what_is_computed_again_after_a_preemption_counts_once(served: Any) -> None:
    it = served()
    it.run(
        Planned([Part("x", 0, [1, 2, 3])], new=[new("x")]),
        Planned([Part("x", 3, [4])]),
        Planned(resumed=["x"]),
        Planned([Part("x", 0, [1, 2])], resumed=["x"]),
        Planned([Part("x", 2, [3, 4, 5])]),
        Planned(ended=["x"]),
    )
    it.check("x", [1, 2, 3, 4, 5])
    assert it.sink.missing["a"] == Missing()


def test_a_preempted_request_that_was_sent_in_part_is_not_sent_again(served: Any) -> None:
    it = served(part_rows=2)
    it.run(
        Planned([Part("x", 0, [1, 2, 3])], new=[new("x")]),
        Planned([Part("x", 0, [1, 2, 3, 4])], resumed=["x"]),
        Planned(ended=["x"]),
    )
    it.check("x", [1, 2, 3, 4])
    assert [len(sent.rows) for sent in it.sink.sent if sent.site == "a"] == [3, 1]


def test_rejected_drafts_are_replaced_and_those_of_a_last_step_are_not_sent(served: Any) -> None:
    it = served()
    it.run(
        Planned([Part("x", 0, [1, 2])], new=[new("x")]),
        Planned([Part("x", 2, [3, 40, 50, 60], drafts=3)]),
        Planned([Part("x", 4, [5, 70, 80], drafts=2)]),  # 40 stood, 50 and 60 did not
        Planned(ended=["x"]),
    )
    it.check("x", [1, 2, 3, 40, 5])


def test_drafts_before_a_preemption_are_forgotten(served: Any) -> None:
    it = served()
    it.run(
        Planned([Part("x", 0, [1, 2])], new=[new("x")]),
        Planned([Part("x", 2, [3, 40], drafts=1)]),
        Planned([Part("x", 4, [5])], resumed=["x"]),  # another request's cache holds what stands at 3
        Planned(ended=["x"]),
    )
    for site in ("a", "b"):
        assert it.sink.missing[site] == Missing(cached=1)
    assert [int(number) for number in it.sink.sent[0].token_ids] == [1, 2, 3, 5]


def test_drafts_that_the_device_left_out_move_no_other_row(monkeypatch: pytest.MonkeyPatch) -> None:
    it = Served(monkeypatch, v2=True, sample=0.999999)
    it.worker.model_runner.trims = {"x": 2}
    it.run(
        Planned([Part("x", 0, [1, 2, 3, 4], drafts=3), Part("y", 0, [7, 8])], new=[new("x"), new("y")]),
        Planned([Part("y", 2, [9])], ended=["x"]),
        Planned(ended=["y"]),
    )
    it.check("x", [1])
    it.check("y", [7, 8, 9])


def test_several_answers_and_an_aborted_one_are_requests_of_their_own(served: Any) -> None:
    it = served()
    it.run(
        Planned([Part("0_x", 0, [1, 2]), Part("1_x", 0, [1, 2])], new=[new("0_x"), new("1_x")]),
        Planned([Part("0_x", 2, [3])], ended=["1_x"]),
        Planned(ended=["0_x"]),
    )
    it.check("0_x", [1, 2, 3])
    it.check("1_x", [1, 2])


def test_a_name_that_ends_and_begins_in_one_step_is_two_requests(served: Any) -> None:
    it = served()
    it.run(
        Planned([Part("x", 0, [1, 2])], new=[new("x")]),
        Planned([Part("x", 0, [7])], new=[new("x")], ended=["x"]),
        Planned(ended=["x"]),
    )
    assert [sent.token_ids.tolist() for sent in it.sink.sent if sent.site == "a"] == [[1, 2], [7]]


def test_what_stands_at_the_end_of_the_server_is_sent(served: Any) -> None:
    it = served()
    it.run(Planned([Part("x", 0, [1, 2, 3, 9], drafts=1)], new=[new("x")]))
    it.check("x", [1, 2, 3])


def test_long_answers_leave_in_parts(served: Any) -> None:
    it = served(part_rows=4)
    it.run(
        Planned([Part("x", 0, [1])], new=[new("x")]),
        *[Planned([Part("x", at, [at])]) for at in range(1, 10)],
        Planned(ended=["x"]),
    )
    it.check("x", [1, *range(1, 10)])
    assert [len(sent.rows) for sent in it.sink.sent if sent.site == "a"] == [4, 4, 2]


def test_requests_that_are_left_out_are_counted(served: Any) -> None:
    it = served(sample=0.5)
    names = [f"r{number}" for number in range(40)]
    it.run(
        Planned([Part(name, 8, [int(name[1:]), 1]) for name in names[:20]], new=[new(name) for name in names[:20]]),
        Planned([Part(name, 0, [int(name[1:])]) for name in names[20:]], new=[new(name) for name in names[20:]]),
        Planned(ended=names),
    )
    taken = {sent.request for sent in it.sink.sent}
    assert 5 < len(taken) < 35
    for name in taken:
        tokens = [int(name[1:]), 1] if name in names[:20] else [int(name[1:])]
        it.check(name, tokens, start=8 if name in names[:20] else 0)
    left = [name for name in names if name not in taken]
    assert it.sink.missing["a"].not_sampled == sum(2 if name in names[:20] else 1 for name in left)
    assert it.sink.missing["a"].cached == 160


def test_special_tokens_are_left_out(served: Any) -> None:
    it = served(special_ids=[0, 2])
    it.run(Planned([Part("x", 0, [0, 5, 2, 6])], new=[new("x")]), Planned(ended=["x"]))
    assert it.sink.of_site("a").token_ids.tolist() == [5, 6]
    np.testing.assert_array_equal(it.sink.of_site("a").rows, [[5, 1, 1, 1], [6, 3, 1, 1]])
    assert it.sink.missing["a"] == Missing()


def test_records_say_where_their_rows_come_from(served: Any) -> None:
    it = served(headers={"model": "tiny"})
    it.run(
        Planned(
            [Part("x", 0, [1]), Part("y", 0, [2])],
            new=[new("x", **{TAGS: "tenant=acme"}, other=1), new("y", adapter="sql", **{TAGS: 7})],
        ),
        Planned(ended=["x", "y"]),
    )
    headers = {sent.request: sent.headers for sent in it.sink.sent}
    assert headers == {"x": {"tags": "tenant=acme"}, "y": {"adapter": "sql"}}
    assert it.options["headers"] == {
        "engine": "vllm",
        "engine_version": "0.32.0",
        "quantization": "fp8",
        "model": "tiny",
    }


def test_rows_without_room_are_dropped_and_counted_and_the_rest_goes_on(served: Any) -> None:
    it = served(max_waiting_bytes=100)
    join = it.worker.plumbline._join
    steps = [
        Planned([Part("x", 0, [1, 2, 3])], new=[new("x")]),  # 96 bytes: the first one always fits
        Planned([Part("x", 3, [4, 5])]),
    ]
    told: list[Any] = []
    it.worker.plumbline._join = told.append
    for step in steps:
        it.worker.execute_model(step.scheduled())
    assert it.worker.plumbline.drain()
    it.worker.plumbline._join = join
    for entry in told:
        join(entry)
    it.run(Planned([Part("x", 5, [6])]), Planned(ended=["x"]))
    assert it.sink.dropped == [("a", 2), ("b", 2)]
    assert [int(number) for sent in it.sink.sent if sent.site == "a" for number in sent.token_ids] == [1, 2, 3, 6]


def test_requests_that_hold_half_of_the_room_send_what_they_have(served: Any) -> None:
    it = served(max_waiting_bytes=400)
    it.run(
        Planned([Part("x", 0, [1, 2, 3, 4])], new=[new("x")]),
        Planned([Part("x", 4, [5, 6, 7])]),
        Planned([Part("x", 7, [8])]),
        Planned(ended=["x"]),
    )
    it.check("x", [1, 2, 3, 4, 5, 6, 7, 8])
    assert [len(sent.rows) for sent in it.sink.sent if sent.site == "a"] == [7, 1]
    assert it.sink.dropped == []


@pytest.mark.parametrize("engine", [Engine(rank=1)])
def test_only_the_first_of_the_ranks_sends_and_all_compute_the_same(
    monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    it = Served(monkeypatch, engine=engine)
    assert it.worker.plumbline is None
    assert it.worker.model_runner.use_aux_hidden_state_outputs
    assert it.worker.model_runner.model.layers == (1, 2)
    it.worker.execute_model(Planned([Part("x", 0, [1])], new=[new("x")]).scheduled())
    it.worker.shutdown()
    assert it.sink.sent == []


def test_a_step_that_cannot_be_taken_is_counted_and_never_raised(served: Any, caplog: pytest.LogCaptureFixture) -> None:
    it = served()
    it.worker.execute_model(Planned([Part("x", 0, [1])], new=[new("x")]).scheduled())
    run = it.worker.model_runner.run

    def broken(scheduled: Any) -> None:
        run(scheduled)
        del it.worker.model_runner.execute_model_state.aux_hidden_states[0]

    it.worker.model_runner.run = broken
    for at in (1, 2):
        it.worker.execute_model(Planned([Part("x", at, [1])]).scheduled())
    it.worker.model_runner.run = run
    it.worker.execute_model(Planned([Part("x", 3, [4])]).scheduled())
    it.worker.shutdown()
    stats = it.worker.plumbline.stats
    assert stats.failed == 2
    assert stats.last_error == "the model gave 1 auxiliary outputs, expected 2"
    assert len([record for record in caplog.records if "not captured" in record.message]) == 1
    assert [len(sent.rows) for sent in it.sink.sent] == [2, 2]
    assert it.sink.dropped == [("a", 2), ("b", 2)]
    assert it.sink.missing == {"a": Missing(), "b": Missing()}
    assert stats.waiting_bytes == 0


def broken_once(part: Any, name: str, monkeypatch: pytest.MonkeyPatch, at: int = 1) -> None:
    """Lets the call of that number of a method fail."""
    method, calls = getattr(part, name), itertools.count(1)

    def broken(*given: Any, **options: Any) -> Any:
        if next(calls) == at:
            raise MemoryError(f"no memory for {name}")
        return method(*given, **options)

    monkeypatch.setattr(part, name, broken)


@pytest.mark.parametrize("part", ["hold", "take"])
def test_rows_that_cannot_be_held_are_dropped_and_give_their_room_back(
    served: Any, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = served(max_waiting_bytes=64)  # two rows
    tap = it.worker.plumbline
    # Of a step names are copied first, then rows.
    broken_once(*((tap._outlet, part) if part == "hold" else (tap._snapshots, part)), monkeypatch, 1 + (part == "take"))
    it.worker.execute_model(Planned([Part("x", 0, [1, 2])], new=[new("x")]).scheduled())
    assert tap.drain()
    it.worker.execute_model(Planned([Part("x", 2, [3])]).scheduled())
    it.worker.execute_model(Planned([Part("y", 0, [7])], ended=["x"], new=[new("y")]).scheduled())
    it.worker.shutdown()
    assert (tap.stats.failed, tap.stats.waiting_bytes) == (1, 0)
    assert tap.stats.last_error == f"no memory for {part}"
    assert it.sink.dropped == [("a", 2), ("b", 2)]
    assert {sent.request: sent.token_ids.tolist() for sent in it.sink.sent} == {"x": [3], "y": [7]}


def test_a_step_whose_names_cannot_be_copied_keeps_no_room(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    it = served()
    broken_once(it.worker.plumbline._snapshots, "take", monkeypatch)
    it.worker.execute_model(Planned([Part("x", 0, [1, 2])], new=[new("x")]).scheduled())
    assert it.worker.plumbline.drain()
    assert it.worker.plumbline.stats.waiting_bytes == 0
    it.worker.shutdown()


def test_a_request_begins_although_one_that_ended_could_not_be_sent(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = served()
    tap = it.worker.plumbline
    broken_once(tap._outlet, "send", monkeypatch)
    for step in (
        Planned([Part("x", 0, [1, 2])], new=[new("x")]),
        Planned([Part("y", 0, [7])], ended=["x"], new=[new("y")]),
        Planned(ended=["y"]),
    ):
        it.worker.execute_model(step.scheduled())
    it.worker.shutdown()
    assert (tap.stats.failed, tap.stats.waiting_bytes) == (1, 0)
    it.check("y", [7])


def test_rows_that_cannot_be_put_together_are_dropped_of_their_site_alone(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = served()
    broken_once(outlets, "_joined", monkeypatch)
    it.run(Planned([Part("x", 2, [1, 2])], new=[new("x")]), Planned(ended=["x"]))
    assert it.sink.dropped == [("a", 2)]
    assert it.sink.of("x").site == "b"
    assert it.sink.missing == {"a": Missing(cached=2), "b": Missing(cached=2)}


def test_outputs_that_a_speculator_reads_are_not_the_taps(
    served: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    def buffers(worker: Any, *others: Any) -> dict[Place, Any]:
        return dict(zip(map(Place.of, SITES.values()), worker.model_runner.buffers, strict=False))

    monkeypatch.setattr(workers, "_install_taps", buffers)
    it = served(module_taps=True)
    it.worker.model_runner.use_aux_hidden_state_outputs = True  # EAGLE3 asked for three layers
    it.worker.model_runner.model.layers = (1, 2, 3)
    it.run(Planned([Part("x", 0, [1, 2, 3])], new=[new("x")]), Planned(ended=["x"]))
    it.check("x", [1, 2, 3])


def test_a_broker_that_is_away_neither_stops_nor_slows_a_server() -> None:
    config = vllm_config({"kafka": {**KAFKA, "message.timeout.ms": 100}, "sites": SITES, "part_rows": 1})
    worker = workers.worker_class(Base, Engine())(config)
    worker.load_model()
    for at in range(200):
        step = Planned([Part("x", at, [at])], new=[new("x")] if at == 0 else [])
        worker.execute_model(step.scheduled())
    stats = worker.plumbline.stats
    assert (stats.steps, stats.failed) == (200, 0)
    assert stats.seconds < 2.0
    worker.plumbline.close(0.2)


def test_a_forked_worker_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    it = Served(monkeypatch)
    it.worker.plumbline.after_fork()
    it.worker.execute_model(Planned([Part("x", 0, [1])], new=[new("x")]).scheduled())
    assert it.worker.plumbline.stats.steps == 0
    assert it.sink.sent == []


def test_moments_of_steps_are_those_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from test_moments import Records, full, totals

    producer = Records()
    monkeypatch.setattr(workers, "Producer", lambda *given, **options: producer)
    how = {"pane_ms": 3_600_000, "max_bytes": 1 << 20}
    config = vllm_config({"kafka": KAFKA, "sites": SITES, "moments": how, "special_ids": [0]})
    worker = workers.worker_class(Base, Engine())(config)
    worker.load_model()
    assert worker.plumbline._outlet._moments._max_bytes == 1 << 20
    for step in (
        Planned([Part("x", 0, [0, 2]), Part("y", 4, [7])], new=[new("x"), new("y", **{TAGS: "tenant=b"})]),
        Planned([Part("x", 2, [3, 40, 50], drafts=2), Part("y", 5, [8])]),
        Planned([Part("x", 4, [5])]),
        Planned(ended=["x", "y"]),
    ):
        worker.execute_model(step.scheduled())
    worker.shutdown()
    assert worker.plumbline.stats.failed == 0, worker.plumbline.stats.last_error
    found = {(site, headers.get("tags")): tensors for site, tensors, _, headers in producer.records}
    assert set(found) == {(site, tags) for site in SITES for tags in (None, "tenant=b")}
    rows = np.concatenate([expected([2], 1, 1), expected([3, 40, 5], 2, 1)]).astype(np.float64)
    np.testing.assert_allclose(full(found["a", None]), rows.T @ rows)
    assert found["a", None]["requests"].values.tolist() == [1]
    (total,) = totals(found["a", None]).values()
    assert total == ("x", 1, len(rows), rows.sum(0).tolist())
    rows = expected([7, 8], 4, 2).astype(np.float64)
    np.testing.assert_allclose(full(found["b", "tenant=b"]), rows.T @ rows)
