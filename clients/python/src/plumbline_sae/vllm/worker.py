"""A worker of vLLM with a tap: a subclass of the platform's own, which `--worker-cls` names."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..moments import MomentAccumulator
from ..producer import Producer
from .blocks import point_of, require_block
from .engine import Engine, Vllm, platform_worker
from .mailbox import Hooked, Mailbox, Swapper, prepared
from .outlets import MomentsOutlet, Outlet, Reader, RowsOutlet
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
        plumbline_decoders: Swapper | None = None

        def load_model(self, **options: Any) -> None:
            super().load_model(**options)
            self.plumbline, self.plumbline_decoders = install(self, engine)

        def execute_model(self, scheduler_output: Any) -> Any:
            tap, decoders = self.plumbline, self.plumbline_decoders
            for decoder in () if decoders is None else decoders.before_step():
                if tap is not None:
                    tap.swap(decoder)
            output = super().execute_model(scheduler_output)
            if tap is not None:
                tap.step(scheduler_output, "" if decoders is None else decoders.tags)
            return output

        def shutdown(self) -> None:
            if self.plumbline_decoders is not None:
                self.plumbline_decoders.mailbox.close()
            if self.plumbline is not None:
                self.plumbline.close()
            super().shutdown()

    Worker.__module__ = "plumbline_sae.vllm"
    Worker.__qualname__ = "Worker"
    return Worker


def install(worker: Any, engine: Engine) -> tuple[Tap | None, Swapper | None]:
    """Asks a loaded model, which is not compiled yet, for the rows of its sites.

    Every tensor-parallel rank does, since all of them compile one graph; the one of rank 0 sends.

    Returns:
        The tap, on the rank that sends, and what swaps decoders, where some are followed.

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
    hooked = _attach(worker.vllm_config, model, settings)
    sends = engine.tensor_rank() == 0
    swapper = _follow(worker.vllm_config, settings, hooked, engine) if sends or hooked else None
    if not sends:
        return None, swapper
    readers = _readers(settings, worker.device)
    LOG.info("plumbline: sites %s, topic %s", ", ".join(settings.sites), settings.topic)
    tap = Tap(
        runner,
        make_outlet(settings, origin_of(worker, engine), readers),
        aux,
        buffers,
        sample=settings.sample,
        max_waiting_bytes=settings.max_waiting_bytes,
    )
    return tap, swapper


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


def make_outlet(settings: Settings, origin: Mapping[str, str], readers: Mapping[str, Reader]) -> Outlet:
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
        return RowsOutlet(settings.sites, settings.special_ids, settings.part_rows, producer, readers)
    open_bytes = settings.moments.max_bytes
    moments = MomentAccumulator(producer, settings.accumulations(), max_bytes=open_bytes, headers=headers)
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


def _attach(vllm_config: Any, model: Any, settings: Settings) -> Mapping[str, Hooked]:
    """Lets somebody's function hook the model; returns the weights that decoders are copied into."""
    if settings.decoders is None or settings.decoders.attach is None:
        return {}
    module, _, name = settings.decoders.attach.partition(":")
    hooked: Mapping[str, Hooked] = getattr(import_module(module), name)(model)
    writes = [site for site, found in hooked.items() if found.writes]
    if writes and vllm_config.cache_config.enable_prefix_caching:
        raise ValueError(
            f"site {writes[0]}: its hook writes into the stream, and a prefix cache would keep what an old decoder made"
            " of it; serve with --no-enable-prefix-caching"
        )
    return hooked


def _follow(vllm_config: Any, settings: Settings, hooked: Mapping[str, Hooked], engine: Engine) -> Swapper | None:
    if settings.decoders is None:
        return None
    trained = {site: features.path for site, features in settings.features.items()}
    trained.update({site: found.trained for site, found in hooked.items()})
    if not trained:
        raise ValueError("decoders: no site has a decoder; give features, or attach hooks")
    mailbox = Mailbox(settings.kafka, settings.decoders.topic, trained, prepared(hooked), settings.decoders.keys)
    ranks = getattr(vllm_config.parallel_config, "tensor_parallel_size", 1)
    return Swapper(mailbox, hooked, engine, ranks)


def _readers(settings: Settings, device: Any) -> dict[str, Reader]:
    if not settings.features:
        return {}
    from .features import FeatureTap

    return {site: FeatureTap(found.path, found.top, device) for site, found in settings.features.items()}
