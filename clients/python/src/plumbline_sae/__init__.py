"""Sends a model's activations to Plumbline, and follows the decoders it publishes.

The package decides nothing that the service decides: it carries bytes, keeps encoders still, and refuses what it cannot
keep still. The names below need numpy, safetensors and confluent-kafka; `plumbline_sae.capture`,
`plumbline_sae.saelens`, `plumbline_sae.convert` and `plumbline_sae.heads` need torch.
"""

from .decoders import Decoder, Trained
from .joint import Block, JointDecoder
from .moments import MomentAccumulator
from .producer import Dropped, Producer, Stats
from .settings import Accumulation, Mask
from .subscriber import DecoderSubscriber

__version__ = "0.1.0"

__all__ = [
    "Accumulation",
    "Block",
    "Decoder",
    "DecoderSubscriber",
    "Dropped",
    "JointDecoder",
    "Mask",
    "MomentAccumulator",
    "Producer",
    "Stats",
    "Trained",
    "__version__",
]
