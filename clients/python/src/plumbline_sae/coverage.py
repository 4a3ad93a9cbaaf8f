"""Tokens that a server processed and that have no row: what the headers of a site's next record say of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """Tokens without a row in the records sent so far, by reason.

    Attributes:
        cached: a prefix cache held them, so that their activations were not computed.
        not_sampled: their request was left out by sampling.
        dropped: their rows were given up, or not stored.
        unexplained: the server processed them, and nobody said why their rows are missing.
    """

    cached: int = 0
    not_sampled: int = 0
    dropped: int = 0
    unexplained: int = 0

    @classmethod
    def of_request(cls, tokens_served: int | None, rows: int, cached: int) -> Missing:
        """Returns what is missing of a request whose `rows` were handed over.

        Raises:
            ValueError: when the numbers do not fit together.
        """
        if cached < 0:
            raise ValueError(f"cached = {cached}: expected at least 0")
        if tokens_served is None:
            return cls(cached=cached)
        if tokens_served < rows + cached:
            raise ValueError(f"tokens_served = {tokens_served}, but there are {rows} rows and {cached} cached tokens")
        return cls(cached=cached, unexplained=tokens_served - rows - cached)

    def __add__(self, other: Missing) -> Missing:
        return Missing(
            self.cached + other.cached,
            self.not_sampled + other.not_sampled,
            self.dropped + other.dropped,
            self.unexplained + other.unexplained,
        )

    def headers(self, rows: int) -> dict[str, str]:
        """Returns the headers of a record of `rows` rows that tells of these tokens, too."""
        named = {"cached": self.cached, "not_sampled": self.not_sampled, "dropped": self.dropped}
        served = rows + sum(named.values()) + self.unexplained
        return {"tokens_served": str(served), **{name: str(count) for name, count in named.items() if count}}
