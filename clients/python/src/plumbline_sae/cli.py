"""The command `plumbline-sae`, also `python -m plumbline_sae`."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import __version__
from .decoders import Decoder, Trained
from .engines import VllmFiles
from .producer import Dropped, Producer
from .subscriber import DecoderSubscriber

NOT_DONE = 3
"""Exit code: a record was not stored, or there is no decoder."""

_PATIENCE = 70.0
"""Seconds to wait for room, and at the end: by then the Kafka client has given up what the broker does not take."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="plumbline-sae", description="Sends activations to Plumbline and follows the decoders it publishes."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _send_command(commands)
    _follow_command(commands)
    _bridge_command(commands)
    _convert_command(commands)
    _cache_command(commands)
    _worker_command(commands)
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code


def _command(commands: Any, name: str, run: Any, what: str, epilog: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=what, description=what, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=run)
    return parser


def _kafka_options(parser: argparse.ArgumentParser, topic: str) -> None:
    parser.add_argument("--bootstrap-servers", required=True, metavar="HOST:PORT")
    parser.add_argument("--topic", default=topic, help="default: %(default)s")
    parser.add_argument(
        "--kafka-property",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a property of confluent-kafka, such as security.protocol=SSL; may be repeated",
    )


def _kafka(options: argparse.Namespace) -> dict[str, Any]:
    properties = {"bootstrap.servers": options.bootstrap_servers}
    for text in options.kafka_property:
        key, equals, value = text.partition("=")
        if not equals:
            raise SystemExit(f"--kafka-property {text}: expected KEY=VALUE, such as security.protocol=SSL")
        properties[key] = value
    return properties


def _send_command(commands: Any) -> None:
    parser = _command(
        commands,
        "send",
        _send,
        "Sends an .npz file request by request, to try the way from a file to a window report.",
        "In the file each request is an array [tokens, width]. NAME.special, where it is there, is an array of\n"
        "booleans [tokens] that marks special tokens (BOS, CLS, SEP, padding); their rows are left out.\n"
        "Exit code 3 when a record was not stored.",
    )
    parser.add_argument("file", help=".npz file: an array [tokens, width] for each request, booleans NAME.special")
    parser.add_argument("--site", required=True, help="as in plumbline.yaml")
    parser.add_argument("--start-ms", type=int, help="event time of the first request, ms since 1970; default: now")
    parser.add_argument("--step-ms", type=int, default=0, help="event time between requests; default: %(default)s")
    _kafka_options(parser, "activations")


def _send(options: argparse.Namespace) -> int:
    def say(dropped: Dropped) -> None:
        print(f"{dropped.reason} (request {dropped.request})", file=sys.stderr)

    start = int(time.time() * 1000) if options.start_ms is None else options.start_ms
    producer = Producer(_kafka(options), options.topic, on_drop=say)
    incomplete = 0
    with np.load(options.file) as arrays:
        requests = [name for name in arrays.files if not name.endswith(".special")]
        for i, request in enumerate(requests):
            special = arrays[f"{request}.special"] if f"{request}.special" in arrays.files else None
            incomplete += not producer.send(
                options.site,
                request,
                arrays[request],
                special=special,
                timestamp_ms=start + i * options.step_ms,
                patience=_PATIENCE,
            )
    unsent = producer.flush(_PATIENCE)
    stats = producer.stats
    if stats.refused:
        print(stats.last_error, file=sys.stderr)
    lost = stats.dropped_rows + stats.failed_rows
    print(f"{len(requests)} requests, {stats.rows} rows stored, {lost} rows not stored")
    return NOT_DONE if unsent or lost or stats.refused else 0


def _follow_command(commands: Any) -> None:
    parser = _command(
        commands,
        "follow",
        _follow,
        "Prints every decoder of a site, verified, as it is published, beginning with the newest.",
        "`--parent` is the trained decoder you hold: what was fitted for another one is not read. Without it the\n"
        "manifest's word is taken.\n"
        "With --once, exit code 3 when the topic holds no whole version for this parent.",
    )
    parser.add_argument("--site", required=True, help="as in plumbline.yaml")
    parser.add_argument("--parent", metavar="PATH", help="SAELens folder or safetensors file of the trained decoder")
    parser.add_argument(
        "--key",
        metavar="FILE",
        action="append",
        help="public key in PEM that must have signed a decoder; several: one of them (needs cryptography)",
    )
    parser.add_argument("--once", action="store_true", help="stop at the end of the topic")
    _kafka_options(parser, "decoders")


def _follow(options: argparse.Namespace) -> int:
    def say(site: str, version: int, what: str) -> None:
        print(site, *([f"version {version}"] if version else []), what, file=sys.stderr)

    sites: Mapping[str, Trained | None] = {options.site: Trained.of(options.parent) if options.parent else None}
    follower = DecoderSubscriber(_kafka(options), sites, topic=options.topic, on_refused=say, keys=options.key)
    with follower as decoders:
        if not options.once:
            try:
                for decoder in decoders:
                    _print(decoder)
            except KeyboardInterrupt:
                pass
            return 0
        found = decoders.catch_up()
    if not found:
        print(f"{options.site}: no whole decoder for this parent on {options.topic}", file=sys.stderr)
        return NOT_DONE
    _print(found[0])
    return 0


def _print(decoder: Decoder) -> None:
    features, dimension = decoder.W_dec.shape
    print(
        f"{decoder.site} version {decoder.version} ({decoder.kind}): {features} features x {dimension},"
        f" {decoder.W_dec.dtype}, sha256 {decoder.sha256}",
        flush=True,
    )


def _bridge_command(commands: Any) -> None:
    parser = _command(
        commands,
        "vllm-bridge",
        _bridge,
        "Sends the files that vLLM's extract_hidden_states and hs-connectors write, until it is interrupted.",
        "Start vLLM with the arguments of plumbline_sae.engines.vllm_config. A file is read when its .lock is free,\n"
        "and both are removed. Example of a site: residual.5=blocks.5.hook_resid_post\n"
        "Exit code 3 when a file was refused or a record was not stored.",
    )
    parser.add_argument("--path", required=True, metavar="FOLDER", help="vLLM's shared_storage_path")
    parser.add_argument("--site", action="append", required=True, metavar="SITE=HOOK", help="may be repeated")
    parser.add_argument(
        "--layers", metavar="N,N", help="vLLM's numbers of all layers in a file; default: those of the sites, ascending"
    )
    parser.add_argument("--keep", action="store_true", help="leave the files where they are")
    _kafka_options(parser, "activations")


def _bridge(options: argparse.Namespace) -> int:
    hooks = {}
    for text in options.site:
        site, equals, hook = text.partition("=")
        if not equals:
            raise SystemExit(f"--site {text}: expected SITE=HOOK, such as residual.5=blocks.5.hook_resid_post")
        hooks[site] = hook
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    producer = Producer(_kafka(options), options.topic)
    try:
        layers = None if options.layers is None else [int(number) for number in options.layers.split(",")]
        files = VllmFiles(options.path, hooks, producer, delete=not options.keep, layer_ids=layers)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    files.run(stop)
    unsent = producer.flush(_PATIENCE)
    stats = producer.stats
    lost = f", {unsent} records not stored" if unsent else ""
    print(f"{files.stats.sent} files sent, {files.stats.refused} refused, {stats.rows} rows stored{lost}")
    return NOT_DONE if unsent or files.stats.refused or stats.dropped_rows or stats.failed_rows else 0


def _convert_command(commands: Any) -> None:
    parser = _command(
        commands,
        "convert",
        _convert,
        "Turns an explainer that is a pickle into a SAELens folder. Needs torch; runs no code of the file.",
        "The names of the tensors tell the kind; where two kinds have the same names, name the kind.",
    )
    parser.add_argument("source", help="ae.pt and its folder, NAME.pt, NAME.pth")
    parser.add_argument("out", help="the folder to write")
    parser.add_argument(
        "--kind",
        default="auto",
        help="dictionary_learning, goodfire, qwen_scope, deepseek_r1, connor_rob or openai; default: %(default)s",
    )
    parser.add_argument("--k", type=int, help="of a Qwen Scope SAE: its file does not say")
    parser.add_argument("--hook-name", help="for the metadata, such as blocks.5.hook_resid_post")
    parser.add_argument("--model-name", help="for the metadata")


def _convert(options: argparse.Namespace) -> int:
    try:
        from .convert import convert
    except ImportError as error:
        raise SystemExit(f"convert needs torch ({error}): pip install 'plumbline-sae[torch]'") from None
    named = {"k": options.k, "hook_name": options.hook_name, "model_name": options.model_name}
    facts = {name: value for name, value in named.items() if value is not None}
    try:
        print(convert(options.source, options.out, kind=options.kind, **facts))
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from None
    return 0


def _cache_command(commands: Any) -> None:
    parser = _command(
        commands,
        "saelens-cache",
        _cache,
        "Turns dumps into SAELens' cache of activations, to train on. Needs datasets.",
        "From a group of new traffic:\n"
        "  plumbline export-training ... --group 1 --out group-1.safetensors\n"
        "  plumbline-sae saelens-cache group-1.safetensors --out cache/ --hook-name blocks.5.hook_resid_post \\\n"
        "      --context-size 128\n"
        "Ends of requests that fill no context are left out and counted; --context-size 1 keeps every row.",
    )
    parser.add_argument("dumps", nargs="+", metavar="DUMP", help="files of recorded requests")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="to write; must not exist")
    parser.add_argument("--hook-name", required=True, help="hook_name of the SAE to be trained")
    parser.add_argument("--context-size", required=True, type=int, metavar="TOKENS", help="its context_size")
    parser.add_argument("--dtype", choices=("float32", "float16"), default="float32", help="default: %(default)s")


def _cache(options: argparse.Namespace) -> int:
    try:
        from .caches import saelens_cache
    except ImportError as error:
        raise SystemExit(f"saelens-cache needs datasets ({error}): pip install 'plumbline-sae[saelens]'") from None
    try:
        cached = saelens_cache(options.dumps, options.out, options.hook_name, options.context_size, dtype=options.dtype)
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from None
    print(f"{options.out}: {cached.contexts} contexts; {cached.rows_left_out} rows at ends of requests left out")
    return 0


def _worker_command(commands: Any) -> None:
    parser = _command(
        commands,
        "downstream-worker",
        _worker,
        "Runs the rest of a model for a monitor or for `plumbline causal`, until it is interrupted.",
        "HEAD is MODULE:FUNCTION, from activations [T, d], or targets and residual [T, d], to logits [T, V].\n"
        "A head is a program: name only what you would run. Who may connect may make it run.\n"
        "Exit code 4 when one run took longer than --run-timeout: let a supervisor start it again.\n\n"
        "Examples:\n"
        "  plumbline-sae downstream-worker --listen unix:/run/plumbline/head.sock my_model:head\n"
        "  plumbline-sae downstream-worker --listen 127.0.0.1:7070 --onnx head.onnx --provider CUDAExecutionProvider\n"
        "  plumbline-sae downstream-worker --listen unix:head.sock --model meta-llama/Llama-3.1-8B \\\n"
        "      --site blocks.16.hook_resid_post --dtype bfloat16 --device cuda",
    )
    parser.add_argument("head", nargs="?", metavar="HEAD", help="MODULE:FUNCTION")
    parser.add_argument("--listen", required=True, metavar="ADDRESS", help="unix:PATH or 127.0.0.1:PORT")
    parser.add_argument("--onnx", metavar="FILE", help="a head in an ONNX file; needs onnxruntime")
    parser.add_argument("--provider", action="append", metavar="NAME", help="onnxruntime's, in order; may be repeated")
    parser.add_argument("--model", metavar="NAME", help="a model of Hugging Face, or its folder; needs transformers")
    parser.add_argument("--site", metavar="HOOK", help="of --model, such as blocks.5.hook_resid_post")
    parser.add_argument("--targets", metavar="HOOK", help="of a transcoder, such as blocks.5.hook_mlp_out")
    parser.add_argument("--device", default="cpu", help="of --model; default: %(default)s")
    parser.add_argument("--dtype", default="float32", help="of --model; default: %(default)s")
    parser.add_argument("--max-megabytes", type=int, default=256, help="longest request; default: %(default)s")
    parser.add_argument("--run-timeout", type=float, default=120.0, metavar="SECONDS", help="default: %(default)s")


def _worker(options: argparse.Namespace) -> int:
    from . import worker

    if sum(given is not None for given in (options.head, options.onnx, options.model)) != 1:
        raise SystemExit("expected one of HEAD, --onnx and --model: the head that this worker runs")
    if options.max_megabytes < 1 or options.run_timeout <= 0:
        raise SystemExit("--max-megabytes and --run-timeout: expected more than 0")
    limits = worker.WorkerLimits(bytes=options.max_megabytes << 20, run_seconds=options.run_timeout)
    try:
        with worker.DownstreamWorker(_head(options), options.listen, limits) as opened:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: opened.close())
            print(f"listening on {opened.address}", flush=True)
            opened.serve_forever()
    except (ValueError, OSError, ImportError) as error:
        raise SystemExit(str(error)) from None
    return 0


def _head(options: argparse.Namespace) -> Any:
    from . import worker_heads

    if options.onnx is not None:
        return worker_heads.head_of_onnx(options.onnx, options.provider)
    if options.model is None:
        return worker_heads.head_of_function(options.head)
    if options.site is None:
        raise SystemExit("--model needs --site: what the explainer models, such as blocks.5.hook_resid_post")
    import torch
    import transformers

    from .sites import Site

    dtype = getattr(torch, options.dtype, None)
    if not isinstance(dtype, torch.dtype):
        raise SystemExit(f"--dtype {options.dtype}: expected float32, bfloat16 or float16")
    model = transformers.AutoModelForCausalLM.from_pretrained(options.model, dtype=dtype)
    return worker_heads.head_of_model(
        model.to(options.device).eval(),
        Site(options.site, targets=options.targets) if options.targets else options.site,
    )
