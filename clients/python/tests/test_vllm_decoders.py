"""Decoders on their way into a serving model: copied between two steps, on every rank before the same one."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest
from fake_vllm import Base, Engine, Part, Planned, new, vllm_config
from recorder import Recorder

import plumbline_sae.vllm.mailbox as mailboxes
import plumbline_sae.vllm.worker as workers
from plumbline_sae import Decoder, Stats
from plumbline_sae.vllm import Hooked
from plumbline_sae.vllm.mailbox import STEPS_BETWEEN_ROUNDS, Ready, Swapper, prepared

KAFKA = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}
SITES = {"a": "blocks.0.hook_resid_post"}


def decoder(version: int, value: float, site: str = "a") -> Decoder:
    W_dec, b_dec = np.full((3, 4), value, dtype="float32"), np.full(4, -value, dtype="float32")
    return Decoder(site, version, "adapted", W_dec, b_dec, {}, "", "")


def hooked(**options: Any) -> Hooked:
    trained = {"W_dec": np.zeros((3, 4), dtype="float32"), "b_dec": np.zeros(4, dtype="float32")}
    return Hooked(trained, np.zeros((3, 4)), np.zeros(4), **options)


class Mail:
    """A mailbox that the test fills."""

    def __init__(self) -> None:
        self.waiting: dict[str, Ready] = {}
        self.closed = False

    def put(self, found: Decoder, weights: dict[str, Hooked]) -> None:
        self.waiting = {**self.waiting, found.site: prepared(weights)(found)}

    def close(self) -> None:
        self.closed = True


def test_a_decoder_is_copied_in_place_before_the_next_step() -> None:
    weights = {"a": hooked()}
    mail: Any = Mail()
    swapper = Swapper(mail, weights, Engine())
    W_dec = weights["a"].W_dec
    assert swapper.before_step() == []
    assert swapper.tags == ""
    mail.put(decoder(3, 2.0), weights)
    assert [found.version for found in swapper.before_step()] == [3]
    assert swapper.before_step() == []
    assert weights["a"].W_dec is W_dec
    assert (W_dec == 2.0).all()
    assert (weights["a"].b_dec == -2.0).all()
    assert swapper.tags == "decoder=3"
    mail.put(decoder(1, 5.0, "b"), weights)
    swapper.before_step()
    assert swapper.tags == "decoder.a=3,decoder.b=1"


def test_ranks_swap_before_the_same_step_once_all_of_them_hold_the_decoder() -> None:
    swappers, engines = [], [Engine(), Engine()]
    for engine in engines:
        mail: Any = Mail()
        swappers.append(Swapper(mail, {"a": hooked()}, engine, ranks=2))

    def step(number: int) -> list[int]:
        for engine, other in zip(engines, reversed(swappers), strict=True):
            engine.others = [{site: ready.decoder.version for site, ready in other.mailbox.waiting.items()}]
        return [swapper.versions.get("a", 0) for swapper in swappers if swapper.before_step() or True]

    swappers[0].mailbox.put(decoder(2, 1.0), swappers[0].hooked)
    assert {tuple(step(number)) for number in range(2 * STEPS_BETWEEN_ROUNDS)} == {(0, 0)}
    swappers[1].mailbox.put(decoder(2, 1.0), swappers[1].hooked)
    seen = [tuple(step(number)) for number in range(STEPS_BETWEEN_ROUNDS)]
    assert seen == [*[(0, 0)] * (STEPS_BETWEEN_ROUNDS - 1), (2, 2)]


def test_a_decoder_that_does_not_fit_is_counted_once_and_the_old_one_serves() -> None:
    weights = {"a": hooked()}
    mail: Any = Mail()
    swapper = Swapper(mail, weights, Engine())
    mail.waiting = {"a": Ready(decoder(2, 1.0), np.ones((5, 4)), np.ones(4))}
    assert [swapper.before_step() for _ in range(3)] == [[], [], []]
    assert (swapper.failed, swapper.tags) == (1, "")


def attached(monkeypatch: pytest.MonkeyPatch, weights: dict[str, Hooked], *, caching: bool = False) -> Any:
    module: Any = types.ModuleType("their_hooks")
    module.attach = lambda model: weights
    monkeypatch.setitem(sys.modules, "their_hooks", module)
    monkeypatch.setattr(workers, "Mailbox", lambda *given: Mail())
    settings = {"kafka": KAFKA, "sites": SITES, "decoders": {"attach": "their_hooks:attach"}}
    config = vllm_config(settings)
    config.cache_config = types.SimpleNamespace(enable_prefix_caching=caching)
    return config


def test_requests_say_which_decoder_served_them(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {"a": hooked()}
    sink = Recorder()
    sink.stats = Stats()  # type: ignore[attr-defined]
    monkeypatch.setattr(workers, "Producer", lambda *given, **options: sink)
    worker = workers.worker_class(Base, Engine())(attached(monkeypatch, weights))
    worker.load_model()
    worker.execute_model(Planned([Part("x", 0, [1])], new=[new("x")]).scheduled())
    worker.plumbline_decoders.mailbox.put(decoder(7, 1.0), weights)
    worker.execute_model(Planned([Part("y", 0, [1])], new=[new("y", **{"plumbline.tags": "tenant=a"})]).scheduled())
    worker.shutdown()
    assert worker.plumbline_decoders.mailbox.closed
    headers = {sent.request: sent.headers for sent in sink.sent}
    assert headers == {"x": {}, "y": {"tags": "tenant=a,decoder=7"}}
    assert (weights["a"].W_dec == 1.0).all()


def test_every_rank_swaps_and_one_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = workers.worker_class(Base, Engine(rank=1))(attached(monkeypatch, {"a": hooked()}))
    worker.load_model()
    assert worker.plumbline is None
    assert worker.plumbline_decoders is not None


def test_a_hook_that_writes_and_a_prefix_cache_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = attached(monkeypatch, {"a": hooked(writes=True)}, caching=True)
    with pytest.raises(ValueError, match="a prefix cache would keep what an old decoder made"):
        workers.worker_class(Base, Engine())(config).load_model()
    workers.worker_class(Base, Engine())(attached(monkeypatch, {"a": hooked()}, caching=True)).load_model()


def test_decoders_of_no_site_are_refused() -> None:
    config = vllm_config({"kafka": KAFKA, "sites": SITES, "decoders": {}})
    with pytest.raises(ValueError, match="decoders: no site has a decoder"):
        workers.worker_class(Base, Engine())(config).load_model()


def test_the_mailbox_holds_the_newest_and_says_when_it_can_follow_no_longer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Topic:
        def __init__(self, config: Any, sites: Any, *, topic: str, keys: Any) -> None:
            assert (topic, set(sites), keys) == ("decoders", {"a"}, ["signing.pub"])

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: object) -> None: ...

        def __iter__(self) -> Any:
            yield decoder(1, 1.0)
            yield decoder(2, 2.0)
            raise RuntimeError("no rights")

        def close(self) -> None: ...

    monkeypatch.setattr(mailboxes, "DecoderSubscriber", Topic)
    weights = {"a": hooked()}
    mailbox = mailboxes.Mailbox(KAFKA, "decoders", {"a": weights["a"].trained}, prepared(weights), ["signing.pub"])
    mailbox.close()
    assert mailbox.waiting["a"].decoder.version == 2
    assert "no longer followed" in caplog.text
