"""CISPO for prime-rl: the loss of the paper, as in `crates/train/src/loss.rs`.

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
    """The loss of one sequence: the sum of `-clip(ratio) * advantage * logp` over the tokens of the policy.

    The importance ratio is detached and clipped to `1 - clip_low` and `1 + clip_high`, so that every token keeps a
    gradient. There is no KL term.

    This is a sum and not a mean, because prime-rl divides by the number of these tokens in the whole step, over all
    sequences, micro-batches and ranks, and undoes the averaging of gradients over ranks. Ask-E's own trainer applies
    the same factor to each token's weight. The two agree if tokens with zero advantage are counted:
    `orchestrator.train.filter_zero_advantages = false`.

    The metrics are the mean ratio and the fractions of tokens clipped below and above.
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
