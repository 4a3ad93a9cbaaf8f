"""Moment records against sums written out, and against the checks that the service makes of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plumbline_sae import Accumulation, Mask, MomentAccumulator
from plumbline_sae.coverage import Missing
from plumbline_sae.hashes import mixed, record_hash, request_hash, row_hashes, signed
from plumbline_sae.moments import MOST_ORIGINS
from plumbline_sae.producer import Producer
from plumbline_sae.tensors import Array, Tensor, decode, encode, tensor_of
from plumbline_sae.totals import most_totals

T0 = 1_700_000_040_000
PANE = 60_000


class Records(Producer):
    """A producer whose records stay here."""

    def __init__(self, **options: Any) -> None:
        config = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0, "message.max.bytes": 100_000_000}
        super().__init__({**config, **options})
        self.records: list[tuple[str, dict[str, Tensor], int, dict[str, str]]] = []
        self.words: list[tuple[str, int, int, dict[str, str]]] = []
        self.hears = True
        self.came = threading.Event()

    def send_word(self, site: str, tokens: int, *, key: str, timestamp_ms: int, record_id: str) -> bool:
        self.words.append((site, tokens, timestamp_ms, {"key": key, "record_id": record_id}))
        return self.hears

    def send_value(self, site: str, value: bytes, *, rows: int, key: str, timestamp_ms: int, headers: Any) -> bool:
        self.records.append((site, decode(value), timestamp_ms, {"key": key, **headers}))
        self.came.set()
        return True

    def flush(self, timeout: float = 10.0) -> int:
        return 0


def accumulate(rows: dict[str, Any], how: Accumulation, **options: Any) -> tuple[Records, dict[str, Tensor]]:
    producer = Records()
    with MomentAccumulator(producer, {"a": how}) as moments:
        for request, values in rows.items():
            assert moments.send("a", request, values, timestamp_ms=T0 + 5, **options), producer.stats
    assert len(producer.records) == 1
    return producer, producer.records[0][1]


def full(record: dict[str, Tensor]) -> Array:
    d = len(record["sum"].values)
    moment = np.zeros((d, d))
    moment[np.tril_indices(d)] = record["moment"].values
    return moment + np.tril(moment, -1).T


def batches(count: int, width: int, seed: int = 1, dtype: str = "float32") -> dict[str, Array]:
    generator = np.random.default_rng(seed)
    return {
        f"request-{i}": (generator.standard_normal((generator.integers(1, 90), width)) + 0.5).astype(dtype)
        for i in range(count)
    }


def assert_possible(record: dict[str, Tensor]) -> None:
    """The service's own checks, docs/reference/moment-records.md."""
    moment, total = full(record), record["sum"].values
    n, b = int(record["rows"].values[0]), float(record["largest_norm"].values[0])
    diagonal = np.diag(moment)
    assert (diagonal >= 0).all()
    assert (np.abs(moment) <= (1 + 1e-5) * np.sqrt(np.outer(diagonal, diagonal))).all()
    assert (np.abs(total) <= (1 + 1e-5) * np.sqrt(n * diagonal)).all()
    assert (1 - 1e-5) * b * b <= np.trace(moment) <= (1 + 1e-5) * n * b * b
    sample = record.get("sample_targets", record["sample_activations"]).widened().astype(np.float64)
    assert (np.linalg.norm(sample, axis=1) <= b * (1 + 1e-5)).all()
    assert ((sample**2).sum(0) <= (1 + 1e-5) * diagonal).all()
    hashes = record["sample_hash"].values
    assert (hashes[1:] > hashes[:-1]).all()
    assert len(sample) == len(record["sample_hash"].values) <= n
    if "total_request" in record:
        assert_possible_totals(record)


def assert_possible_totals(record: dict[str, Tensor]) -> None:
    requests, sums = record["total_request"].values, record["total_sum"].values.astype(np.float64)
    records, rows, lengths = record["total_counts"].values.T
    order = mixed(requests)
    assert (order[1:] > order[:-1]).all()
    n, of_records = int(record["rows"].values[0]), int(record["requests"].values[0])
    assert (records >= 1).all()
    assert (rows >= records).all()
    assert records.sum() <= of_records
    assert rows.sum() <= n
    assert (records.sum() == of_records) >= (rows.sum() == n)
    assert np.maximum(lengths, 0).sum() == len(record["total_names"].values)
    diagonal = np.diag(full(record))
    rest = np.abs(record["sum"].values - sums.sum(0))
    assert ((sums**2 / rows[:, None]).sum(0) <= (1 + 1e-5) * diagonal).all()
    assert (rest <= (1 + 1e-5) * np.sqrt((n - rows.sum()) * diagonal) + 1e-5 * np.sqrt(n * diagonal)).all()
    limit = order[-1] if rows.sum() < n else np.iinfo(np.int64).max
    sampled = record["sample_request"].values
    assert np.isin(sampled[mixed(sampled) <= limit], requests).all()


def totals(record: dict[str, Tensor]) -> dict[int, tuple[str | None, int, int, list[float]]]:
    """Returns name, row records, rows and sum of each request that has a total."""
    found, at = {}, 0
    named = zip(record["total_request"].values, record["total_counts"].values, strict=True)
    for number, (request, (records, rows, length)) in enumerate(named):
        points = record["total_names"].values[at : at + max(0, length)]
        at += len(points)
        name = None if length < 0 else "".join(map(chr, points))
        found[int(request)] = (name, int(records), int(rows), record["total_sum"].values[number].tolist())
    return found


def test_hashes_are_those_of_the_documents() -> None:
    for producer, batch, record, rows in [
        (1, 0, 6791897765849424158, [-2125252769065580202, 4585330820673184961, -8015769616597840910]),
        (1, 1, -1586005623519383010, [-3934503178261198974, 3307230796957799012, 5706694046452267557]),
        (81985529216486895, 7, 4195100727020444193, [-5108538743006203982, 6250797986626864548, -1753035561470407937]),
    ]:
        assert signed(record_hash(producer, batch)) == record
        assert row_hashes(record_hash(producer, batch), 3).tolist() == rows
    assert request_hash("request-1") == -5008229634334826175
    assert request_hash("Größe") == -3831621828060825682
    assert request_hash("a😀") == 6697286237178977687


@pytest.mark.parametrize("width", [3, 600])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_the_record_is_the_sums_of_all_rows(kind: str, width: int) -> None:
    rows = batches(12, width)
    given: dict[str, Any] = rows
    if kind == "torch":
        torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
        given = {request: torch.tensor(values) for request, values in rows.items()}
    producer, record = accumulate(given, Accumulation(PANE, sample_rows=100))
    every = np.concatenate(list(rows.values())).astype(np.float64)
    scale = np.sqrt(np.outer(*[(every**2).sum(0)] * 2))
    assert (np.abs(full(record) - every.T @ every) <= 2e-6 * scale).all()
    np.testing.assert_allclose(record["sum"].values, every.sum(0), atol=1e-6 * np.abs(every).sum())
    assert record["rows"].values.tolist() == [len(every)]
    assert record["requests"].values.tolist() == [12]
    assert record["pane"].values.tolist() == [T0, PANE]
    np.testing.assert_allclose(record["largest_norm"].values, np.linalg.norm(every, axis=1).max(), rtol=1e-12)
    assert len(record["sample_hash"].values) == min(100, len(every))
    assert_possible(record)
    site, _, timestamp, headers = producer.records[0]
    assert (site, timestamp) == ("a", T0 + 5)
    assert headers["record_id"].startswith(headers["key"])


def test_the_sample_is_the_rows_of_the_smallest_hashes_with_their_requests() -> None:
    rows = batches(30, 4)
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE, sample_rows=20)}) as moments:
        number = moments._number
        for request, values in rows.items():
            moments.send("a", request, values, timestamp_ms=T0)
    record = producer.records[0][1]
    every = [
        (int(hash_), request_hash(request), values[row])
        for batch, (request, values) in enumerate(rows.items())
        for row, hash_ in enumerate(row_hashes(record_hash(number, batch), len(values)))
    ]
    every.sort(key=lambda entry: entry[0])
    assert record["sample_hash"].values.tolist() == [entry[0] for entry in every[:20]]
    assert record["sample_request"].values.tolist() == [entry[1] for entry in every[:20]]
    np.testing.assert_array_equal(record["sample_activations"].values, [entry[2] for entry in every[:20]])


def steps(rows: dict[str, Array], size: int) -> list[tuple[list[str], list[int], Array]]:
    """Returns the rows of requests as a server computes them: some of each in every step."""
    found = []
    most = max(map(len, rows.values()))
    for first in range(0, most, size):
        parts = {name: values[first : first + size] for name, values in rows.items() if len(values) > first}
        index = [number for number, part in enumerate(parts.values()) for _ in part]
        found.append((list(parts), index, np.concatenate(list(parts.values()))))
    return found


def test_steps_of_many_requests_come_to_the_sums_of_their_rows() -> None:
    rows = batches(9, 6)
    producer = Records()
    mask = Mask(token_ids=(7,))
    with MomentAccumulator(producer, {"a": Accumulation(PANE, mask=mask)}) as moments:
        for names, index, values in steps(rows, 5):
            ids = np.where(np.arange(len(values)) == 0, 7, 1)
            assert moments.send_step("a", names, index, values, token_ids=ids, timestamp_ms=T0 + 5), producer.stats
    record = producer.records[0][1]
    kept = np.concatenate([values[1:] for _, _, values in steps(rows, 5)]).astype(np.float64)
    np.testing.assert_allclose(full(record), kept.T @ kept, rtol=1e-5, atol=1e-3)
    assert record["rows"].values.tolist() == [len(kept)]
    assert record["requests"].values.tolist() == [9]
    assert record["masked"].values.tolist() == [len(steps(rows, 5)), 0]
    assert_possible(record)


def test_a_sampled_row_of_a_step_names_its_own_request() -> None:
    rows = batches(4, 3)
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}) as moments:
        for names, index, values in steps(rows, 20):
            special = np.arange(len(values)) % 3 == 0
            assert moments.send_step("a", names, index, values, special=special, timestamp_ms=T0)
    record = producer.records[0][1]
    owner = {values.tobytes(): request_hash(name) for name, part in rows.items() for values in part}
    sampled = record["sample_activations"].values
    assert [owner[values.tobytes()] for values in sampled] == record["sample_request"].values.tolist()
    assert len(set(record["sample_request"].values.tolist())) == 4


def integers(count: int, width: int, dtype: str = "float32") -> dict[str, Array]:
    generator = np.random.default_rng(3)
    sizes = generator.integers(1, 60, count)
    return {
        f"request-{i}": generator.integers(-9, 10, (size, width)).astype(dtype) for i, size in enumerate(sizes.tolist())
    }


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("most", [3, 1_024])
def test_totals_are_those_of_the_requests_with_the_smallest_mixed_hashes(kind: str, most: int) -> None:
    rows = integers(40, 6)
    as_given: Any = np.asarray
    if kind == "torch":
        as_given = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'").tensor
    truth = {
        request_hash(name): (name, 1, len(values), values.sum(0, dtype="float64").tolist())
        for name, values in rows.items()
    }
    least = sorted(truth, key=lambda request: int(mixed(np.array([request]))[0]))[:most]
    producer = Records()
    how = {"a": Accumulation(PANE, request_totals=most)}
    with MomentAccumulator(producer, how) as moments:
        for names, index, values in steps(rows, 7):
            assert moments.send_step("a", names, index, as_given(values), timestamp_ms=T0), producer.stats
    with MomentAccumulator(producer, how) as moments:
        for name, values in rows.items():
            assert moments.send("a", name, as_given(values), timestamp_ms=T0), producer.stats
    for _, record, *_ in producer.records:
        assert_possible(record)
        assert list(totals(record).items()) == [(request, truth[request]) for request in least]


def test_totals_of_rows_of_several_kinds_are_added_up() -> None:
    producer = Records()
    rows = {**integers(30, 4), "request-7": np.ones((200, 4), dtype="float32")}
    with MomentAccumulator(producer, {"a": Accumulation(PANE, request_totals=5)}) as moments:
        for name, values in rows.items():
            assert moments.send("a", name, values[::2], timestamp_ms=T0)
        for name, values in rows.items():
            assert moments.send("a", name, values[1::2].astype("float64"), timestamp_ms=T0) or len(values) == 1
    record = producer.records[0][1]
    assert_possible(record)
    found = totals(record)
    assert len(found) == 5
    for name, records, count, total in found.values():
        assert name is not None
        assert count == len(rows[name])
        assert records == min(2, count)
        assert total == rows[name].sum(0).tolist()


def test_names_are_cut_and_a_batch_without_one_is_its_own_request() -> None:
    row = np.ones((1, 2), dtype="float32")
    names = ["x" * 63 + "😀", "😀" * 40, "ü", "a\ud800b", ""]
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}) as moments:
        number = moments._number
        for name in names:
            assert moments.send("a", name, row, timestamp_ms=T0), producer.stats
    found = totals(producer.records[0][1])
    assert {name for name, *_ in found.values()} == {"x" * 63, "😀" * 32, "ü", "ab", None}
    assert found[signed(record_hash(number, 4))][0] is None


def test_totals_take_a_megabyte_at_most_and_none_where_none_are_asked() -> None:
    assert [most_totals(width) for width in (1, 384, 768, 2_048, 4_096, 1 << 20)] == [1_024, 574, 312, 123, 62, 1]
    assert most_totals(768, 5) == 5
    record = accumulate(integers(3, 2), Accumulation(PANE, request_totals=0))[1]
    assert not [name for name in record if name.startswith("total_")]
    with pytest.raises(ValueError, match="request_totals = -1: expected at least 0"):
        Accumulation(PANE, request_totals=-1)


def test_only_requests_that_may_have_a_total_are_remembered() -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE, request_totals=2)}) as moments:
        for first in range(0, 20_000, 500):
            names = [f"request-{number}" for number in range(first, first + 500)]
            assert moments.send_step("a", names, range(500), np.ones((500, 2), dtype="float32"), timestamp_ms=T0)
            assert len(next(iter(moments._panes.values()))._totals._known) < 2_000
    assert_possible(producer.records[0][1])
    assert len(totals(producer.records[0][1])) == 2


@pytest.mark.parametrize("index", [[0, 1], [0, 1, 2], [-1, 0, 1], [[0, 0, 1]]])
def test_a_step_whose_rows_are_of_no_request_is_refused(index: Any) -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}) as moments:
        assert not moments.send_step("a", ["x", "y"], index, np.ones((3, 4), dtype="float32"), timestamp_ms=T0)
    assert producer.stats.refused == 1
    assert producer.records == []


def test_bfloat16_is_widened_for_the_sums_and_sampled_as_it_is() -> None:
    bits = (batches(1, 5)["request-0"].view("uint32") >> 16).astype("uint16")
    _, record = accumulate({"r": Tensor("BF16", bits)}, Accumulation(PANE))
    wide = Tensor("BF16", bits).widened().astype(np.float64)
    np.testing.assert_allclose(full(record), wide.T @ wide, rtol=1e-5, atol=1e-4)
    assert record["sample_activations"].dtype == "BF16"
    assert_possible(record)


def test_a_transcoder_sums_what_its_layer_wrote() -> None:
    rows, targets = batches(1, 5)["request-0"], batches(1, 3, seed=1)["request-0"]
    _, record = accumulate({"r": rows}, Accumulation(PANE), targets=targets)
    np.testing.assert_allclose(record["sum"].values, targets.astype("f8").sum(0), rtol=1e-5)
    assert record["sample_activations"].shape[1] == 5
    assert record["sample_targets"].shape[1] == 3
    assert_possible(record)


def test_rows_are_masked_by_token_first_and_then_by_norm() -> None:
    rows = np.array([[3, 4], [30, 40], [1, 0], [300, 400], [0, 5.0]], dtype="float32")
    how = Accumulation(PANE, mask=Mask((7,), 5.0))
    _, record = accumulate({"r": rows}, how, token_ids=[1, 7, 7, 2, 3])
    assert record["masked"].values.tolist() == [2, 1]
    assert record["mask_token_ids"].values.tolist() == [7]
    assert record["mask_norm"].values.tolist() == [5.0]
    assert record["rows"].values.tolist() == [2], "a row exactly at the cap stays"
    np.testing.assert_array_equal(record["sum"].values, [3, 9])
    _, nothing = accumulate({"r": rows}, how, token_ids=[7] * 5)
    assert nothing["rows"].values.tolist() == nothing["requests"].values.tolist() == [0]
    assert "sample_hash" not in nothing


def test_special_rows_are_in_no_number() -> None:
    _, record = accumulate({"r": np.eye(3, dtype="float32")}, Accumulation(PANE), special=[1, 0, 0])
    assert record["rows"].values.tolist() == [2]
    assert "masked" not in record


def test_the_cap_is_the_one_of_the_baseline(tmp_path: Path) -> None:
    file = tmp_path / "baseline.safetensors"
    file.write_bytes(encode({"median_norm": tensor_of(np.array([2.5]))}))
    assert Mask.of_baseline(file, 8, [102, 101]) == Mask((101, 102), 20.0)
    file.write_bytes(encode({"mean": tensor_of(np.array([2.5]))}))
    with pytest.raises(ValueError, match="has no tensor median_norm"):
        Mask.of_baseline(file, 8)


def test_float32_says_how_far_it_may_be_off() -> None:
    rows = batches(5, 6)
    _, exact = accumulate(rows, Accumulation(PANE))
    _, short = accumulate(rows, Accumulation(PANE, f32=True))
    assert short["moment"].dtype == "F32"
    assert short["moment_error"].values.tolist() == [2.0**-24]
    diagonal = np.sqrt(np.diag(full(exact)))
    assert (np.abs(full(short) - full(exact)) <= 2.0**-24 * np.outer(diagonal, diagonal)).all()


def test_a_pane_leaves_when_rows_of_a_later_one_come() -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE), "b": Accumulation(PANE)}, linger_ms=10**9) as moments:
        row = np.ones((1, 2), dtype="float32")
        moments.send("a", "r", row, timestamp_ms=T0 + PANE - 1)
        moments.send("b", "r", row, timestamp_ms=T0)
        moments.send("a", "r", row, timestamp_ms=T0 + PANE)
        assert [(site, record["pane"].values[0]) for site, record, _, _ in producer.records] == [("a", T0)]
    assert sorted((site, int(record["pane"].values[0])) for site, record, _, _ in producer.records) == [
        ("a", T0),
        ("a", T0 + PANE),
        ("b", T0),
    ]
    assert len({headers["record_id"] for *_, headers in producer.records}) == 3


def test_what_is_open_is_told_so_that_a_window_knows_what_a_killed_process_had() -> None:
    producer = Records()
    now = int(time.time() * 1000)
    with MomentAccumulator(producer, {"a": Accumulation(10**9, mask=Mask(token_ids=(7,)))}, linger_ms=1) as moments:
        moments._closed.set()  # no timer: it is called here
        moments._timer.join()
        moments.send("a", "r", np.ones((3, 2), dtype="float32"), token_ids=[7, 8, 9], timestamp_ms=now)
        moments._tell(now)
        moments._tell(now)
        moments.send("a", "r", np.ones((2, 2), dtype="float32"), token_ids=[1, 1], timestamp_ms=now)
        producer.hears = False
        moments._tell(now)
        producer.hears = True
        moments.send("a", "r", np.ones((1, 2), dtype="float32"), token_ids=[1], timestamp_ms=now + 1)
        moments._tell(now)
        moments.send("a", "r", np.ones((1, 2), dtype="float32"), token_ids=[1], timestamp_ms=now)
    assert [(site, tokens, at - now) for site, tokens, at, _ in producer.words] == [
        ("a", 3, 0),
        ("a", 2, 0),
        ("a", 3, 1),
    ]
    (record,) = producer.records
    assert record[3]["tokens_announced"] == "6", "what was not heard was told again"
    assert record[3]["key"] == producer.words[0][3]["key"], "the same partition, in this order"
    assert len({told["record_id"] for *_, told in [*producer.words, record]}) == 4


def test_a_pane_leaves_when_its_time_is_over() -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(100)}, linger_ms=1) as moments:
        moments.send("a", "r", np.ones((1, 2), dtype="float32"))
        assert producer.came.wait(30)
    assert len(producer.records) == 1


def test_the_oldest_pane_leaves_when_there_is_no_room() -> None:
    producer = Records()
    sites = {name: Accumulation(PANE, sample_rows=1) for name in "ab"}
    with MomentAccumulator(producer, sites, max_bytes=8 * 50 * 51, linger_ms=10**9) as moments:
        for site in "ab":
            moments.send(site, "r", np.ones((128, 50), dtype="float32"), timestamp_ms=T0)
        assert [site for site, *_ in producer.records] == ["a"]


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        (np.array([[1, np.nan]], dtype="float32"), {}, "row 0 holds a value that is not finite"),
        (np.array([[1e39, 0.0]]), {}, "row 0 holds a value that is not finite"),
        (np.ones((1, 3), dtype="float32"), {}, "rows of 3 columns, those before had 2"),
        (np.ones(3, dtype="float32"), {}, r"activations are F32 \[3\], expected floating point \[rows, width\]"),
        (np.ones((1, 2), dtype="int64"), {}, "activations are I64"),
        (np.ones((1, 2)), {"token_ids": [1, 2]}, "token_ids has 2 entries, the activations 1 rows"),
    ],
)
def test_what_cannot_be_added_is_refused_and_leaves_the_sums_alone(rows: Any, options: Any, reason: str) -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}) as moments:
        moments.send("a", "good", np.ones((1, 2), dtype="float32"), timestamp_ms=T0)
        assert not moments.send("a", "bad", rows, timestamp_ms=T0, **options)
        assert not moments.send("b", "bad", rows, timestamp_ms=T0)
    assert producer.records[0][1]["rows"].values.tolist() == [1]
    assert producer.stats.refused == 2
    with pytest.raises(AssertionError, match=reason):
        accumulate({"good": np.ones((1, 2), dtype="float32"), "bad": rows}, Accumulation(PANE), **options)


def test_a_record_that_could_not_be_sent_is_refused_before_it_is_added_up() -> None:
    producer = Records(**{"message.max.bytes": 1_000_000})
    with MomentAccumulator(producer, {"a": Accumulation(PANE, sample_rows=10)}) as moments:
        assert not moments.send("a", "r", np.ones((1, 600), dtype="float32"))
    assert "message.max.bytes of the producer is 1000000; write 'message.max.bytes': 25" in str(
        producer.stats.last_error
    )


def test_a_buffer_that_the_caller_overwrites_does_not_change_the_sums() -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}) as moments:
        rows = np.ones((2, 2), dtype="float32")
        moments.send("a", "r", rows, timestamp_ms=T0)
        rows[:] = 99
    record = producer.records[0][1]
    np.testing.assert_array_equal(record["sum"].values, [2, 2])
    np.testing.assert_array_equal(record["sample_activations"].values, np.ones((2, 2)))


def test_several_threads_lose_no_row() -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE, sample_rows=8)}) as moments:

        def work() -> None:
            for _ in range(50):
                moments.send("a", "r", np.ones((3, 4), dtype="float32"), timestamp_ms=T0)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    record = producer.records[0][1]
    assert record["rows"].values.tolist() == [600]
    np.testing.assert_array_equal(full(record), np.full((4, 4), 600))


def test_products_that_torch_would_round_are_taken_in_float64() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    rows = torch.randn(256, 32)
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        _, record = accumulate({"r": rows}, Accumulation(PANE))
    finally:
        torch.set_float32_matmul_precision(before)
    exact = rows.double().numpy()
    np.testing.assert_allclose(full(record), exact.T @ exact, rtol=1e-12, atol=1e-12)


def test_a_capture_may_send_to_it() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    from plumbline_sae.capture import capture

    model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU())
    rows = torch.randn(2, 5, 4)
    expected = model[0](rows).detach().reshape(-1, 6).double().numpy()
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}) as moments, torch.no_grad():
        with capture(model, moments, {"a": "0"}) as captured, captured.batch(["x", "y"], timestamp_ms=T0):
            model(rows)
        assert captured.stats.failed == 0, captured.stats
    record = producer.records[0][1]
    assert record["rows"].values.tolist() == [10]
    np.testing.assert_allclose(full(record), expected.T @ expected, rtol=1e-5, atol=1e-5)


def test_what_is_open_when_the_process_ends_is_sent() -> None:
    code = """
        from test_moments import PANE, T0, Accumulation, MomentAccumulator, Records, good_rows

        class Printing(Records):
            def at_exit(self, timeout):
                for site, record, *_ in self.records:
                    print(site, record["rows"].values[0])

        def serve():
            moments = MomentAccumulator(Printing(), {name: Accumulation(PANE) for name in "ab"}, linger_ms=10**9)
            for site in "aab":
                assert moments.send(site, "r", good_rows(), timestamp_ms=T0)

        serve()
    """
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here.parent / "src")])}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert (run.stdout.splitlines(), run.stderr) == (["a 6", "b 3"], "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_adds_up_nothing_and_says_so() -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}, linger_ms=10**9) as moments:
        assert moments.send("a", "r", good_rows(), timestamp_ms=T0)
        with moments._lock:  # as if another thread held it where the process forks
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # a lock that nobody releases is a failure, and no test without an end
                refused = not moments.send("a", "r", good_rows(), timestamp_ms=T0)
                told = "was forked from; make it behind the fork" in str(producer.stats.last_error)
                moments.close()
                passed = refused and told and (producer.stats.dropped_rows, len(producer.records)) == (3, 0)
                os._exit(0 if passed else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [record["rows"].values[0] for _, record, *_ in producer.records] == [3]


def test_rows_of_another_origin_are_added_up_apart() -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}) as moments:
        for tenant, count in (("acme", 3), ("globex", 2), ("acme", 1)):
            headers = {"tags": f"tenant={tenant}", "trace": str(count)}
            rows = np.ones((count, 2), dtype="float32")
            assert moments.send("a", "r", rows, timestamp_ms=T0, headers=headers, cached=10, tokens_served=15)
    found = sorted((headers["tags"], int(record["rows"].values[0])) for _, record, _, headers in producer.records)
    assert found == [("tenant=acme", 4), ("tenant=globex", 2)]
    assert producer._missing == {"a": Missing(cached=30, unexplained=9)}
    assert all("trace" not in headers for *_, headers in producer.records)


def test_origins_beyond_those_that_are_followed_share_a_pane_without_tags(caplog: pytest.LogCaptureFixture) -> None:
    producer = Records()
    rows = np.ones((1, 2), dtype="float32")
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}, linger_ms=10**9) as moments:
        for number in range(MOST_ORIGINS + 9):
            for _ in range(2):
                headers = {"tags": f"user={number}", "adapter": "x"}
                assert moments.send("a", "r", rows, timestamp_ms=T0, headers=headers)
        assert len(moments._panes) == MOST_ORIGINS + 1
        assert moments.without_tags == 18
        assert moments.send("a", "r", rows, timestamp_ms=T0 + PANE, headers={"tags": "user=99"})
    assert "more than 64 origins in one pane" in caplog.text
    found = [(headers.get("tags"), int(record["rows"].values[0])) for _, record, _, headers in producer.records]
    assert (None, 18) in found
    assert ("user=99", 1) in found
    assert len(found) == MOST_ORIGINS + 2
    assert sum(count for _, count in found) == 2 * (MOST_ORIGINS + 9) + 1


def test_origins_for_which_there_is_no_room_share_a_pane_and_push_none_out(caplog: pytest.LogCaptureFixture) -> None:
    producer = Records()
    sites = {"a": Accumulation(PANE, sample_rows=1)}
    with MomentAccumulator(producer, sites, max_bytes=4 * 430_200 - 1, linger_ms=10**9) as moments:
        for tag in ("x=1", "x=2", "x=3", "x=4") * 3:
            headers = {"tags": tag}
            assert moments.send("a", "r", np.ones((128, 50), dtype="float32"), timestamp_ms=T0, headers=headers)
        assert not producer.records
        assert moments.without_tags == 6
    assert "or more than max_bytes" in caplog.text
    assert [int(record["rows"].values[0]) for _, record, *_ in producer.records] == [3 * 128, 3 * 128, 6 * 128]


def test_rows_that_wait_for_their_block_count_as_bytes_of_the_pane() -> None:
    with MomentAccumulator(Records(), {"a": Accumulation(PANE, sample_rows=1)}, linger_ms=10**9) as moments:
        for count, waiting in ((100, 100), (20, 120), (9, 1), (128, 1)):
            moments.send("a", "r", np.ones((count, 6), dtype="float32"), timestamp_ms=T0)
            (pane,) = moments._panes.values()
            parts = len(pane._sums) * 8 * 6 * 7 + pane._sample.bytes + pane._totals.bytes
            assert pane.bytes - parts == 4 * 6 * waiting


def good_rows(columns: int = 2) -> Array:
    return np.ones((3, columns), dtype="float32")


@pytest.mark.parametrize("later", [0, PANE], ids=["in a pane", "as the first of a pane"])
@pytest.mark.parametrize(
    ("good", "bad", "columns", "reason"),
    [
        (5, None, 2, "targets are missing, rows before came with targets"),
        (None, 5, 2, "targets came, rows before came without targets"),
        (5, 4, 2, "targets of 4 columns, those before had 5"),
        (5, 5, 3, "rows of 3 columns, those before had 2"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused_alone(
    good: int | None, bad: int | None, columns: int, reason: str, later: int
) -> None:
    def targets(width: int | None) -> Any:
        return None if width is None else good_rows(width)

    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}, linger_ms=10**9) as moments:
        assert moments.send("a", "good", good_rows(), targets=targets(good), timestamp_ms=T0)
        assert not moments.send("a", "bad", good_rows(columns), targets=targets(bad), timestamp_ms=T0 + later)
        assert reason in str(producer.stats.last_error)
        assert moments.send("a", "good", good_rows(), targets=targets(good), timestamp_ms=T0 + later)
    assert [int(record["rows"].values[0]) for _, record, *_ in producer.records] == ([3, 3] if later else [6])
    for _, record, *_ in producer.records:
        assert_possible(record)
        np.testing.assert_array_equal(record["sum"].values, [record["rows"].values[0]] * (good or 2))


def test_rows_of_eight_bits_are_refused_and_leave_the_pane_as_it_is() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}, linger_ms=10**9) as moments:
        for rows in (torch.ones(3, 2), torch.ones(3, 2).to(torch.float8_e4m3fn), torch.ones(3, 2)):
            assert moments.send("a", "r", rows, timestamp_ms=T0) == (rows.dtype == torch.float32)
    assert "activations are torch.float8_e4m3fn [3, 2], expected [rows, width] of" in str(producer.stats.last_error)
    assert [int(record["rows"].values[0]) for _, record, *_ in producer.records] == [6]


def test_a_batch_that_cannot_be_summed_is_in_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}, linger_ms=10**9) as moments:
        assert moments.send("a", "good", good_rows(), timestamp_ms=T0)
        with monkeypatch.context() as broken:
            broken.setattr("plumbline_sae.panes.host_rows", raise_memory_error)
            assert not moments.send("a", "bad", good_rows(), timestamp_ms=T0)
        with monkeypatch.context() as broken:
            broken.setattr("plumbline_sae.panes.copy", raise_memory_error)
            assert not moments.send("a", "bad", good_rows(), timestamp_ms=T0)
    (found,) = [record for _, record, *_ in producer.records]
    assert [int(found[name].values[0]) for name in ("rows", "requests")] == [3, 1]
    assert len(found["sample_hash"].values) == 3
    assert_possible(found)


def test_a_pane_with_half_a_batch_in_its_sums_is_lost_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}, linger_ms=10**9) as moments:
        assert moments.send("a", "good", good_rows(), timestamp_ms=T0)
        with monkeypatch.context() as broken:
            broken.setattr("plumbline_sae.panes.zeros", raise_memory_error)
            assert not moments.send("a", "bad", np.ones((300, 2), dtype="float32"), timestamp_ms=T0)
        assert producer.stats.dropped_rows == 3
        assert moments.send("a", "good", good_rows(), timestamp_ms=T0)
    assert [int(record["rows"].values[0]) for _, record, *_ in producer.records] == [3]


def raise_memory_error(*_: Any) -> Any:
    raise MemoryError("no room")


def test_special_must_name_every_row() -> None:
    producer = Records()
    with MomentAccumulator(producer, {"a": Accumulation(PANE)}) as moments:
        assert not moments.send("a", "r", good_rows(), special=[0, 1], timestamp_ms=T0)
    assert "special has 2 entries, the activations 3 rows" in str(producer.stats.last_error)


def test_a_pane_that_cannot_leave_is_counted_and_the_others_leave() -> None:
    class Failing(Records):
        def send_value(self, site: str, value: bytes, **options: Any) -> bool:
            if site == "a":
                raise MemoryError("no room")
            return super().send_value(site, value, **options)

    producer = Failing()
    with MomentAccumulator(producer, {name: Accumulation(100) for name in "ab"}, linger_ms=1) as moments:
        for site in "ab":
            assert moments.send(site, "r", good_rows())
        assert producer.came.wait(30)
        producer.came.clear()
        assert moments.send("b", "r", good_rows(), timestamp_ms=int(time.time() * 1000))
        assert producer.came.wait(30), "the timer goes on"
        assert moments.timer_failures == 0
    assert producer.stats.dropped_rows == 3
    assert "the pane of 3 rows from " in str(producer.stats.last_error)


def test_the_timer_survives_a_failure_and_counts_it(caplog: pytest.LogCaptureFixture) -> None:
    class Deaf(Records):
        deaf = threading.Event()

        def send_word(self, *_: Any, **__: Any) -> bool:
            self.deaf.set()
            raise RuntimeError("no word can be sent")

    producer = Deaf()
    with MomentAccumulator(producer, {name: Accumulation(10**9) for name in "ab"}, linger_ms=1) as moments:
        assert moments.send("a", "r", good_rows())
        for _ in range(2):
            producer.deaf.clear()
            assert producer.deaf.wait(30)
        assert moments.timer_failures >= 1
    assert len(producer.records) == 1
    assert [record.getMessage() for record in caplog.records if "timer_failures" in record.getMessage()]
