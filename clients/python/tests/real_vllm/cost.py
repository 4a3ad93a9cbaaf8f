"""Measures what the tap costs: processor time a token, in turns with vLLM without it, and bytes a token.

    python cost.py BOOTSTRAP [ROUNDS]

One engine serves all turns: a random Llama of 12 layers and a width of 768 in bfloat16, 16 requests at once, 128 tokens
read and 32 made by each. Wall time says nothing on a shared machine, so processor time is counted: that of the serving
thread inside the tap, that of the tap's threads, and that of each turn as a whole. A round has each turn once, in the
other order than the round before, and a turn is compared with the plain one of its round.
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
from topics import create, records

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


class Inside:
    """A tap whose steps are timed: seconds of the processor that the serving thread spends in them."""

    def __init__(self, tap: Any) -> None:
        self.tap = tap
        self.seconds = 0.0

    def step(self, *arguments: Any) -> None:
        began = time.thread_time()
        self.tap.step(*arguments)
        self.seconds += time.thread_time() - began


def spent(threads: set[str]) -> float:
    """Returns the seconds of the processor of all threads but some: those that live, as Linux counts them."""
    total = 0
    for task in Path("/proc/self/task").iterdir():
        if task.name not in threads:
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


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
    runner, model = worker.model_runner, worker.model_runner.get_model()
    generator = random.Random(3)
    prompts: list[Any] = [
        {"prompt_token_ids": [0, *(generator.randrange(3, 259) for _ in range(READ - 1))]} for _ in range(REQUESTS)
    ]
    params = SamplingParams(max_tokens=MADE, temperature=0, ignore_eos=True)
    worker.plumbline.close()
    worker.plumbline = None
    llm.generate(prompts, params, use_tqdm=False)
    servers = {task.name for task in Path("/proc/self/task").iterdir()}
    panes = {"topic": create(bootstrap, "cost-moments"), "moments": {"pane_ms": 3_600_000, "sample_rows": 512}}
    taps = {"rows": Inside(tap_of(worker, settings)), "moments": Inside(tap_of(worker, settings | panes))}
    turns = ["plain", "outputs", *taps]
    took: dict[str, list[list[float]]] = {name: [] for name in turns}
    for number in range(int(rounds[0]) if rounds else 4):
        for name in turns if number % 2 == 0 else reversed(turns):
            inside = taps.get(name)
            worker.plumbline = inside
            runner.use_aux_hidden_state_outputs = name != "plain"
            model.set_aux_hidden_state_layers((7,) if name != "plain" else ())
            began = [time.thread_time(), time.process_time(), 0.0 if inside is None else inside.seconds, spent(servers)]
            llm.generate(prompts, params, use_tqdm=False)
            serving = time.thread_time()
            assert inside is None or inside.tap.drain(60)
            ended = [serving, time.process_time(), 0.0 if inside is None else inside.seconds, spent(servers)]
            took[name].append([last - first for first, last in zip(began, ended, strict=True)])
    tokens = REQUESTS * (READ + MADE - 1)
    plain = np.array(took["plain"])
    for name, found in took.items():
        times = np.array(found)
        serving, whole, inside_tap, own = 1e6 * np.median(times, axis=0) / tokens
        more = 100 * (times[:, 1] / plain[:, 1] - 1)
        shares = 100 * times[:, 2:] / plain[:, :2]
        print(
            f"RESULT {name}: us a token {whole:.0f} of the process, {serving:.0f} of the serving thread; of these"
            f" {inside_tap:.1f} inside the tap, {np.median(shares[:, 0]):.2f} % of a plain step;"
            f" {own:.1f} of the tap's threads, {np.median(shares[:, 1]):.2f} % of the plain process;"
            f" the turn as a whole {np.median(more):+.1f} % ({more.min():+.1f} to {more.max():+.1f})",
            flush=True,
        )
    for (name, inside), topic in zip(taps.items(), (settings["topic"], panes["topic"]), strict=True):
        inside.tap.close(60)
        stats = inside.tap.stats
        assert stats.failed == 0, stats.last_error
        size = sum(len(message.value() or b"") for message in records(bootstrap, topic))
        print(
            f"RESULT {name}: {1e6 * inside.seconds / stats.steps:.0f} us a step inside the tap; {size:,} bytes of"
            f" {stats.rows:,} rows, {size / stats.rows:.0f} a token"
        )


if __name__ == "__main__":
    main()
