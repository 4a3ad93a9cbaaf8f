"""Lets vLLM's Model Runner V2 run on a CPU, with VLLM_USE_V2_MODEL_RUNNER=1; to be imported before vLLM.

Its Triton kernels are interpreted, since no wheel brings a Triton for CPUs. Compiled models do not run so.
"""

from __future__ import annotations

import os


class _Driver:
    @staticmethod
    def is_active() -> bool:
        return True


IS_V2 = os.environ.get("VLLM_USE_V2_MODEL_RUNNER") == "1"
RUNNER = "vllm.v1.worker.cpu.model_runner" if IS_V2 else "vllm.v1.worker.cpu_model_runner"
"""The module of the runner that serves."""

if IS_V2:
    os.environ["TRITON_INTERPRET"] = "1"
    from triton.backends import Backend, backends

    backends["cpu"] = Backend(compiler=None, driver=_Driver)  # vLLM looks for the name, and nothing compiles
