"""What vLLM's two model runners say of a step, read between `execute_model` and `sample_tokens`.

Every private name of vLLM that the tap needs is in this module and in `engine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """The tokens of a step, in the order of its rows.

    Attributes:
        requests: vLLM's names of the requests.
        counts: tokens of each; upper bounds where `bounds` is given.
        drafts: of these, tokens that a speculator guessed.
        total: tokens of the step, without padding.
        ids: the tokens, on the device.
        positions: their positions, on the device, which alone knows them where vLLM schedules ahead.
        bounds: where each request begins, on the device, where the host does not know; else None.
        aux: the auxiliary outputs.
    """

    requests: list[str]
    counts: list[int]
    drafts: list[int]
    total: int
    ids: Any
    positions: Any
    bounds: Any
    aux: list[Any]


def read_step(runner: Any, scheduled: Any) -> Step | None:
    """Returns the step that the runner has just computed, or None where it computed none."""
    state = getattr(runner, "execute_model_state", None)
    if state is None or not scheduled.total_num_scheduled_tokens:
        return None
    guessed = scheduled.scheduled_spec_decode_tokens
    batch = getattr(state, "input_batch", None)
    bounds = None
    if batch is not None:  # Model Runner V2
        requests = list(batch.req_ids)
        counts = [int(count) for count in batch.num_scheduled_tokens[: len(requests)]]
        total, ids, positions = int(batch.num_tokens), batch.input_ids, batch.positions
        if total != sum(counts):  # it left out drafts, and only the device knows whose
            bounds = batch.query_start_loc[: len(requests) + 1]
    else:
        requests = list(runner.input_batch.req_ids)
        counts = [scheduled.num_scheduled_tokens[name] for name in requests]
        total, ids, positions = sum(counts), runner.input_ids.gpu, runner.positions
    return Step(
        requests,
        counts,
        [len(guessed.get(name, ())) for name in requests],
        total,
        ids[:total],
        positions[:total],
        bounds,
        list(state.aux_hidden_states or ()),
    )


def resumed(scheduled: Any) -> set[str]:
    """Returns requests that were preempted, and run again or wait to."""
    preempted = getattr(scheduled, "preempted_req_ids", None) or ()
    return {*preempted, *getattr(scheduled.scheduled_cached_reqs, "resumed_req_ids", ())}


def headers_of(new: Any) -> dict[str, str]:
    """Returns the headers that a request brings: its `plumbline.tags` of `vllm_xargs`, and its adapter."""
    extra = getattr(new.sampling_params, "extra_args", None) or {}
    headers = {}
    if isinstance(extra.get("plumbline.tags"), str):
        headers["tags"] = extra["plumbline.tags"]
    if new.lora_request is not None:
        headers["adapter"] = str(new.lora_request.lora_name)
    return headers
