"""A worker of vLLM with a tap: a subclass of the platform's own, which `--worker-cls` names."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from ..moments import MomentAccumulator
from ..producer import Producer
from .blocks import point_of, require_block
from .engine import Engine, Vllm, platform_worker
from .outlets import MomentsOutlet, Outlet, RowsOutlet
from .places import Place
from .settings import GRAPH_KEY, VARIABLE, Settings, find_settings
from .tap import LOG, Tap

_TESTED = "0.32"


@functools.cache
def default_worker() -> Any:
    """Returns the platform's worker with a tap; one class a process."""
    return worker_class(platform_worker(), Vllm())


def worker_class(base: Any, engine: Engine) -> Any:
    """Returns a subclass of a worker that has a tap.

    Args:
        base: vLLM's worker, or another subclass of it.
        engine: what the worker asks of vLLM.
    """

    class Worker(base):  # type: ignore[misc]
        """The platform's worker, and a tap."""

        plumbline: Tap | None = None

        def load_model(self, **options: Any) -> None:
            super().load_model(**options)
            self.plumbline = install(self, engine)

        def execute_model(self, scheduler_output: Any) -> Any:
            output = super().execute_model(scheduler_output)
            if self.plumbline is not None:
                self.plumbline.step(scheduler_output)
            return output

        def shutdown(self) -> None:
            if self.plumbline is not None:
                self.plumbline.close()
            super().shutdown()

    Worker.__module__ = "plumbline_sae.vllm"
    Worker.__qualname__ = "Worker"
    return Worker


def install(worker: Any, engine: Engine) -> Tap | None:
    """Asks a loaded model, which is not compiled yet, for the rows of its sites.

    Every tensor-parallel rank does, since all of them compile one graph; the one of rank 0 sends.

    Returns:
        The tap, on the rank that sends; None elsewhere.

    Raises:
        ValueError: when the settings, the model or the way it is served cannot be.
    """
    settings = find_settings(worker.vllm_config.additional_config)
    if settings is None:
        raise ValueError(
            f"plumbline_sae.vllm.Worker has no settings: give --additional-config '{{\"plumbline\": {{...}}}}', or"
            f" {VARIABLE} in the environment of every worker"
        )
    add_to_cache_key(worker.vllm_config, settings)
    runner = worker.model_runner
    _require_known(runner, engine)
    _require_servable(worker.vllm_config)
    model = runner.get_model()
    aux = _ask_for_aux(runner, model, settings, engine)
    buffers = _install_taps(worker, model, settings, engine)
    if engine.tensor_rank() != 0:
        return None
    LOG.info("plumbline: sites %s, topic %s", ", ".join(settings.sites), settings.topic)
    return Tap(
        runner,
        make_outlet(settings, origin_of(worker, engine)),
        aux,
        buffers,
        sample=settings.sample,
        max_waiting_bytes=settings.max_waiting_bytes,
    )


def add_to_cache_key(vllm_config: Any, settings: Settings) -> None:
    """Puts what changes the compiled graph where vLLM's compile cache looks, without passwords.

    Raises:
        ValueError: when vLLM's `additional_config` is an object of somebody else.
    """
    given = vllm_config.additional_config
    if not isinstance(given, Mapping):
        raise ValueError(
            f"additional_config is a {type(given).__name__}, expected an object: plumbline adds a key to it"
        )
    vllm_config.additional_config = {**given, GRAPH_KEY: settings.graph}


def make_outlet(settings: Settings, origin: Mapping[str, str]) -> Outlet:
    """Returns what sends rows, or adds them up."""
    headers = {**origin, **settings.headers}
    producer = Producer(
        settings.kafka,
        settings.topic,
        max_buffered_bytes=settings.max_buffered_bytes,
        max_record_bytes=settings.max_record_bytes,
        headers=headers,
    )
    if settings.moments is None:
        return RowsOutlet(settings.sites, settings.special_ids, settings.part_rows, producer)
    moments = MomentAccumulator(producer, settings.accumulations(), headers=headers)
    return MomentsOutlet(settings.sites, settings.special_ids, producer, moments)


def origin_of(worker: Any, engine: Engine) -> dict[str, str]:
    """Returns the headers that say what served the requests."""
    config = worker.vllm_config.model_config
    found = {"engine": "vllm", "engine_version": engine.version}
    for header, name in (("quantization", "quantization"), ("model_revision", "revision")):
        if getattr(config, name, None):
            found[header] = str(getattr(config, name))
    return found


def _require_known(runner: Any, engine: Engine) -> None:
    """Checks the private names of vLLM that the tap reads."""
    names = ["execute_model_state", "use_aux_hidden_state_outputs"]
    if hasattr(runner, "positions"):  # Model Runner V1 keeps a step's inputs itself, V2 has them in the step's state
        names += ["input_batch", "input_ids"]
    missing = [name for name in names if not hasattr(runner, name)]
    if missing:
        raise ValueError(
            f"vLLM {engine.version}: {type(runner).__name__} has no {', '.join(missing)}; plumbline_sae.vllm was tested"
            f" with vLLM {_TESTED}"
        )


def _require_servable(vllm_config: Any) -> None:
    parallel = vllm_config.parallel_config
    for name, what in (
        ("pipeline_parallel_size", "pipeline parallel"),
        ("prefill_context_parallel_size", "prefill context parallel"),
    ):
        size = getattr(parallel, name, 1)
        if size > 1:
            raise ValueError(f"{name} = {size}: {what} ranks have only some of the rows; expected 1")
    if getattr(vllm_config.model_config, "runner_type", "generate") == "pooling":
        raise ValueError("a pooling model keeps no rows for a tap; expected a model that generates")


def _ask_for_aux(runner: Any, model: Any, settings: Settings, engine: Engine) -> tuple[Place, ...]:
    layers = settings.aux_layers
    if not layers:
        return ()
    name = type(model).__name__
    if not engine.has_aux_outputs(model):
        raise ValueError(
            f"{name} has no auxiliary outputs (SupportsEagle3), which give the residual stream; write"
            ' "module_taps": true'
        )
    if runner.use_aux_hidden_state_outputs:
        raise ValueError(
            'a speculator (EAGLE3 or its kin) has the auxiliary outputs of the model; write "module_taps": true'
        )
    for layer in layers:
        require_block(model, Place("stream", layer))
    model.set_aux_hidden_state_layers(layers)
    runner.use_aux_hidden_state_outputs = True
    return tuple(Place("stream", layer) for layer in layers)


def _install_taps(worker: Any, model: Any, settings: Settings, engine: Engine) -> dict[Place, Any]:
    """Hooks the places without auxiliary outputs; returns the buffers that their rows are copied into."""
    if not settings.tapped:
        return {}
    import torch

    from . import taps

    config = worker.vllm_config
    shape = (config.scheduler_config.max_num_batched_tokens, config.model_config.get_hidden_size())
    buffers = {}
    for place in settings.tapped:
        point = point_of(model, place, adds_pairs=engine.has_aux_outputs(model))
        buffers[place] = torch.zeros(shape, dtype=config.model_config.dtype, device=worker.device)
        taps.install(point, buffers[place])
    return buffers
