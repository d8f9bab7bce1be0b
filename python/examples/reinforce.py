"""Trains the nano novice by REINFORCE, on two cores and without a network; needs torch and transformers.

The environment plays the sessions in this process, with the policy's current weights.
"""

import asyncio
import random
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, logging

import aske_env

STEPS, PAIRS, GROUP, BATCH = 30, 6, 16, 24
FOLDER = aske_env.export_nano("nano-novice", "policy")
OPTIONS = [f'models.nano-novice.path="{FOLDER}"', "check.model=nano-check"]

random.seed(0)
logging.disable_progress_bar()
history = aske_env.Environment("nano-train", OPTIONS)
policy = AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float32)
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-4, weight_decay=0.0)


async def play(step: int) -> list[dict[str, Any]]:
    """GROUP rollouts for each of some pairs, with the tokens that were sampled."""
    policy.save_pretrained(FOLDER)
    environment = aske_env.Environment("nano-train", OPTIONS)
    pairs = random.sample(environment.pairs(), PAIRS)
    # Other samples in every step: the networks of this process always reply the same to the same sample.
    groups = (environment.group(pair, GROUP, step * GROUP, sampling={"logprobs": True}) for pair in pairs)
    rollouts = sum(await asyncio.gather(*groups), [])
    history.score_diversity(rollouts)
    return rollouts


def update(rollouts: list[dict[str, Any]]) -> None:
    """A step of REINFORCE; the baseline is the mean reward of the group."""
    advantages = torch.tensor([rollout["total"] for rollout in rollouts]).view(PAIRS, GROUP)
    advantages = (advantages - advantages.mean(1, keepdim=True)).flatten()
    turns = [(turn["reply"], a) for rollout, a in zip(rollouts, advantages) for turn in rollout["turns"]]
    turns = sorted(((t["prompt_token_ids"], t["token_ids"], a) for t, a in turns), key=lambda t: len(t[0] + t[1]))
    sampled = sum(len(reply) for _, reply, _ in turns)
    for batch in (turns[at : at + BATCH] for at in range(0, len(turns), BATCH)):
        ids = pad_sequence([torch.tensor(prompt + reply) for prompt, reply, _ in batch], batch_first=True)
        logp = policy(ids).logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
        loss = -sum(a * logp[i, len(p) - 1 : len(p) + len(r) - 1].sum() for i, (p, r, a) in enumerate(batch))
        (loss / sampled).backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step(), optimizer.zero_grad()


for step in range(STEPS):
    rollouts = asyncio.run(play(step))
    update(rollouts)
    mean = sum(rollout["total"] for rollout in rollouts) / len(rollouts)
    calibrated = sum(rollout["outcome"] == "calibrated" for rollout in rollouts) / len(rollouts)
    print(f"step {step + 1:2}  reward {mean:.3f}  calibrated {calibrated:.1%}", flush=True)
