"""Writes the fixture of this folder: losses of reinforcement and their gradients, by PyTorch's own differentiation.

The network is that of ../transformers. Needs torch, transformers and safetensors; made with transformers 5.22.2 and
torch 2.11.0, on the processor.
"""

import json
import pathlib

import safetensors.torch
import torch
import transformers

HERE = pathlib.Path(__file__).parent
told = json.loads((HERE.parent / "transformers" / "expected.json").read_text())
shape = {key: value for key, value in told["config"].items() if key != "torch_dtype"}
model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**shape)).float().eval()
# transformers gives the filling token no gradient of its own; to us it is a token like any other.
model.model.embed_tokens.padding_idx = None
weights = safetensors.torch.load_file(HERE.parent / "transformers" / "model.safetensors")
model.load_state_dict({name: weight.float() for name, weight in weights.items()})

torch.manual_seed(6)
tokens = torch.randint(0, 13, (4, 20))
# What the policy wrote: two stretches in each row, as in a conversation of two turns; nothing after the second.
own = torch.zeros(4, 20, dtype=torch.bool)
for row, (a, b, c, d) in enumerate([(3, 7, 11, 16), (1, 5, 9, 19), (6, 8, 12, 13), (2, 10, 15, 20)]):
    own[row, a:b] = own[row, c:d] = True
advantages = torch.tensor([0.7, -0.4, 0.0, -0.3])


def logps():
    likely = torch.log_softmax(model(tokens).logits.float(), dim=-1)
    return torch.nn.functional.pad(likely[:, :-1].gather(2, tokens[:, 1:, None])[..., 0], (1, 0))


# Log-probabilities at sampling: near the present ones, and some far enough to be clipped on either side.
before = (logps() + 0.8 * torch.randn(4, 20)).detach()
count = own.sum()


def cispo(low=0.75, high=3.0):
    logp = logps()
    weight = torch.exp(logp - before).clamp(1 - low, 1 + high).detach()
    return -(weight * advantages[:, None] * logp)[own].sum() / count


def surrogate(low=0.2, high=0.28):
    ratio = torch.exp(logps() - before)
    advantage = advantages[:, None]
    each = torch.minimum(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage)
    return -each[own].sum() / count


result = {
    "tokens": tokens.tolist(),
    "before": [[b if o else None for b, o in zip(bs, os)] for bs, os in zip(before.tolist(), own.tolist())],
    "advantages": advantages.tolist(),
}
for name, loss in [("cispo", cispo), ("surrogate", surrogate)]:
    model.zero_grad()
    value = loss()
    value.backward()
    result[name] = value.item()
    slopes = {name: parameter.grad for name, parameter in model.named_parameters()}
    safetensors.torch.save_file(slopes, HERE / f"{name}.safetensors", metadata={"format": "pt"})
ratio = torch.exp(logps() - before)[own]
result["ratio"] = ratio.mean().item()
result["clipped"] = ((ratio < 0.25) | (ratio > 4.0)).float().mean().item()
(HERE / "expected.json").write_text(json.dumps(result) + "\n")
