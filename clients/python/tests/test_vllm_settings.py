"""What a worker is told, and what stops a server before it serves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_vllm import Base, Engine, Model, vllm_config

import plumbline_sae.vllm
import plumbline_sae.vllm.worker as workers
from plumbline_sae.vllm.blocks import point_of
from plumbline_sae.vllm.places import Place
from plumbline_sae.vllm.plugin import WORKER, wrap
from plumbline_sae.vllm.settings import GRAPH_KEY, VARIABLE, find_settings, read_settings

KAFKA = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}
GOOD = {"kafka": KAFKA, "sites": {"a": "blocks.1.hook_resid_post"}}


def load(settings: Any, engine: Engine | None = None, **parallel: int) -> Any:
    worker = workers.worker_class(Base, engine or Engine())(vllm_config(settings, **parallel))
    worker.load_model()
    worker.shutdown()
    return worker


def test_settings_are_one_checked_object() -> None:
    found = read_settings(
        {
            "kafka": KAFKA,
            "sites": {
                "a": "blocks.1.hook_resid_post",
                "b": "blocks.2.hook_resid_pre",
                "c": {"at": "blocks.1.mlp.hook_in", "targets": "blocks.1.hook_mlp_out", "mask": {"token_ids": [2, 1]}},
                "d": "blocks.0.hook_resid_pre",
            },
            "special_ids": [0],
            "moments": {"pane_ms": 60_000, "f32": True, "request_totals": 7, "max_bytes": 1 << 29},
        }
    )
    assert found.aux_layers == (2,)
    assert found.tapped == (Place("added", 1), Place("mlp_in", 1), Place("stream", 0))
    assert found.graph == {"aux": [2], "taps": ["added.1", "mlp_in.1", "stream.0"]}
    assert found.accumulations()["c"].mask.token_ids == (1, 2)
    assert found.accumulations()["a"].f32
    assert found.accumulations()["a"].request_totals == 7
    assert found.moments is not None
    assert found.moments.max_bytes == 1 << 29


def test_the_settings_of_the_compose_file_are_good() -> None:
    file = Path(__file__).parents[3] / "deploy" / "compose" / "vllm.json"
    if not file.exists():
        pytest.skip("it is not part of this package's own archive")
    assert read_settings(json.loads(file.read_text())).aux_layers == (3,)


def test_taps_give_the_stream_where_a_speculator_has_the_outputs() -> None:
    found = read_settings({**GOOD, "module_taps": True})
    assert found.aux_layers == ()
    assert found.tapped == (Place("stream", 2),)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sites": {}}, "sites: expected at least one"),
        ({"sites": {"a": "blocks.1.hook_z"}}, "site a: hook 'blocks.1.hook_z': expected blocks.N.hook_resid_pre"),
        ({"sites": {"a": {"targets": "blocks.1.hook_mlp_out"}}}, 'site a: expected "at"'),
        ({"sites": {"a": {"at": "blocks.1.mlp.hook_in", "size": 3}}}, "site a: size: is no setting"),
        ({"sites": {"a": 7}}, "site a: expected a hook's name, or an object; it: is int"),
        ({"sites": []}, "sites: is list, expected an object"),
        ({"kafka": {}}, "kafka: expected the brokers"),
        ({"sample": 0}, "sample = 0: expected a share above 0"),
        ({"sample": True}, "sample = True: expected int or float"),
        ({"special_ids": ["<s>"]}, "special_ids = ['<s>']: expected a list of token ids"),
        ({"part_rows": 0}, "part_rows = 0: expected at least 1"),
        ({"part_rows": "many"}, "part_rows = many: expected int"),
        ({"moments": {}}, "moments.pane_ms: is missing"),
        ({"moments": {"pane_ms": 0}}, "pane_ms = 0"),
        ({"moments": {"pane_ms": 1, "request_totals": -1}}, "request_totals = -1"),
        ({"moments": {"pane_ms": 1, "max_bytes": 0}}, "moments.max_bytes = 0: expected at least 1"),
        ({"moments": {"pane_ms": 60_000, "f32": 1}}, "moments.f32 = 1: expected bool"),
        ({"features": {"b": {"path": "sae"}}}, "features: b is not among the sites, a"),
        ({"features": {"a": {}}}, "features.a.path: is missing"),
        (
            {"features": {"a": {"path": "sae"}}, "moments": {"pane_ms": 60_000}},
            "codes are read from rows that are sent",
        ),
        ({"decoders": {"attach": "their_hooks"}}, "decoders.attach = their_hooks: expected module:function"),
        ({"decoders": {"keys": "signing.pub"}}, "decoders.keys = signing.pub: expected list[str] | None"),
        ({"decoders": {"keys": []}}, "decoders.keys = []: expected files of public keys"),
        ({"decoders": {"keys": [5]}}, "decoders.keys = [5]: expected files of public keys"),
        ({"tpoic": "x"}, "tpoic: is no setting; expected some of kafka, sites, topic"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as refusal:
        find_settings({"plumbline": {**GOOD, **change}})
    assert str(refusal.value).startswith("additional_config.plumbline: ")
    assert sentence in str(refusal.value)


def test_settings_come_from_the_environment_as_json_or_as_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert find_settings({}) is None
    monkeypatch.setenv(VARIABLE, json.dumps(GOOD))
    assert find_settings({}) == read_settings(GOOD)
    file = tmp_path / "plumbline.json"
    file.write_text(json.dumps(GOOD))
    monkeypatch.setenv(VARIABLE, str(file))
    assert find_settings({"other": 1}) == read_settings(GOOD)
    other = {**GOOD, "topic": "others"}
    assert find_settings({"plumbline": other}) == read_settings(other)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.json"))
    with pytest.raises(ValueError, match=r"PLUMBLINE_VLLM: .* is neither JSON nor a file"):
        find_settings({})
    monkeypatch.setenv(VARIABLE, "{")
    with pytest.raises(ValueError, match="PLUMBLINE_VLLM: no JSON"):
        find_settings({})


@pytest.mark.parametrize(
    ("settings", "engine", "parallel", "sentence"),
    [
        (None, Engine(), {}, "has no settings"),
        (GOOD, Engine(), {"pipeline_parallel_size": 2}, "pipeline_parallel_size = 2"),
        (GOOD, Engine(), {"prefill_context_parallel_size": 2}, "prefill context parallel ranks"),
        (GOOD, Engine(aux=False), {}, '"module_taps": true'),
        ({**GOOD, "sites": {"a": "blocks.4.hook_resid_pre"}}, Engine(), {}, ""),
        ({**GOOD, "sites": {"a": "blocks.4.hook_resid_post"}}, Engine(), {}, "no block 4, its blocks are 0 to 3"),
    ],
)
def test_a_server_that_cannot_be_watched_does_not_start(
    settings: Any, engine: Engine, parallel: dict[str, int], sentence: str
) -> None:
    if not sentence:
        load(settings, engine, **parallel)
        return
    with pytest.raises(ValueError) as refusal:
        load(settings, engine, **parallel)
    assert sentence in str(refusal.value)


def test_the_outputs_of_a_speculator_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = workers.worker_class(Base, Engine())(vllm_config(GOOD))
    worker.model_runner.use_aux_hidden_state_outputs = True
    with pytest.raises(ValueError, match="a speculator"):
        worker.load_model()


def test_a_vllm_without_a_private_name_is_refused_with_its_version() -> None:
    worker = workers.worker_class(Base, Engine(version="9.1"))(vllm_config(GOOD))
    del worker.model_runner.execute_model_state
    with pytest.raises(
        ValueError, match=r"vLLM 9\.1: Runner has no execute_model_state; .* was tested with vLLM 0\.32"
    ):
        worker.load_model()


def test_a_pooling_model_is_refused() -> None:
    config = vllm_config(GOOD)
    config.model_config.runner_type = "pooling"
    with pytest.raises(ValueError, match="a pooling model"):
        workers.worker_class(Base, Engine())(config).load_model()


def test_the_compile_cache_knows_the_places_and_no_password() -> None:
    worker = load({**GOOD, "kafka": {**KAFKA, "sasl.password": "secret"}})
    assert worker.vllm_config.additional_config[GRAPH_KEY] == {"aux": [2], "taps": []}
    assert "secret" not in json.dumps(worker.vllm_config.additional_config[GRAPH_KEY])


def platform_of(chosen: str) -> Any:
    class Platform:
        @classmethod
        def check_and_update_config(cls, config: Any) -> None:
            config.parallel_config.worker_cls = chosen

    return Platform


def test_the_plugin_takes_the_place_of_the_default_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps(GOOD))
    for chosen, ran in [("vllm.v1.worker.cpu_worker.CPUWorker", WORKER), ("their.Worker", "their.Worker")]:
        platform, config = platform_of(chosen), vllm_config()
        wrap(platform)
        wrap(platform)
        platform.check_and_update_config(config)
        assert config.parallel_config.worker_cls == ran
        assert (GRAPH_KEY in config.additional_config) == (ran == WORKER)
    monkeypatch.setenv(VARIABLE, '{"kafka": {}}')
    with pytest.raises(ValueError, match="PLUMBLINE_VLLM: sites: is missing"):
        platform.check_and_update_config(vllm_config())


def test_without_its_variable_the_plugin_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    plumbline_sae.vllm.register()


def test_the_package_needs_neither_torch_nor_vllm_until_a_worker_is_made() -> None:
    code = "import sys, plumbline_sae.vllm; print([name for name in ('torch', 'vllm') if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
    with pytest.raises(AttributeError, match="Wroker"):
        plumbline_sae.vllm.Wroker  # noqa: B018


class Gemma2DecoderLayer:
    mlp = SimpleNamespace(forward=lambda x: x)

    def forward(self, positions: Any, hidden_states: Any, residual: Any) -> Any: ...


class GPT2Block(Gemma2DecoderLayer):
    pass


class CohereDecoderLayer(Gemma2DecoderLayer):
    pass


def model_of(block: Any) -> Model:
    model = Model()
    model.model = SimpleNamespace(layers=[block() for _ in range(3)])
    return model


def test_what_a_block_hands_on_is_known_and_not_guessed() -> None:
    gemma, gpt2, cohere = (model_of(block) for block in (Gemma2DecoderLayer, GPT2Block, CohereDecoderLayer))
    stream = point_of(gemma, Place("stream", 2), adds_pairs=False)
    assert (stream.module, stream.is_sum) == (gemma.model.layers[1], True)
    assert stream.rows_out((2, 3)) == 5
    assert point_of(gemma, Place("added", 1), adds_pairs=False).rows_out((2, 3)) == 2
    assert point_of(gpt2, Place("stream", 3), adds_pairs=False).rows_out(7) == 7
    assert point_of(gpt2, Place("added", 0), adds_pairs=False).module is GPT2Block.mlp
    entering = point_of(cohere, Place("stream", 0), adds_pairs=False)
    assert entering.rows_in(("positions", "rows", None), {}) == "rows"
    assert entering.rows_in((), {"hidden_states": "rows"}) == "rows"
    assert point_of(cohere, Place("mlp_in", 2), adds_pairs=False).rows_in(("rows",), {}) == "rows"
    with pytest.raises(ValueError, match="CohereDecoderLayer: nothing shows what this block hands on"):
        point_of(cohere, Place("stream", 1), adds_pairs=False)
    assert point_of(cohere, Place("stream", 1), adds_pairs=True).is_sum
    with pytest.raises(ValueError, match="CohereDecoderLayer: nothing shows"):
        point_of(cohere, Place("added", 1), adds_pairs=True)  # its blocks may give the stream itself
    with pytest.raises(ValueError, match="no block 3, its blocks are 0 to 2"):
        point_of(gemma, Place("mlp_out", 3), adds_pairs=False)
