"""A worker and a runner as vLLM has them, without a model: they replay steps whose rows say whose they are.

A row holds its token and its position, so that a test can tell any row. The scheduler here is told what a step holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from plumbline_sae.tensors import Array

WIDTH = 4
PADDING = 3
"""Rows behind those of a step, as a CUDA graph has them."""


def row(token: int, position: int, layer: int) -> list[float]:
    """Returns the row of a token at a position, of one layer."""
    return [float(token), float(position), float(layer), 1.0]


@dataclass
class Part:
    """What a step computes of a request: tokens from a position on, the last `drafts` of them guessed."""

    request: str
    start: int
    tokens: list[int]
    drafts: int = 0


@dataclass
class Planned:
    """A step: new requests, those that ended before it, those that run again, and what is computed."""

    parts: list[Part] = field(default_factory=list)
    new: list[Any] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)

    def scheduled(self) -> Any:
        """Returns the step as vLLM's SchedulerOutput says it."""
        counts = {part.request: len(part.tokens) for part in self.parts}
        return SimpleNamespace(
            scheduled_new_reqs=self.new,
            scheduled_cached_reqs=SimpleNamespace(resumed_req_ids=set(self.resumed)),
            num_scheduled_tokens=counts,
            total_num_scheduled_tokens=sum(counts.values()),
            scheduled_spec_decode_tokens={part.request: [0] * part.drafts for part in self.parts if part.drafts},
            finished_req_ids=set(self.ended),
            preempted_req_ids=None,
            step=self,
        )


def new(name: str, *, adapter: str | None = None, **xargs: Any) -> Any:
    """Returns a request as vLLM hands it to its workers."""
    return SimpleNamespace(
        req_id=name,
        sampling_params=SimpleNamespace(extra_args=xargs or None),
        lora_request=None if adapter is None else SimpleNamespace(lora_name=adapter),
    )


class Model:
    """A model with four blocks that hands out what passes between them."""

    def __init__(self) -> None:
        self.model = SimpleNamespace(layers=[object()] * 4)
        self.layers: tuple[int, ...] = ()

    def set_aux_hidden_state_layers(self, layers: tuple[int, ...]) -> None:
        self.layers = layers


class Runner:
    """Model Runner V1, or V2: what the tap reads of them."""

    def __init__(self, model: Model, *, v2: bool) -> None:
        self.model = model
        self.v2 = v2
        self.use_aux_hidden_state_outputs = False
        self.execute_model_state: Any = None
        self.trims: dict[str, int] = {}
        """Drafts that adaptive verification leaves out, which the device alone knows."""
        if not v2:
            self.input_batch = SimpleNamespace(req_ids=[])
            self.input_ids = SimpleNamespace(gpu=np.zeros(64, dtype=np.int32))
            self.positions = np.zeros(64, dtype=np.int64)
        self.buffers = [np.zeros((64, WIDTH), dtype=np.float32) for _ in range(8)]

    def get_model(self) -> Model:
        return self.model

    def run(self, scheduled: Any) -> None:
        parts: list[Part] = scheduled.step.parts
        kept = [part.tokens[: len(part.tokens) - self.trims.get(part.request, 0)] for part in parts]
        ids = [token for tokens in kept for token in tokens]
        places = [part.start + at for part, tokens in zip(parts, kept, strict=True) for at in range(len(tokens))]
        aux = []
        for number, layer in enumerate(self.model.layers if self.use_aux_hidden_state_outputs else ()):
            buffer = self.buffers[number]  # the same in every step, as a CUDA graph's
            buffer[: len(ids)] = np.reshape(
                [row(token, place, layer) for token, place in zip(ids, places, strict=True)], (-1, WIDTH)
            )
            buffer[len(ids) : len(ids) + PADDING] = np.nan
            aux.append(buffer[: len(ids) + PADDING])
        if self.v2:
            ends = np.cumsum([0, *map(len, kept)])
            batch = SimpleNamespace(
                req_ids=[part.request for part in parts],
                num_scheduled_tokens=np.array([len(part.tokens) for part in parts]),
                num_tokens=len(ids),
                input_ids=np.array([*ids, *[0] * PADDING], dtype=np.int32),
                positions=np.array([*places, *[0] * PADDING], dtype=np.int64),
                query_start_loc=np.array(ends, dtype=np.int32),
            )
            self.execute_model_state = SimpleNamespace(input_batch=batch, aux_hidden_states=aux)
        else:
            self.input_batch.req_ids = [part.request for part in parts]
            self.input_ids.gpu[: len(ids)] = ids
            self.positions[: len(ids)] = places
            self.execute_model_state = SimpleNamespace(aux_hidden_states=aux)


class Base:
    """vLLM's worker."""

    model_kind: type[Model] = Model

    def __init__(self, vllm_config: Any, *, v2: bool = False) -> None:
        self.vllm_config = vllm_config
        self.model_runner = Runner(self.model_kind(), v2=v2)
        self.device = "cpu"
        self.ended = False

    def load_model(self, **options: Any) -> None:
        pass

    def execute_model(self, scheduled: Any) -> str:
        if scheduled.total_num_scheduled_tokens:
            self.model_runner.run(scheduled)
        else:
            self.model_runner.execute_model_state = None
        return "output"

    def shutdown(self) -> None:
        self.ended = True


@dataclass
class Engine:
    """What a worker asks of vLLM."""

    version: str = "0.32.0"
    rank: int = 0
    aux: bool = True
    others: list[Any] = field(default_factory=list)

    def tensor_rank(self) -> int:
        return self.rank

    def gather(self, value: Any) -> list[Any]:
        return [value, *self.others]

    def has_aux_outputs(self, model: Any) -> bool:
        return self.aux


def vllm_config(plumbline: Any = None, **parallel: int) -> Any:
    """Returns vLLM's configuration."""
    return SimpleNamespace(
        additional_config={} if plumbline is None else {"plumbline": plumbline},
        parallel_config=SimpleNamespace(worker_cls="vllm.v1.worker.gpu_worker.Worker", **parallel),
        scheduler_config=SimpleNamespace(max_num_batched_tokens=64),
        model_config=SimpleNamespace(
            quantization="fp8", revision=None, runner_type="generate", dtype=None, get_hidden_size=lambda: WIDTH
        ),
    )


def expected(tokens: list[int], start: int, layer: int) -> Array:
    """Returns the rows of tokens that follow each other."""
    return np.array([row(token, start + at, layer) for at, token in enumerate(tokens)], dtype=np.float32)
