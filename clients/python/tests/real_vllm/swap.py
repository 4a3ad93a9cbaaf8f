"""Steers a served model with an SAE, publishes another decoder, and checks rows, codes and tags before and after.

python swap.py BOOTSTRAP [compiled]
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import sys
import tempfile
import time
from pathlib import Path

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from confluent_kafka import Producer as Kafka
from hooks import FEATURE, FOLDER_VARIABLE, STRENGTH
from models import WIDTH, Oracle, error, make
from topics import create, requests

from plumbline_sae.tensors import Array, encode, identity, tensor_of

FEATURES = 1024
PROMPT = "Grüße, world, once more"


def write_sae(folder: Path) -> dict[str, Array]:
    """Writes an SAE of random weights in SAELens' format; returns them."""
    generator = np.random.default_rng(5)
    W_dec = generator.standard_normal((FEATURES, WIDTH))
    W_dec /= np.linalg.norm(W_dec, axis=1, keepdims=True)
    weights = {
        "W_enc": W_dec.T,
        "b_enc": np.full(FEATURES, -0.5),
        "W_dec": W_dec,
        "b_dec": 0.1 * generator.standard_normal(WIDTH),
    }
    weights = {name: np.ascontiguousarray(values, dtype="float32") for name, values in weights.items()}
    folder.mkdir(exist_ok=True)
    config = {"architecture": "standard", "apply_b_dec_to_input": True, "normalize_activations": "none"}
    (folder / "cfg.json").write_text(json.dumps(config))
    blob = encode({name: tensor_of(values) for name, values in weights.items()})
    (folder / "sae_weights.safetensors").write_bytes(blob)
    return weights


def publish(bootstrap: str, topic: str, site: str, trained: dict[str, Array], W_dec: Array) -> None:
    """Publishes version 1 of a decoder, in two chunks and a manifest."""
    blob = encode({"W_dec": tensor_of(W_dec), "b_dec": tensor_of(trained["b_dec"])})
    half = -(-len(blob) // 2)
    kafka = Kafka({"bootstrap.servers": bootstrap})
    for index in range(2):
        chunk = struct.pack(">bqi", 1, 1, index) + blob[index * half : (index + 1) * half]
        kafka.produce(topic, key=f"{site}#{index}", value=chunk)
    manifest = {
        "schema": 1,
        "version": 1,
        "kind": "adapted",
        "parent_sha256": identity(trained["W_dec"], trained["b_dec"]),
        "chunks": 2,
        "bytes": len(blob),
        "sha256": hashlib.sha256(blob).hexdigest(),
    }
    kafka.produce(topic, key=site, value=json.dumps(manifest))
    kafka.flush()


def main() -> None:
    bootstrap, *how = sys.argv[1:]
    folder = Path(os.environ.get("PLUMBLINE_MODELS") or tempfile.mkdtemp())
    path = make("llama", folder)
    trained = write_sae(folder / "sae")
    os.environ[FOLDER_VARIABLE] = str(folder / "sae")
    topic, decoders = create(bootstrap, "swap"), create(bootstrap, "decoders")
    settings = {
        "kafka": {"bootstrap.servers": bootstrap},
        "topic": topic,
        "sites": {"l1": "blocks.1.hook_resid_post"},
        "features": {"l1": {"path": str(folder / "sae"), "top": 8}},
        "decoders": {"topic": decoders, "attach": "hooks:attach"},
    }
    from vllm import LLM, SamplingParams

    llm = LLM(
        path,
        dtype="float32",
        max_model_len=512,
        enforce_eager="compiled" not in how,
        enable_prefix_caching=False,
        worker_cls="plumbline_sae.vllm.Worker",
        additional_config={"plumbline": settings},
        disable_log_stats=True,
    )
    core = llm.llm_engine.engine_core
    worker = core.engine_core.model_executor.driver_worker.worker
    names, served = {}, {}

    def ask(name: str) -> None:
        began = time.time()
        params = SamplingParams(max_tokens=6, temperature=0, ignore_eos=True)
        output = llm.generate([PROMPT], params, use_tqdm=False)[0]
        names[output.request_id] = name
        served[name] = [*output.prompt_token_ids, *output.outputs[0].token_ids]
        print(f"asked, {name}: {time.time() - began:.2f} s, decoder tag {worker.plumbline_decoders.tags or 'none'}")

    ask("trained")
    adapted = (trained["W_dec"] + 0.3 * np.random.default_rng(6).standard_normal((FEATURES, WIDTH))).astype("float32")
    publish(bootstrap, decoders, "l1", trained, adapted)
    began = time.time()
    while not worker.plumbline_decoders.mailbox.waiting and time.time() - began < 30:
        time.sleep(0.01)
    print(f"in the worker after {time.time() - began:.2f} s")
    ask("adapted")
    core.shutdown()
    worker.plumbline.close()
    assert worker.plumbline.stats.failed == 0, worker.plumbline.stats.last_error
    oracle, failed = Oracle(path), []
    for (_, request), found in requests(bootstrap, topic).items():
        name = names[request.rsplit("-", 1)[0]]
        plain = oracle(served[name])["blocks.1.hook_resid_post"][: len(found.ids)]
        rows, W_dec = found.rows(), {"trained": trained["W_dec"], "adapted": adapted}[name]
        codes = np.maximum((rows - trained["b_dec"]) @ trained["W_enc"] + trained["b_enc"], 0)
        errors = {
            "rows": error(rows, plain + STRENGTH * W_dec[FEATURE]),
            "rows, other decoder": error(rows, plain + STRENGTH * (trained["W_dec"] + adapted - W_dec)[FEATURE]),
            "codes": float(np.abs(found.rows("code_values") + np.sort(-codes, axis=1)[:, :8]).max()),
            "reconstructions": error(found.rows("reconstructions"), codes @ W_dec + trained["b_dec"]),
        }
        tag = found.headers.get("tags", "none")
        said = ", ".join(f"{what} {value:.1e}" for what, value in errors.items())
        print(f"RESULT {'compiled' if 'compiled' in how else 'eager'} {name}: tags {tag}; errors: {said}", flush=True)
        good = errors["rows"] < 1e-5 and errors["codes"] < 1e-4 and errors["reconstructions"] < 1e-4
        if not good or errors["rows, other decoder"] < 0.01 or ("decoder=1" in tag) != (name == "adapted"):
            failed.append(name)
    sys.exit(f"wrong: {failed}" if failed or len(names) != 2 else 0)


if __name__ == "__main__":
    main()
