"""Measures what the tap costs: processor time a token, in turns with the same server without it.

    python cost.py BOOTSTRAP [ROUNDS]

One engine serves all turns: a random Llama of 12 layers and a width of 768 in bfloat16, 16 requests at once, 128 tokens
read and 32 made by each. Wall time says nothing on a shared machine, so processor time is counted: of the serving
thread, and of the process with the tap's threads. Auxiliary outputs are on in every turn.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from topics import create

REQUESTS, READ, MADE = 24, 128, 32


def make(folder: Path) -> str:
    """Makes the model; returns its folder."""
    import torch
    from models import save_llama

    if not (folder / "config.json").exists():
        torch.manual_seed(7)
        save_llama(folder, dtype="bfloat16", hidden_size=768, intermediate_size=2048, num_hidden_layers=12, heads=12)
    return str(folder)


def tap_of(worker: Any, settings: dict[str, Any]) -> Any:
    """Returns a tap of the worker with other settings, for the same places."""
    from plumbline_sae.vllm.places import Place
    from plumbline_sae.vllm.settings import read_settings
    from plumbline_sae.vllm.tap import Tap
    from plumbline_sae.vllm.worker import make_outlet

    read = read_settings(settings)
    aux = tuple(Place("stream", layer) for layer in read.aux_layers)
    return Tap(worker.model_runner, make_outlet(read, {"engine": "vllm"}, {}), aux, {})


def main() -> None:
    bootstrap, *rounds = sys.argv[1:]
    path = make(Path(os.environ.get("PLUMBLINE_MODELS") or tempfile.mkdtemp()) / "llama768")
    kafka = {"bootstrap.servers": bootstrap, "message.max.bytes": 16 << 20}
    settings = {"kafka": kafka, "topic": create(bootstrap, "cost"), "sites": {"l6": "blocks.6.hook_resid_post"}}
    from vllm import LLM, SamplingParams

    llm = LLM(
        path,
        dtype="bfloat16",
        max_model_len=512,
        max_num_seqs=16,
        enforce_eager=True,
        enable_prefix_caching=False,
        worker_cls="plumbline_sae.vllm.Worker",
        additional_config={"plumbline": settings},
        disable_log_stats=True,
    )
    worker = llm.llm_engine.engine_core.engine_core.model_executor.driver_worker.worker
    moments = {**settings, "moments": {"pane_ms": 3_600_000, "sample_rows": 512}}
    taps = {"without": None, "rows": worker.plumbline, "moments": tap_of(worker, moments)}
    generator = random.Random(3)
    prompts: list[Any] = [
        {"prompt_token_ids": [0, *(generator.randrange(3, 259) for _ in range(READ - 1))]} for _ in range(REQUESTS)
    ]
    params = SamplingParams(max_tokens=MADE, temperature=0, ignore_eos=True)
    llm.generate(prompts[:4], params, use_tqdm=False)
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in taps}
    for _ in range(int(rounds[0]) if rounds else 4):
        for name, tap in taps.items():
            worker.plumbline = tap
            whole, mine = time.process_time(), time.thread_time()
            llm.generate(prompts, params, use_tqdm=False)
            mine = time.thread_time() - mine
            if tap is not None:
                tap.drain()
            took[name].append((mine, time.process_time() - whole))
    tokens = REQUESTS * (READ + MADE - 1)
    for name, found in took.items():
        serving, whole = 1e6 * np.array(found).T / tokens
        print(
            f"RESULT {name}: us a token of the serving thread {np.median(serving):.0f} ({serving.min():.0f} to"
            f" {serving.max():.0f}), of the process {np.median(whole):.0f} ({whole.min():.0f} to {whole.max():.0f})",
            flush=True,
        )
    for name, tap in taps.items():
        if tap is not None:
            stats = tap.stats
            print(f"RESULT {name}: {1e6 * stats.seconds / stats.steps:.0f} us a step on the worker's thread, {stats}")
            tap.close()


if __name__ == "__main__":
    main()
