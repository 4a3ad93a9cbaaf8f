"""Serves tiny models with vLLM and its worker with a tap, and compares every row with transformers.

    python matrix.py BOOTSTRAP [CASE...]

Prints a line a case. Exit code 1: a case failed. About a minute a case on two cores; needs the CPU build of vLLM, see
README.md beside this file. With VLLM_USE_V2_MODEL_RUNNER=1 all cases but compiled ones run on Model Runner V2.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # one process: the worker's tap can be looked at
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")

import numpy as np
from interpreted import IS_V2, RUNNER
from models import Oracle, error, make
from topics import create, records, requests

from plumbline_sae.tensors import decode

STREAM = {"l0": "blocks.0.hook_resid_pre", "l1": "blocks.1.hook_resid_post", "l3": "blocks.3.hook_resid_post"}
EVERY = {
    "r0": "blocks.0.hook_resid_pre",
    "r2": "blocks.1.hook_resid_post",
    "r4": "blocks.3.hook_resid_post",
    "in": "blocks.1.mlp.hook_in",
    "out": "blocks.2.mlp.hook_out",
    "added": "blocks.2.hook_mlp_out",
}
NGRAM = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 2, "prompt_lookup_min": 1}
SHARED = "The quick brown fox jumps over the lazy dog, again and again, until the evening comes. " * 2
PROMPTS = ["Grüße, world", "abc", SHARED + "one", SHARED + "two, and more", "x" * 300]


@dataclass(frozen=True)
class Case:
    """A model, how vLLM serves it, and the limit of an error."""

    model: str = "llama"
    eager: bool = True
    sites: dict[str, Any] = field(default_factory=lambda: dict(STREAM))
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    tokens: int = 6
    answers: int = 1
    dtype: str = "float32"
    limit: float = 1e-5


SMALL_STEPS = {"max_num_batched_tokens": 64, "max_num_seqs": 8}
TAPS = {"module_taps": True}
CASES = {
    "eager": Case(),
    "prefix": Case(options={"enable_prefix_caching": True}),
    "chunked": Case(options=SMALL_STEPS),
    "preempted": Case(options={"num_gpu_blocks_override": 8}, tokens=120),
    "drafts": Case(options={"speculative_config": NGRAM}, tokens=40),
    "parts": Case(settings={"part_rows": 16}, options={"speculative_config": NGRAM}, tokens=40),
    "answers": Case(answers=2),
    "sampled": Case(settings={"sample": 0.5}),
    "special": Case(settings={"special_ids": [0]}),
    "bfloat16": Case(dtype="bfloat16", limit=0.05),
    "taps": Case(sites=EVERY, settings=TAPS),
    "mixed": Case(sites=EVERY),
    "gemma2": Case(
        model="gemma2", sites=EVERY, settings=TAPS, limit=5e-5
    ),  # its norms multiply by 1 + w: rounding grows
    "gemma3": Case(model="gemma3", sites=EVERY, settings=TAPS, limit=5e-5),
    "gpt2": Case(model="gpt2", sites=EVERY, settings=TAPS),
    "compiled": Case(eager=False),
    "compiled_taps": Case(eager=False, sites=EVERY, settings=TAPS),
    "compiled_gemma2": Case(model="gemma2", eager=False, sites=EVERY, settings=TAPS, limit=5e-5),
    "compiled_all": Case(eager=False, options={"enable_prefix_caching": True, **SMALL_STEPS}),
    "moments": Case(settings={"moments": {"pane_ms": 3_600_000, "sample_rows": 64}}),
    "moments_all": Case(
        settings={"moments": {"pane_ms": 3_600_000, "sample_rows": 64}},
        options={"speculative_config": NGRAM, "num_gpu_blocks_override": 8},
        tokens=120,
    ),
}


def serve(path: str, case: Case, config: dict[str, Any]) -> tuple[dict[str, list[int]], int, Any]:
    """Serves the prompts twice; returns the tokens of each answer, how many were cached, and what the tap did."""
    from vllm import LLM, SamplingParams

    llm = LLM(
        path,
        dtype=case.dtype,
        max_model_len=512,
        enforce_eager=case.eager,
        **{"enable_prefix_caching": False, "max_num_seqs": 16, **case.options},
        worker_cls="plumbline_sae.vllm.Worker",
        additional_config={"plumbline": config},
        disable_log_stats=True,
    )
    params = SamplingParams(
        max_tokens=case.tokens,
        temperature=0.0 if case.answers == 1 else 1.0,
        n=case.answers,
        ignore_eos=True,
        extra_args={"plumbline.tags": "tenant=acme"},
    )
    served, cached = {}, 0
    for _ in range(2):
        for output in llm.generate(PROMPTS, params, use_tqdm=False):
            cached += output.num_cached_tokens or 0
            for answer in output.outputs:
                name = output.request_id if case.answers == 1 else f"{answer.index}_{output.request_id}"
                served[name] = [*output.prompt_token_ids, *answer.token_ids]
    core = llm.llm_engine.engine_core
    worker = core.engine_core.model_executor.driver_worker.worker
    tap = worker.plumbline
    assert type(worker.model_runner).__module__ == RUNNER, type(worker.model_runner)
    core.shutdown()
    tap.close()
    return served, cached, tap.stats


def check_rows(case: Case, oracle: Oracle, served: dict[str, list[int]], bootstrap: str, topic: str) -> str:
    """Compares every row of the topic with transformers."""
    rows, off, counts = 0, dict[str, float](), dict.fromkeys(("cached", "not_sampled", "dropped", "tokens_served"), 0)
    found = requests(bootstrap, topic)
    special = set(case.settings.get("special_ids", ()))
    for (site, name), request in found.items():
        full = served[name.rsplit("-", 1)[0]]
        got = request.rows()
        at = case.sites[site]
        # All but the last sampled token, which nothing was computed for; after drafts perhaps some more.
        end = len(full) if "speculative_config" in case.options else len(full) - 1
        kept = [position for position in range(request.counts["cached"], end) if full[position] not in special]
        assert request.ids == [full[position] for position in kept[: len(got)]], (site, name)
        assert len(kept) - len(got) <= (4 if "speculative_config" in case.options else 0), (site, name, len(got))
        wanted = oracle(full)[at][kept[: len(got)]]
        off[site] = max(off.get(site, 0.0), error(got, wanted))
        rows += len(got)
        for count in counts:
            counts[count] += request.counts[count]
        assert request.headers["tags"] == "tenant=acme"
        assert request.headers["engine"] == "vllm"
    worst = max(off.values())
    assert worst <= case.limit, off
    sampled = len({name for _, name in found})
    assert "sample" in case.settings or sampled == len(served), (sampled, len(served))
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count and name != "tokens_served")
    return f"{sampled} requests, {rows} rows{', ' + told if told else ''}, worst {worst:.1e}"


def check_moments(case: Case, oracle: Oracle, served: dict[str, list[int]], bootstrap: str, topic: str) -> str:
    """Compares the sums of the moment records with those of transformers' rows."""
    totals: dict[str, Any] = {}
    for message in records(bootstrap, topic):
        if message.value() is None:
            continue
        site = dict(message.headers())["site"].decode()
        tensors = decode(message.value())
        total = totals.setdefault(site, {"rows": 0, "requests": 0, "each": {}, "moment": 0.0, "bytes": 0})
        total["rows"] += int(tensors["rows"].values[0])
        total["requests"] += int(tensors["requests"].values[0])
        points = iter(tensors["total_names"].values.tolist())
        for _, count, length in tensors["total_counts"].values.tolist():
            request = "".join(chr(next(points)) for _ in range(length)).rsplit("-", 1)[0]
            total["each"][request] = total["each"].get(request, 0) + count
        total["moment"] = total["moment"] + tensors["moment"].values
        total["bytes"] += len(message.value())
    worst = 0.0
    places = {name: oracle(full) for name, full in served.items()}
    for site, total in totals.items():
        assert total["each"].keys() == served.keys(), total["each"]
        assert sum(total["each"].values()) == total["rows"], total
        for name, count in total["each"].items():
            # The drafts of a last step may have stood, and nothing says so.
            lost = len(served[name]) - 1 - count
            assert 0 <= lost <= (3 if "speculative_config" in case.options else 0), (site, name, lost)
        parts = [places[name][case.sites[site]][:count] for name, count in total["each"].items()]
        rows = np.concatenate(parts).astype(np.float64)
        wanted = (rows.T @ rows)[np.tril_indices(rows.shape[1])]
        worst = max(worst, float(np.linalg.norm(total["moment"] - wanted) / np.linalg.norm(wanted)))
        assert total["requests"] == len(served), total["requests"]
    assert worst <= case.limit
    first = next(iter(totals.values()))
    return f"{first['requests']} requests, {first['rows']} rows a site in {first['bytes']} bytes, worst {worst:.1e}"


def run(name: str, case: Case, bootstrap: str, folder: Path) -> None:
    path = make(case.model, folder)
    topic = create(bootstrap, name)
    kafka = {"bootstrap.servers": bootstrap, "message.max.bytes": 16 << 20}
    config = {"kafka": kafka, "topic": topic, "sites": case.sites, **case.settings}
    began = time.time()
    served, cached, stats = serve(path, case, config)
    check = check_moments if "moments" in case.settings else check_rows
    said = check(case, Oracle(path, case.dtype), served, bootstrap, topic)
    assert stats.failed == 0, stats.last_error
    assert stats.waiting_bytes == 0, stats.waiting_bytes
    took = 1e6 * stats.seconds / stats.steps
    print(
        f"RESULT {name}: {said}; vLLM says {cached} cached; {took:.0f} us a step over {stats.steps};"
        f" {time.time() - began:.0f} s",
        flush=True,
    )


def main() -> int:
    bootstrap, *names = sys.argv[1:]
    folder = Path(os.environ.get("PLUMBLINE_MODELS") or tempfile.mkdtemp())
    failed = 0
    for name in names or [name for name, case in CASES.items() if case.eager or not IS_V2]:
        if len(names) != 1 and "speculative_config" in CASES[name].options:
            # vLLM makes no second engine in a process that had a speculator.
            failed += subprocess.run([sys.executable, __file__, bootstrap, name]).returncode
            continue
        try:
            run(name, CASES[name], bootstrap, folder)
        except BaseException as failure:
            failed += 1
            traceback.print_exc()
            print(f"RESULT {name}: FAILED, {failure!r}", flush=True)
        gc.collect()
        with contextlib.suppress(Exception):
            from vllm.distributed.parallel_state import cleanup_dist_env_and_memory

            cleanup_dist_env_and_memory()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
