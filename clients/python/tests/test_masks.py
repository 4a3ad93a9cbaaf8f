"""Every way in which a model can be given its mask: padding is never sent, or the capture says that it cannot tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recorder import Recorder

torch = pytest.importorskip("torch", reason="needs torch: pip install 'plumbline-sae[torch]'")

from plumbline_sae.capture import capture  # noqa: E402

NAMES = ["a", "b", "c"]
LENGTH = 5
IDS = torch.tensor([[11, 12, 13, 14, 15], [0, 0, 21, 22, 23], [0, 0, 0, 0, 31]])
LEFT = (IDS != 0).long()
ADDED = torch.finfo(torch.float32).min


class Model(torch.nn.Module):
    """Takes what models take; its hidden states are the positions of its tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.place = torch.nn.Identity()

    def forward(
        self,
        input_ids: Any = None,
        past_key_values: Any = None,
        attention_mask: Any = None,
        position_ids: Any = None,
        inputs_embeds: Any = None,
        perm_mask: Any = None,
    ) -> Any:
        tokens = input_ids if inputs_embeds is None else inputs_embeds[..., 0]
        return self.place(torch.stack([tokens.float(), torch.ones(tokens.shape)], dim=-1))


class Wrapper(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.model(*inputs, **kwargs)


def pairs(mask: Any, keys: int = LENGTH) -> Any:
    """Which token reads which, as transformers writes it for a text with these tokens: [requests, 1, tokens, keys]."""
    causal = torch.ones(LENGTH, keys, dtype=torch.bool).tril()
    known = torch.zeros(len(mask), keys, dtype=torch.bool)
    known[:, :LENGTH] = mask.bool()
    return (causal & known[:, None, :])[:, None]


def all_where_none(reads: Any) -> Any:
    """What transformers makes of rows that would read nothing, for a torch that cannot take them."""
    return reads | ~reads.any(-1, keepdim=True)


def of(model: Any, *inputs: Any, place: str = "place", masks: dict[str, Any] | None = None, **kwargs: Any) -> Any:
    producer = Recorder()
    with capture(model, producer, {"r": place}) as captured, captured.batch(NAMES, **(masks or {})):
        model(*inputs, **kwargs)
    return producer, captured.stats


def both_axes(mask: Any) -> Any:
    """The mask of an encoder: every token reads every real one."""
    return mask.bool()[:, None, None, :].expand(-1, 1, LENGTH, -1)


WAYS: dict[str, Any] = {
    "whole numbers": lambda mask: mask,
    "booleans": lambda mask: mask.bool(),
    "floats": lambda mask: mask.float(),
    "added to scores": lambda mask: (1.0 - mask.float()) * ADDED,
    "pairs": pairs,
    "pairs without heads": lambda mask: pairs(mask)[:, 0],
    "pairs for each head": lambda mask: pairs(mask).expand(-1, 4, -1, -1),
    "pairs, with room for more keys": lambda mask: pairs(mask, LENGTH + 3),
    "pairs as 0 and 1": lambda mask: pairs(mask).float(),
    "pairs added to scores": lambda mask: torch.where(pairs(mask), 0.0, ADDED),
    "pairs added to scores, in bfloat16": lambda mask: torch.where(pairs(mask), 0.0, -10_000.0).bfloat16(),
    "pairs of an encoder": both_axes,
    "keys alone": lambda mask: mask.bool()[:, None, None, :],
    "keys alone, added to scores": lambda mask: torch.where(mask.bool(), 0.0, ADDED)[:, None, None, :],
    "of each kind of attention": lambda mask: {
        "sliding_attention": pairs(mask)[..., -2:],
        "full_attention": pairs(mask),
    },
    "of one kind of attention": lambda mask: {"full_attention": None, "sliding_attention": pairs(mask)},
}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("way", WAYS)
def test_padding_is_never_sent(way: str, side: str) -> None:
    ids = IDS if side == "left" else IDS.flip(1)
    mask = (ids != 0).long()
    given = WAYS[way](mask)
    embeds = torch.stack([ids.float()] * 2, dim=-1)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((ids,), {"attention_mask": given}),
        ((ids, None, given), {}),
        ((), {"input_ids": ids, "attention_mask": given}),
        ((), {"inputs_embeds": embeds, "attention_mask": given}),
        ((None, None, given, None, embeds), {}),
    ]
    for inputs, kwargs in calls:
        producer, stats = of(Model(), *inputs, **kwargs)
        assert stats.failed == 0, stats
        for row, name in enumerate(NAMES):
            np.testing.assert_array_equal(producer.of(name).rows[:, 0], ids[row][mask[row] == 1].numpy())


def test_rows_that_read_everything_for_want_of_a_token_are_padding() -> None:
    for keys in (LENGTH, LENGTH + 3):
        producer, stats = of(Model(), IDS, attention_mask=all_where_none(pairs(LEFT, keys)))
        assert stats.failed == 0, stats
        assert [len(producer.of(name).rows) for name in NAMES] == [5, 3, 1]
    producer, stats = of(Model(), IDS, attention_mask=torch.ones(3, 1, LENGTH, LENGTH, dtype=torch.bool))
    assert [len(producer.of(name).rows) for name in NAMES] == [5, 5, 5]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (object(), "attention_mask is a object: padding cannot be read from it; give `batch`"),
        (torch.ones(3, 1, 1, 5, 5), "expected two, three or four axes"),
        (torch.ones(3, 4), r"attention_mask is \[3, 4\], expected \[3, 5\] or \[3, 5\]"),
        (torch.ones(2, 5), r"attention_mask is \[2, 5\], expected"),
        (torch.ones(3, 1, 4, 5), "expected 5 queries and 5 keys of 3 requests; give `batch`"),
        (torch.ones(3, 1, 5, 4), "expected 5 queries and 5 keys of 3 requests; give `batch`"),
        (pairs(LEFT) | torch.eye(5, dtype=torch.bool), "tokens that read themselves alone, which padding may do"),
    ],
)
def test_a_mask_that_does_not_tell_padding_is_told_unless_the_batch_is_given_one(mask: Any, message: str) -> None:
    import re

    producer, stats = of(Model(), IDS, attention_mask=mask)
    assert stats.failed == 1
    assert re.search(message, str(stats.last_error)), stats.last_error
    assert producer.sent == []
    producer, stats = of(Model(), IDS, attention_mask=mask, masks={"attention_mask": LEFT})
    assert stats.failed == 0, stats
    assert [len(producer.of(name).rows) for name in NAMES] == [5, 3, 1]


def test_arguments_that_cannot_be_named_are_told() -> None:
    producer, stats = of(Wrapper(), IDS, None, LEFT, place="model.place")
    assert "3 arguments by position, and its forward names 0" in str(stats.last_error)
    assert producer.sent == []
    producer, stats = of(Wrapper(), IDS, attention_mask=LEFT, place="model.place")
    assert [len(producer.of(name).rows) for name in NAMES] == [5, 3, 1]
    producer, stats = of(Model(), IDS, perm_mask=torch.ones(3, 5, 5))
    assert "perm_mask" in str(stats.last_error)
    assert producer.sent == []


def test_a_part_of_the_captured_model_that_is_called_by_itself_is_told() -> None:
    wrapper, producer = Wrapper(), Recorder()
    with capture(wrapper, producer, {"r": "model.place"}) as captured:
        wrapper.model(IDS, attention_mask=LEFT)
        with captured.batch(NAMES):
            wrapper.model(IDS, attention_mask=LEFT)
    assert captured.stats.failed == 1
    assert "its module runs outside of a call of the captured model" in str(captured.stats.last_error)
    assert producer.sent == []


def test_a_model_that_keeps_its_cache_to_itself_goes_on_by_its_mask_or_its_positions() -> None:
    whole = torch.ones(3, 6, dtype=torch.long)
    whole[:, :5] = LEFT
    for more in ({"attention_mask": whole}, {"position_ids": torch.tensor([[5], [3], [1]])}):
        model, producer = Model(), Recorder()
        with capture(model, producer, {"r": "place"}) as captured, captured.batch(NAMES):
            model(IDS, attention_mask=LEFT)
            model(torch.tensor([[16], [24], [32]]), **more)
        assert captured.stats.failed == 0, captured.stats
        assert [sent.rows[-1, 0] for sent in producer.sent] == [16, 24, 32]
        assert [len(sent.rows) for sent in producer.sent] == [6, 4, 2]
    model, producer = Model(), Recorder()
    with capture(model, producer, {"r": "place"}) as captured, captured.batch(NAMES):
        model(IDS, attention_mask=LEFT)
        model(torch.tensor([[16], [24], [32]]))
    assert "begins again with other tokens and without the cache" in str(captured.stats.last_error)
    assert [len(sent.rows) for sent in producer.sent] == [5, 3, 1]
