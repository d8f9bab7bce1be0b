"""The work of `crates/train/examples/reward_length.rs` in plain PyTorch and transformers, to compare speeds.

    cargo run --release -p aske-train --features torch --example reward_length -- FOLDER cuda 10 8 16 128
    python benches/reinforce.py FOLDER cuda 10 8 16 128

The same arguments: folder, device, steps, groups, group size, most tokens, target, rate, micro tokens. Samples with
`generate` from a bfloat16 copy, takes CISPO steps with autocast, single-precision weights and AdamW, recomputes layers
on the way back, and prints the same figures. Needs torch, transformers and safetensors, and no network.
"""

import sys
import time

import torch
import transformers

PROMPTS = [
    "What is the capital of France?",
    "Write a sentence about the sea.",
    "Name three colours and say why you like them.",
    "Explain what a prime number is.",
    "Tell me a short story about a cat.",
    "How do you boil an egg?",
    "What is 17 times 23?",
    "Give me some advice on learning a language.",
]
PEAK = 989.5e12
LOW, HIGH = 0.75, 3.0


class Recorder(transformers.LogitsProcessor):
    """Records the log-probability of every token that is sampled, without keeping all logits."""

    def __init__(self):
        self.last, self.logps = None, []

    def settle(self, tokens):
        if self.last is not None:
            self.logps.append(self.last.gather(1, tokens[:, None])[:, 0])

    def __call__(self, tokens, scores):
        self.settle(tokens[:, -1])
        self.last = torch.log_softmax(scores.float(), dim=-1)
        return scores


def main():
    words = sys.argv[1:]
    folder, device = words[0], words[1] if len(words) > 1 else "cpu"
    numbers = [float(word) for word in words[2:]]
    number = lambda at, usual: numbers[at] if len(numbers) > at else usual
    steps, groups, many, most = (int(number(at, usual)) for at, usual in enumerate((10, 8, 16, 128)))
    target, rate, micro = number(4, most / 4), number(5, 1e-5), int(number(6, 16384))
    torch.manual_seed(0)
    gpu = device.startswith("cuda")
    kind = torch.bfloat16 if gpu else torch.float32
    words = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
    load = lambda kind: transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=kind,
                                                                          attn_implementation="sdpa").to(device)
    model, sampler = load(torch.float32), load(kind).eval()
    model.train()
    model.gradient_checkpointing_enable()
    # No mask is given, so that attention is causal in one fused kernel; texts are filled at the end.
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.0, fused=gpu)
    settings = sampler.generation_config
    ends = settings.eos_token_id if isinstance(settings.eos_token_id, list) else [settings.eos_token_id]
    ends = torch.tensor([end for end in ends if end is not None], device=device)
    fill = words.pad_token_id if words.pad_token_id is not None else int(ends[0])
    config, size = model.config, sum(parameter.numel() for parameter in model.parameters())
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    print(f"{size} parameters on {device}")

    def wait():
        if gpu:
            torch.cuda.synchronize()

    for step in range(steps):
        chats = [[dict(role="user", content=PROMPTS[group % len(PROMPTS)])] for group in range(groups)]
        wait()
        begun = time.perf_counter()
        with torch.no_grad():
            for ours, theirs in zip(sampler.parameters(), model.parameters()):
                ours.copy_(theirs)
            prompts = words.apply_chat_template(chats, add_generation_prompt=True, return_tensors="pt",
                                                return_dict=True, padding=True).to(device)
            recorder = Recorder()
            texts = sampler.generate(**prompts, do_sample=True, temperature=1.0, top_k=0, top_p=1.0,
                                     max_new_tokens=most, num_return_sequences=many, pad_token_id=fill,
                                     logits_processor=transformers.LogitsProcessorList([recorder]))
            recorder.settle(texts[:, -1])
        wait()
        sampling = time.perf_counter() - begun
        wide = prompts["input_ids"].shape[1]
        before = torch.stack(recorder.logps, dim=1)
        written = texts[:, wide:]
        ended = torch.isin(written, ends).long().cumsum(1)
        own = (ended - torch.isin(written, ends).long()) == 0
        lengths = own.sum(1).double()
        rewards = -(lengths - target).abs() / most
        advantages = (rewards.view(groups, many) - rewards.view(groups, many).mean(1, keepdim=True)).view(-1)
        shares = (advantages / lengths.sum()).float()

        wait()
        begun = time.perf_counter()
        rows = []
        starts = prompts["attention_mask"].sum(1).repeat_interleave(many).tolist()
        for row, (start, length) in enumerate(zip(starts, lengths.long().tolist())):
            rows.append((start + length, row, start, length))
        rows.sort(reverse=True)
        read = sum(row[0] for row in rows)
        batches = []
        for row in rows:
            if not batches or (len(batches[-1]) + 1) * batches[-1][0][0] > micro:
                batches.append([])
            batches[-1].append(row)
        drift = ratios = entropy = furthest = 0.0
        for batch in batches:
            long = batch[0][0]
            tokens = torch.full((len(batch), long), fill, device=device)
            old = torch.zeros(len(batch), long, device=device)
            mask = torch.zeros(len(batch), long, dtype=torch.bool, device=device)
            weight = torch.zeros(len(batch), 1, device=device)
            for at, (whole, row, start, length) in enumerate(batch):
                tokens[at, :whole] = texts[row, wide - start:wide + length]
                old[at, start:whole] = before[row, :length]
                mask[at, start:whole] = True
                weight[at] = shares[row]
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=gpu):
                logits = model(input_ids=tokens, use_cache=False).logits
            likely = torch.log_softmax(logits[:, :-1].float(), dim=-1)
            logp = likely.gather(2, tokens[:, 1:, None])[..., 0]
            chosen, past = mask[:, 1:], old[:, 1:]
            ratio = (logp - past).exp()
            loss = -(ratio.clamp(1 - LOW, 1 + HIGH).detach() * weight * logp)[chosen].sum()
            loss.backward()
            with torch.no_grad():
                ratios += ratio[chosen].sum().item()
                drift += (logp - past)[chosen].abs().sum().item()
                furthest = max(furthest, (ratio[chosen] - 1).abs().max().item())
                entropy -= (likely.exp() * likely).sum(-1)[chosen].sum().item()
            del logits, likely, logp, ratio, loss
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        wait()
        training = time.perf_counter() - begun
        count = lengths.sum().item()
        attention = config.num_hidden_layers * config.num_attention_heads * head * read / len(rows)
        multiplied = size if config.tie_word_embeddings else size - config.vocab_size * config.hidden_size
        share = (6 * multiplied + 6 * attention) * read / training / PEAK
        if step == 0:
            print(f"furthest importance ratio from one: {furthest:.2e}")
        print(f"step {step}: reward {rewards.mean():.4f}, length {lengths.mean():.1f}, ratio {ratios / count:.5f} "
              f"(mean |log| {drift / count:.1e}), gradient {norm:.3e}, entropy {entropy / count:.3f}, "
              f"sampled {count / sampling:.0f} tokens/s, trained {read / training:.0f} tokens/s, "
              f"{100 * share:.2f}% of peak", flush=True)


main()
