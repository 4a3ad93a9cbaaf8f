"""The producer without a broker: what is dropped, what is refused, and that nothing is ever raised."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import confluent_kafka
import numpy as np
import pytest

from plumbline_sae import Dropped, Producer
from plumbline_sae.coverage import Missing
from plumbline_sae.engines import VllmFiles
from plumbline_sae.producer import _parts, request_tensors
from plumbline_sae.tensors import Tensor, decode, encode, tensor_of

NOWHERE = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0, "message.timeout.ms": 1_000, "linger.ms": 0}
ROWS = np.zeros((4, 8), dtype="float32")
OTHERS = ("site", "request", "record_id")


def test_what_finds_no_room_is_dropped_counted_and_told() -> None:
    told: list[Dropped] = []
    producer = Producer(NOWHERE, max_buffered_bytes=400, on_drop=told.append)
    assert producer.send("a", "first", ROWS)
    assert not producer.send("a", "second", ROWS)
    assert producer.stats.sent == 1
    assert producer.stats.dropped_rows == 4
    assert told == [Dropped("a", "second", 4, "400 bytes wait for the broker already")]


def test_the_clients_own_full_queue_drops_too() -> None:
    producer = Producer({**NOWHERE, "queue.buffering.max.messages": 1})
    assert producer.send("a", "first", ROWS)
    assert not producer.send("a", "second", ROWS)
    assert producer.stats.dropped_rows == 4
    assert producer.stats.buffered_bytes > 0


def test_what_the_broker_never_took_is_failed_and_missing() -> None:
    told: list[Dropped] = []
    producer = Producer(NOWHERE, on_drop=told.append)
    assert producer.send("a", "first", ROWS)
    assert producer.flush(30) == 0
    assert producer.stats.failed_rows == 4
    assert producer.stats.buffered_bytes == 0
    assert producer._missing == {"a": Missing(dropped=4)}
    assert told[0].reason.startswith("not stored on activations: ")


def test_a_callback_that_raises_does_not_reach_the_caller() -> None:
    def broken(dropped: Dropped) -> None:
        raise RuntimeError("callback")

    producer = Producer(NOWHERE, max_buffered_bytes=1, on_drop=broken)
    assert not producer.send("a", "r", ROWS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"activations": ROWS[0]}, r"activations are F32 \[8\], expected floating point \[tokens, width\]"),
        ({"activations": ROWS.astype("int64")}, r"activations are I64 \[4, 8\], expected floating point"),
        ({"activations": ROWS.astype("complex64")}, "numbers of type complex64"),
        ({"activations": ROWS, "targets": ROWS[:3]}, "targets has 3 entries, the activations 4 rows"),
        ({"activations": {0: ROWS, 1: ROWS[:3]}}, "activations.1 has 3 entries, the activations 4 rows"),
        ({"activations": {"a": ROWS}}, "activations of layer 'a', expected whole numbers from 0"),
        ({"activations": {}}, "activations of no layer, expected a mapping from each layer to its rows"),
        ({"activations": ROWS, "targets": {4: ROWS[0]}}, r"targets.4 are \[8\], expected \[tokens, width\]"),
        ({"activations": ROWS, "token_ids": [1, 2]}, "token_ids has 2 entries, the activations 4 rows"),
        ({"activations": ROWS, "special": [True]}, "special has 1 entries, the activations 4 rows"),
    ],
)
def test_what_is_no_activations_is_refused_and_not_raised(arguments: dict[str, Any], message: str) -> None:
    producer = Producer(NOWHERE)
    rows = arguments.pop("activations")
    assert not producer.send("a", "r", rows, **arguments)
    assert producer.stats.refused == 1
    with pytest.raises((ValueError, TypeError), match=message):
        request_tensors(rows, *(arguments.get(name) for name in ("targets", "token_ids", "special")))


def test_the_rows_of_several_layers_lie_in_one_record_by_their_layers() -> None:
    special = [0, 1, 0, 0]
    tensors = request_tensors({10: ROWS, 2: ROWS}, {3: ROWS[:, :5]}, [5, 6, 7, 8], special)
    assert list(tensors) == ["activations.2", "activations.10", "targets.3", "token_ids"]
    assert [len(tensor.values) for tensor in tensors.values()] == [3, 3, 3, 3]
    producer = Producer(NOWHERE)
    assert producer.send("clt", "r", {0: ROWS, 1: ROWS}, targets={0: ROWS, 1: ROWS}, special=special)
    assert producer.stats.refused == 0
    assert producer.stats.buffered_bytes > 4 * 3 * 8 * 4


def test_special_rows_are_left_out_of_every_tensor() -> None:
    rows = np.arange(8, dtype="float16").reshape(4, 2)
    tensors = request_tensors(rows, 10 * rows, [5, 6, 7, 8], [1, 0, 0, 1])
    np.testing.assert_array_equal(tensors["activations"].values, rows[1:3])
    np.testing.assert_array_equal(tensors["targets"].values, 10 * rows[1:3])
    np.testing.assert_array_equal(tensors["token_ids"].values, [6, 7])


def test_a_long_request_is_cut_into_parts_that_hold_all_rows_in_order() -> None:
    rows = np.arange(70, dtype="float32").reshape(10, 7)
    tensors = request_tensors(rows, None, list(range(10)), None)
    parts = list(_parts(tensors, 3 * (7 * 4 + 8)))
    assert [len(part["token_ids"].values) for part in parts] == [3, 3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([part["activations"].values for part in parts]), rows)
    assert list(_parts(request_tensors(rows[:0], None, None, None), 100)) == []
    assert len(list(_parts(tensors, 1))) == 10


def test_a_blob_is_what_the_safetensors_library_reads() -> None:
    from safetensors.numpy import load

    tensors = {"b": tensor_of(np.arange(6).reshape(2, 3)), "a": tensor_of(np.ones((3, 5), dtype="float16").T)}
    found = load(encode(tensors, {"k": "v"}))
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(found[name], tensor.values)


def test_bfloat16_of_numpy_is_sent_as_it_is() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes, which JAX brings")
    rows = np.arange(12).reshape(3, 4)[:, ::2].astype(ml_dtypes.bfloat16)
    tensor = request_tensors(rows, None, None, None)["activations"]
    assert tensor.dtype == "BF16"
    np.testing.assert_array_equal(tensor.widened(), rows.astype("float32"))
    with pytest.raises(TypeError, match=r"numbers of type float8_e4m3fn: .*multiply 8-bit values by their scale"):
        tensor_of(rows.astype(ml_dtypes.float8_e4m3fn))


def test_eight_bits_of_torch_are_refused_with_what_to_send() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    for name in ("float8_e4m3fn", "float8_e5m2"):
        with pytest.raises(TypeError, match=f"numbers of type {name}: .*multiply 8-bit values by their scale"):
            tensor_of(torch.ones(2, 3).to(getattr(torch, name)))


def test_bfloat16_goes_there_and_back_as_bits() -> None:
    bits = np.array([[0x3F80, 0x7F80, 0x8001]], dtype="uint16")
    blob = encode({"activations": Tensor("BF16", bits)})
    found = decode(blob)["activations"]
    assert found.dtype == "BF16"
    np.testing.assert_array_equal(found.values, bits)
    np.testing.assert_array_equal(found.widened(), np.array([[1.0, np.inf, -(2.0**-133)]], dtype="float32"))


def test_torch_tensors_are_sent_as_they_are() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    values = torch.tensor([[1.0, -2.5], [3.0, 4.0]], requires_grad=True)
    for dtype, name in (
        (torch.bfloat16, "BF16"),
        (torch.float16, "F16"),
        (torch.float32, "F32"),
        (torch.float64, "F64"),
    ):
        tensor = tensor_of(values.to(dtype).T)
        assert tensor.dtype == name
        np.testing.assert_array_equal(tensor.widened(), [[1.0, 3.0], [-2.5, 4.0]])


def test_the_next_record_says_how_many_tokens_were_served_and_why_rows_are_missing() -> None:
    sent: list[dict[str, str]] = []
    producer = Producer(NOWHERE, max_buffered_bytes=1_000)

    class Client:
        def produce(self, topic: str, **record: Any) -> None:
            sent.append(record["headers"])

        def poll(self, timeout: float) -> int:
            return 0

    producer._producer = Client()
    assert producer.send("a", "whole", ROWS)
    assert producer.send("a", "cached", ROWS, special=[1, 0, 0, 0], tokens_served=10, cached=4)
    assert not producer.send("a", "dropped", np.zeros((40, 8), dtype="float32"), cached=7)
    producer.count_missing("a", Missing(not_sampled=5))
    producer.count_missing("b", Missing(not_sampled=6))
    assert producer.send("a", "next", ROWS)
    assert producer.send("b", "other", ROWS)
    counts = [{name: text for name, text in headers.items() if name not in ("site", "request")} for headers in sent]
    assert counts == [
        {"tokens_served": "4"},
        {"tokens_served": "9", "cached": "4"},
        {"tokens_served": "56", "cached": "7", "not_sampled": "5", "dropped": "40"},
        {"tokens_served": "10", "not_sampled": "6"},
    ]


def test_tokens_that_were_told_are_not_counted_again_where_their_rows_are_given_up() -> None:
    sent: list[dict[str, Any]] = []
    producer = Producer(NOWHERE, max_buffered_bytes=1_000)

    class Client:
        def produce(self, topic: str, **record: Any) -> None:
            sent.append(record)

        def poll(self, timeout: float) -> int:
            return 0

    producer._producer = Client()
    producer.count_missing("a", Missing(cached=2))
    assert producer.send_word("a", 30, key="k", timestamp_ms=5, record_id="1")
    moment: dict[str, Any] = {"rows": 40, "key": "k", "timestamp_ms": 6, "headers": {"tokens_announced": "30"}}
    assert not producer.send_value("a", b"x" * 2_000, **moment)
    assert producer.send_value("a", b"x", **moment)
    failed = confluent_kafka.KafkaError(confluent_kafka.KafkaError._MSG_TIMED_OUT)
    sent[1]["on_delivery"](failed, None)
    sent[0]["on_delivery"](failed, None)
    assert producer.send("a", "next", ROWS)
    assert sent[0]["value"] is None
    said = [{name: text for name, text in record["headers"].items() if name not in OTHERS} for record in sent]
    assert said == [
        {"tokens_served": "32", "cached": "2"},
        {"tokens_served": "50", "tokens_announced": "30", "dropped": "10"},
        {"tokens_served": "26", "cached": "2", "dropped": "20"},
    ]
    assert (producer.stats.dropped_rows, producer.stats.failed_rows) == (40, 40)


def test_a_record_id_names_every_part_of_a_long_request() -> None:
    sent: list[str] = []

    class Client:
        def produce(self, topic: str, **record: Any) -> None:
            sent.append(record["headers"]["record_id"])

        def poll(self, timeout: float) -> int:
            return 0

    producer = Producer(NOWHERE, max_record_bytes=4_096 + 2 * ROWS[0].nbytes)
    producer._producer = Client()
    assert producer.send("a", "long", ROWS, headers={"record_id": "r"})
    assert producer.send("a", "short", ROWS[:1], headers={"record_id": "s"})
    assert sent == ["r.0", "r.1", "s"]


@pytest.mark.parametrize("numbers", [{"tokens_served": 3}, {"tokens_served": 5, "cached": 2}, {"cached": -1}])
def test_numbers_of_tokens_that_do_not_fit_are_refused(numbers: dict[str, int]) -> None:
    producer = Producer(NOWHERE)
    assert not producer.send("a", "r", ROWS, **numbers)
    assert producer.stats.refused == 1
    assert producer._missing == {}


class Broker:
    """A Kafka client whose broker confirms a record each time it is polled; or none at all."""

    def __init__(self, confirms: bool = True) -> None:
        self.confirms = confirms
        self.waiting: list[dict[str, Any]] = []
        self.stored: list[dict[str, Any]] = []

    def produce(self, topic: str, **record: Any) -> None:
        self.waiting.append(record)

    def poll(self, timeout: float) -> int:
        if self.confirms and timeout > 0 and self.waiting:
            record = self.waiting.pop(0)
            self.stored.append(record)
            record["on_delivery"](None, None)
        return 0

    def flush(self, timeout: float) -> int:
        while self.confirms and self.waiting:
            self.poll(1)
        return len(self.waiting)


LARGE = np.arange(4_000, dtype="float32").reshape(1_000, 4)  # four buffers of 4,096 bytes


def small(broker: Broker, **options: Any) -> Producer:
    producer = Producer(NOWHERE, max_buffered_bytes=10_000, max_record_bytes=4_096 + 800, **options)
    producer._producer = broker
    return producer


def test_a_request_larger_than_the_buffer_leaves_piece_by_piece_where_it_may_wait() -> None:
    broker = Broker()
    producer = small(broker)
    assert producer.send("a", "large", LARGE, patience=10)
    assert producer.flush() == 0
    found = [decode(record["value"])["activations"].values for record in broker.stored]
    np.testing.assert_array_equal(np.concatenate(found), LARGE)
    assert len(found) == 20
    assert (producer.stats.rows, producer.stats.dropped_rows, producer.stats.buffered_bytes) == (1_000, 0, 0)


def test_the_file_of_a_request_larger_than_the_buffer_leaves_piece_by_piece(tmp_path: Path) -> None:
    broker = Broker()
    (tmp_path / "large.safetensors").write_bytes(encode({"hidden_states": tensor_of(LARGE[:, None])}))
    files = VllmFiles(tmp_path, {"a": "blocks.1.hook_resid_post"}, small(broker))
    assert files.poll() == 1
    broker.flush(1)
    found = [decode(record["value"])["activations"].values for record in broker.stored]
    np.testing.assert_array_equal(np.concatenate(found), LARGE)


def test_a_request_larger_than_the_buffer_is_dropped_whole_and_told_where_it_may_not_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broker, told = Broker(), []
    producer = small(broker, on_drop=told.append)
    with caplog.at_level(logging.WARNING):
        assert not producer.send("a", "large", LARGE)
        assert not producer.send("a", "larger", LARGE)
    assert broker.waiting == []
    assert (producer.stats.dropped_rows, producer.stats.buffered_bytes) == (2_000, 0)
    assert [drop.rows for drop in told] == [1_000, 1_000]
    assert "no row of the request was sent; write max_buffered_bytes=17600 or more" in told[0].reason
    assert len(caplog.records) == 1
    assert producer.send("a", "fits", LARGE[:80])
    assert len(broker.waiting) == 2
    assert producer.flush() == 0
    assert producer.stats.buffered_bytes == 0
    assert broker.stored[0]["headers"]["dropped"] == "2000"


@pytest.mark.parametrize("room", [20_000, 60_000])
def test_records_of_many_layers_are_whole_and_no_longer_than_they_may_be(room: int) -> None:
    broker = Broker()
    producer = Producer(NOWHERE, max_buffered_bytes=room, max_record_bytes=12_000)
    producer._producer = broker
    layers = {layer: LARGE[:20, :1] for layer in range(120)}  # 480 bytes a row, and a header of 9 kB
    assert producer.send("a", "r", layers) == (room == 60_000)
    assert producer.stats.buffered_bytes == sum(len(record["value"]) for record in broker.waiting)
    assert producer.flush() == 0
    assert producer.stats.buffered_bytes == 0
    found = [record["value"] for record in broker.stored]
    assert all(len(value) <= 12_000 for value in found)
    assert sum(len(decode(value)["activations.7"].values) for value in found) == (20 if room == 60_000 else 0)
    assert producer.stats.dropped_rows == (0 if room == 60_000 else 20)


def test_a_broker_that_confirms_nothing_is_waited_for_once() -> None:
    producer = small(Broker(confirms=False))
    begin = time.monotonic()
    for _ in range(20):
        producer.send("a", "large", LARGE, patience=0.2)
    assert 0.2 <= time.monotonic() - begin < 2
    assert producer.stats.dropped_rows + 50 * producer.stats.sent == 20_000


def test_two_requests_that_share_a_buffer_are_whole_or_not_there() -> None:
    broker = Broker(confirms=False)
    producer = Producer(NOWHERE, max_buffered_bytes=60_000, max_record_bytes=4_096 + 800)
    producer._producer = broker
    names = [f"request-{number}" for number in range(16)]
    threads = [threading.Thread(target=producer.send, args=("a", name, LARGE[:250])) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = dict.fromkeys(names, 0)
    for record in broker.waiting:
        rows[record["headers"]["request"]] += len(decode(record["value"])["activations"].values)
    assert set(rows.values()) == {0, 250}
    assert producer.stats.dropped_rows == 250 * sum(found == 0 for found in rows.values())


def test_what_a_process_leaves_behind_is_stored_or_told(caplog: pytest.LogCaptureFixture) -> None:
    here, gone = small(Broker()), small(Broker(confirms=False))
    for producer in (here, gone):
        assert producer.send("a", "r", ROWS)
        producer.at_exit(0.1)
    assert here.stats.rows == 4
    assert [record.getMessage() for record in caplog.records] == [
        "the process ends and 1 records for topic activations are lost: the broker did not take them within 0 s;"
        " last error: None"
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_sends_nothing_and_says_so() -> None:
    producer = Producer(NOWHERE)
    assert producer.send("a", "r", ROWS)
    with producer._lock:  # as if another thread held it where the process forks
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a lock that nobody releases is a failure, and no test without an end
            refused = not producer.send("a", "r", ROWS) and producer.flush(0.1) == 0
            stats = producer.stats
            told = "was forked from; make it behind the fork" in str(stats.last_error)
            os._exit(0 if refused and told and (stats.dropped_rows, stats.buffered_bytes) == (4, 0) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert producer.stats.dropped_rows == 0
