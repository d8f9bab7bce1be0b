"""Compares the learner with transformers and plain PyTorch on the same rollouts.

    reward_length FOLDER cuda URL WEIGHTS … rollouts.jsonl      samples with vLLM, learns, and writes the rollouts
    python benches/reinforce.py FOLDER rollouts.jsonl STEP [--train]

Prints how far log-probabilities of transformers in bfloat16 are from those that vLLM returned for the tokens of a step, as
mean |log ratio|. With --train, also the speed of CISPO steps over the same sequences in plain PyTorch: single-precision
weights, autocast to bfloat16, recomputed layers, fused AdamW, padded micro-batches.
"""

import json
import sys
import time

import torch
import transformers

MICRO_TOKENS = 8192
LOW, HIGH = 0.75, 3.0


def batches(rollouts):
    """Padded batches of similar length: tokens, log-probabilities at sampling, and which tokens were sampled."""
    rollouts = sorted(rollouts, key=lambda rollout: len(rollout["tokens"]))
    group = []
    for rollout in rollouts + [None]:
        if rollout is None or (len(group) + 1) * len(rollout["tokens"]) > MICRO_TOKENS and group:
            longest = max(len(one["tokens"]) for one in group)
            tokens = torch.zeros(len(group), longest, dtype=torch.long)
            old = torch.full((len(group), longest), float("nan"))
            for row, one in enumerate(group):
                tokens[row, : len(one["tokens"])] = torch.tensor(one["tokens"])
                old[row, : len(one["tokens"])] = torch.tensor([float("nan") if x is None else x for x in one["logprobs"]])
            yield tokens.cuda(), old.cuda()
            group = []
        group.append(rollout)


def logprobs(model, tokens):
    """Log-probability of every token but the first of each row."""
    logits = model(input_ids=tokens, use_cache=False).logits[:, :-1].float()
    return torch.log_softmax(logits, -1).gather(2, tokens[:, 1:, None])[..., 0]


def main():
    folder, path, step = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rollouts = [json.loads(line) for line in open(path)]
    rollouts = [rollout for rollout in rollouts if rollout["step"] == step]
    load = lambda kind: transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=kind, attn_implementation="sdpa").cuda()
    model, total, count = load(torch.bfloat16).eval(), 0.0, 0
    with torch.no_grad():
        for tokens, old in batches(rollouts):
            ratio = (logprobs(model, tokens) - old[:, 1:]).abs()
            sampled = ~ratio.isnan()
            total, count = total + ratio[sampled].sum().item(), count + sampled.sum().item()
    print(f"step {step}: transformers in bfloat16, mean |log ratio| {total / count:.4e} over {count} tokens")
    if "--train" not in sys.argv:
        return
    del model
    torch.cuda.empty_cache()
    model = load(torch.float32).train()
    model.gradient_checkpointing_enable()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    read = sum(len(rollout["tokens"]) for rollout in rollouts)
    for turn in range(4):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for tokens, old in batches(rollouts):
            with torch.autocast("cuda", dtype=torch.bfloat16):
                now = logprobs(model, tokens)
            sampled = ~old[:, 1:].isnan()
            ratio = (now - old[:, 1:])[sampled].exp().detach().clamp(1 - LOW, 1 + HIGH)
            (-(ratio * now[sampled]).sum() / count * 0.1).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        print(f"plain PyTorch, step {turn}: {read / (time.perf_counter() - begun):.0f} tokens/s")


if __name__ == "__main__":
    main()
