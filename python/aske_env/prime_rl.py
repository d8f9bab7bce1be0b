"""CISPO for prime-rl: the loss of the paper, as `crates/train/src/loss.rs` has it.

    [trainer.loss]
    type = "custom"
    import_path = "aske_env.prime_rl.cispo"
    kwargs = { clip_low = 0.75, clip_high = 3.0 }
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from prime_rl.trainer.rl.loss import LossInputs, LossOutputs


def cispo(inputs: LossInputs, clip_low: float = 0.75, clip_high: float = 3.0) -> LossOutputs:
    """The loss of one sequence: `sum of -clip(ratio) * advantage * logp` over the tokens that the policy wrote.

    The ratio is how much likelier a token is now than when it was sampled. It is held constant and clipped to
    `1 - clip_low` and `1 + clip_high`, so that every token keeps a gradient. There is no KL term.

    This is a sum, not a mean, because prime-rl does the rest: it divides by the number of such tokens in the whole
    step, over all sequences, micro-batches and ranks, and undoes the averaging of gradients over ranks. Ask-E's own
    trainer puts the same share, one over the step's tokens, into each token's weight. The two agree as long as
    tokens without an advantage are counted: `orchestrator.train.filter_zero_advantages = false`.

    The metrics are the mean ratio and the shares of tokens clipped below and above.
    """
    from prime_rl.trainer.rl.loss import LossOutputs

    low, high = 1.0 - clip_low, 1.0 + clip_high
    mask = inputs.loss_mask
    logp = inputs.trainer_logprobs[mask]
    weight = inputs.advantages[mask]
    if inputs.loss_weights is not None:
        weight = weight * inputs.loss_weights[mask]
    ratio = torch.exp(logp.detach() - inputs.inference_logprobs[mask])
    count = max(logp.numel(), 1)
    return LossOutputs(
        loss=-(ratio.clamp(low, high) * weight * logp).sum(),
        metrics={
            "cispo/ratio": ratio.sum() / count,
            "cispo/clipped_low": (ratio < low).sum() / count,
            "cispo/clipped_high": (ratio > high).sum() / count,
        },
    )
