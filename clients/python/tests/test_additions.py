"""What a block adds to the stream, of two linear maps: what a refused place costs, and what a failure does."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")

from plumbline_sae.additions import Addition, AdditionHooks, Shown  # noqa: E402


class Block(torch.nn.Module):  # type: ignore[misc]
    """Adds what its modules give times a number; or something else, too."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = 0.5
        self.is_odd = False
        self.self_attn = torch.nn.Linear(8, 8)
        self.mlp = torch.nn.Linear(8, 8)

    def forward(self, rows: Any) -> Any:
        middle = rows + self.self_attn(rows) * self.scale
        return middle + self.mlp(middle) * self.scale + float(self.is_odd)


class Hooked:
    """A block whose `hook_mlp_out` is looked for."""

    def __init__(self) -> None:
        torch.manual_seed(3)
        self.block = Block()
        self.taken: list[Any] = []
        self.refused: list[str] = []
        self.addition = Addition("blocks.0.hook_mlp_out", "mlp_out", self.block, "h.0")
        self.hooks = AdditionHooks(self.addition, self.taken.append, self.refused.append)

    def call(self) -> Any:
        with torch.no_grad():
            return self.block(torch.randn(1, 5, 8))


def test_a_place_that_is_refused_is_looked_for_ever_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    it = Hooked()
    looked: list[int] = []
    find = it.addition.find
    monkeypatch.setattr(it.addition, "find", lambda *given: looked.append(len(it.refused)) or find(*given))
    it.block.is_odd = True
    for _ in range(200):
        it.call()
    assert looked == [*range(32), 63, 127]
    assert len(it.refused) == 200
    assert len(set(it.refused)) == 1
    assert "holds for none of the block's modules" in it.refused[-1]
    it.block.is_odd = False
    for _ in range(57):
        it.call()
    assert it.hooks.shown == Shown("mlp", "output", 0.5)
    assert (len(it.refused), len(it.taken)) == (255, 2)


def test_rows_that_cannot_be_multiplied_are_refused_and_the_model_goes_on() -> None:
    class NoMemory:
        def __rmul__(self, other: Any) -> Any:
            raise MemoryError("no memory")

    it = Hooked()
    it.call()
    assert len(it.taken) == 1
    broken: Any = NoMemory()
    it.hooks._shown = Shown("mlp", "output", broken)
    assert it.call().shape == (1, 5, 8)
    assert len(it.taken) == 1
    assert "what mlp gives could not be multiplied, no memory" in it.refused[0]
