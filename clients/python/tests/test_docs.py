"""Every Python example of the documents, run in the order of its page."""

from __future__ import annotations

import re
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorder import Recorder

import plumbline_sae
from plumbline_sae import Decoder, Trained

DOCS = Path(__file__).parents[3] / "docs" / "use"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAE = Path(__file__).parent / "fixtures" / "saelens" / "standard"


def blocks(page: str) -> list[str]:
    if not DOCS.is_dir():
        pytest.skip("the documents are not part of this package's own archive")
    return BLOCK.findall((DOCS / page).read_text())


class Opened(Recorder):
    """A producer as the examples use one."""

    stats = plumbline_sae.Stats()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        self.flush()

    def send_value(self, site: str, value: bytes, **options: Any) -> bool:
        self.values = [*getattr(self, "values", []), value]
        return True

    def send_word(self, site: str, tokens: int, **options: Any) -> bool:
        return True

    def require_room(self, size: int) -> None:
        pass


class Subscriber:
    """A topic with one decoder."""

    def __init__(self, config: dict[str, Any], sites: dict[str, Any], **options: Any) -> None:
        self.sites = {site: Trained.of(trained) for site, trained in sites.items()}

    def __enter__(self) -> Any:
        for site, trained in self.sites.items():
            self.decoder = Decoder(
                site, 1, "adapted", trained.W_dec, trained.b_dec, {}, trained.identity, trained.identity
            )
        return iter([self.decoder])

    def __exit__(self, *error: object) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.parametrize("page", ["producers.md", "python.md"])
def test_the_examples_run(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = blocks(page)
    assert found
    monkeypatch.setattr(plumbline_sae, "Producer", Opened)
    monkeypatch.setattr(plumbline_sae, "DecoderSubscriber", Subscriber)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sae").symlink_to(SAE)
    names: dict[str, Any] = {
        "__name__": "__main__",
        "hidden_states": np.ones((3, 4), dtype="float32"),
        "special_tokens_mask": [1, 0, 0],
        "request_ids": ["a", "b"],
        "W_dec_0": np.ones((5, 4), dtype="float32"),
        "W_dec_1": np.ones((10, 4), dtype="float32"),
        "b_dec_0": np.zeros(4, dtype="float32"),
        "b_dec_1": np.zeros(4, dtype="float32"),
    }
    needs = {
        "capture(": add_model,
        "plumbline_sae.saelens": add_sae,
        "plumbline_sae.dumps": add_launcher,
        "plumbline_sae.convert": add_pickle,
    }
    for code in found:
        for module, add in needs.items():
            if module in code:
                add(names, monkeypatch)
        exec(compile(code, page, "exec"), names)
    if page == "python.md":
        assert {sent.request for sent in names["producer"].sent} == {"request-17", "a", "b"}
        assert len(names["producer"].values) == 1


def test_the_hook_of_the_page_on_vllm_steers_and_reads_the_weights_that_are_swapped() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    names: dict[str, Any] = {"W_dec": torch.ones(20, 4), "b_dec": torch.zeros(4)}
    for code in blocks("vllm.md"):
        exec(compile(code, "vllm.md", "exec"), names)

    class Block(torch.nn.Module):  # type: ignore[misc]
        def forward(self, rows: Any) -> Any:
            return rows, 10 * rows

    model = torch.nn.Module()
    model.layers = torch.nn.ModuleList([Block() for _ in range(6)])
    hooked = names["attach"](model)["residual.5"]
    assert hooked.writes
    hooked.W_dec[...] = torch.full((20, 4), 2.0)
    added, stream = model.layers[5](torch.ones(1, 4))
    assert added.tolist() == [[7.0] * 4]
    assert stream.tolist() == [[10.0] * 4]


def add_model(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    transformers = pytest.importorskip("transformers", reason="needs transformers: pip install transformers")
    config = transformers.GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=3, n_head=2)
    names["model"] = transformers.GPT2LMHeadModel(config).eval()
    names["inputs"] = {"input_ids": torch.tensor([[5, 6, 7], [8, 9, 10]])}
    names["tokenizer"] = type("Tokenizer", (), {"all_special_ids": [0, 1]})


def add_sae(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[saelens]'")
    sae_lens = pytest.importorskip("sae_lens", reason="needs sae_lens: pip install 'plumbline-sae[saelens]'")
    import plumbline_sae.saelens

    monkeypatch.setattr(plumbline_sae.saelens, "DecoderSubscriber", Subscriber)
    if "sae" not in names:
        names["sae"] = sae_lens.SAE.load_from_disk(SAE, device="cpu")
        names["activations"] = torch.ones(2, 48)


def add_launcher(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    command = Path("plumbline")
    command.write_text("#!/bin/sh\necho made\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{Path.cwd()}:/usr/bin:/bin")


def add_pickle(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")
    for file in (SAE.parents[1] / "pickles" / "dictionary_learning_topk").iterdir():
        shutil.copy(file, ".")


def test_the_chunk_header_of_the_documents_is_the_packages() -> None:
    from plumbline_sae.subscriber import _CHUNK_HEADER

    assert _CHUNK_HEADER.size == struct.calcsize(">bqi") == 13
