"""Commands that need no broker; `send` and `follow` are run against one by the product's PythonClientIT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorder import Recorder

import plumbline_sae
from plumbline_sae import cli, engines
from plumbline_sae.tensors import encode, tensor_of

PICKLE = Path(__file__).parent / "fixtures" / "pickles" / "dictionary_learning_topk"


class Opened(Recorder):
    stats = plumbline_sae.Stats(rows=8)
    last: Opened
    unsent = 0

    def __init__(self, config: dict[str, Any], topic: str) -> None:
        super().__init__()
        Opened.last = self
        self.config = config

    def flush(self, timeout: float = 10.0) -> int:
        return self.unsent if timeout > 60 else 99  # by then the Kafka client gives up


def test_the_bridge_sends_the_files_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.safetensors").write_bytes(encode({"hidden_states": tensor_of(np.ones((4, 2, 3), dtype="float32"))}))
    monkeypatch.setattr(cli, "Producer", Opened)
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    monkeypatch.setattr(engines.VllmFiles, "run", lambda self, stop: self.poll())
    sites = ["--site", "a=blocks.1.hook_resid_post", "--site", "b=blocks.4.hook_resid_pre"]
    kafka = ["--bootstrap-servers", "x:1", "--kafka-property", "security.protocol=SSL"]
    assert cli.main(["vllm-bridge", "--path", str(tmp_path), *sites, *kafka]) == 0
    assert capsys.readouterr().out.strip() == "1 files sent, 0 refused, 8 rows stored"
    assert {sent.site for sent in Opened.last.sent} == {"a", "b"}
    states = np.arange(24, dtype="float32").reshape(4, 2, 3)
    (tmp_path / "r.safetensors").write_bytes(encode({"hidden_states": tensor_of(states)}))
    assert cli.main(["vllm-bridge", "--path", str(tmp_path), *sites[2:], "--layers", "9,4", *kafka]) == 0
    np.testing.assert_array_equal(Opened.last.of("r").rows, states[:, 1])
    assert Opened.last.config == {"bootstrap.servers": "x:1", "security.protocol": "SSL"}
    monkeypatch.setattr(Opened, "unsent", 3)
    capsys.readouterr()
    assert cli.main(["vllm-bridge", "--path", str(tmp_path), *sites, *kafka]) == cli.NOT_DONE
    assert capsys.readouterr().out.strip() == "0 files sent, 0 refused, 8 rows stored, 3 records not stored"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--site", "a", "--bootstrap-servers", "x:1"], "--site a: expected SITE=HOOK"),
        (["--site", "a=mlp", "--bootstrap-servers", "127.0.0.1:1"], "hook 'mlp': expected blocks.N.hook_resid_pre"),
        (
            ["--site", "a=blocks.1.hook_resid_post", "--bootstrap-servers", "x:1", "--kafka-property", "ssl"],
            "--kafka-property ssl: expected KEY=VALUE",
        ),
    ],
)
def test_a_wrong_option_is_told_with_what_to_write(words: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["vllm-bridge", "--path", str(tmp_path), *words])
    assert message in str(ended.value)


def test_convert_prints_the_folder_or_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    out = tmp_path / "sae"
    assert cli.main(["convert", str(PICKLE), str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert (out / "cfg.json").is_file()
    with pytest.raises(SystemExit, match="is not empty"):
        cli.main(["convert", str(PICKLE), str(out)])


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("send", "follow", "vllm-bridge", "convert"):
        with pytest.raises(SystemExit) as ended:
            cli.main([command, "--help"])
        assert ended.value.code == 0
        assert "--bootstrap-servers" in capsys.readouterr().out or command == "convert"
