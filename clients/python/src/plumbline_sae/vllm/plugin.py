"""The entry point of `vllm.general_plugins`: with PLUMBLINE_VLLM set, the platform's default worker has a tap."""

from __future__ import annotations

import os
from typing import Any

from .engine import default_workers
from .settings import VARIABLE, find_settings

WORKER = "plumbline_sae.vllm.Worker"


def register() -> None:
    """Makes the platform choose the worker with a tap. vLLM calls this in each of its processes, perhaps twice."""
    if not os.environ.get(VARIABLE):
        return
    from vllm.platforms import current_platform

    wrap(type(current_platform))


def wrap(platform: Any) -> None:
    """Lets a platform's `check_and_update_config` name the worker with a tap in the place of its own."""
    before = platform.check_and_update_config.__func__
    if getattr(before, "has_plumbline", False):
        return

    def check_and_update_config(cls: Any, vllm_config: Any) -> None:
        before(cls, vllm_config)
        choose(vllm_config)

    check_and_update_config.has_plumbline = True  # type: ignore[attr-defined]
    platform.check_and_update_config = classmethod(check_and_update_config)


def choose(vllm_config: Any) -> None:
    """Names the worker with a tap where the platform's own was to run.

    Raises:
        ValueError: when the settings are wrong, so that the server does not start.
    """
    from .tap import LOG
    from .worker import add_to_cache_key

    settings = find_settings(vllm_config.additional_config)
    chosen = vllm_config.parallel_config.worker_cls
    if settings is None or chosen == WORKER:
        return
    if chosen not in default_workers():
        LOG.warning("plumbline: nothing is captured: the worker is %s, not vLLM's own", chosen)
        return
    vllm_config.parallel_config.worker_cls = WORKER
    add_to_cache_key(vllm_config, settings)
