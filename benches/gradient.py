"""The gradient of our loss against PyTorch's, on a real checkpoint.

    python benches/gradient.py FOLDER --program target/release/examples/gradient --device cuda

FOLDER holds a Llama, Qwen2 or Qwen3 checkpoint in safetensors (`aske convert` makes one of a GGUF file). Random rows, a
CISPO loss over some of their tokens; for every weight the distance of both gradients, in parts of PyTorch's norm.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import safetensors.torch
import torch
import transformers

LOW, HIGH = 0.75, 3.0


def chosen(logits, tokens):
    return torch.log_softmax(logits.float(), dim=-1)[:, :-1].gather(2, tokens[:, 1:, None])[..., 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", default="target/release/examples/gradient")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--half", action="store_true", help="ours in bfloat16; PyTorch's stays in float32")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False

    model = transformers.AutoModelForCausalLM.from_pretrained(options.folder, dtype=torch.float32)
    # The head is un-tied: its gradient is its own.
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    model = model.to(options.device).eval()
    tokens = torch.randint(3, model.config.vocab_size, (options.rows, options.length), device=options.device)
    logp = chosen(model(tokens).logits, tokens)
    own = torch.rand(logp.shape, device=options.device) < 0.6
    before = (logp + 0.9 * torch.randn_like(logp)).detach()
    weights = torch.randn_like(logp) / own.sum()
    ratio = (logp - before).exp().clamp(1 - LOW, 1 + HIGH).detach()
    loss = -(ratio * weights * logp)[own].sum()
    loss.backward()
    print(f"PyTorch: loss {loss.item():.6f}, {sum(p.numel() for p in model.parameters()):,} parameters")

    with tempfile.TemporaryDirectory() as folder:
        batch, out = pathlib.Path(folder, "batch.json"), pathlib.Path(folder, "gradient.safetensors")
        masked = [[None] + [x if mine else None for x, mine in zip(row, flags)]
                  for row, flags in zip(before.tolist(), own.tolist())]
        counted = [[0.0] + row for row in (weights * own).tolist()]
        batch.write_text(json.dumps(dict(tokens=tokens.tolist(), before=masked, weights=counted)))
        half = ["half"] if options.half else []
        subprocess.run([options.program, options.folder, options.device, batch, out, *half], check=True)
        found = safetensors.torch.load_file(out)
    named = dict(model.named_parameters())
    assert named.keys() == found.keys(), named.keys() ^ found.keys()
    apart = {}
    ours_squared = theirs_squared = distance_squared = 0.0
    for name, parameter in named.items():
        theirs, ours = parameter.grad.cpu().double(), found[name].double()
        apart[name] = ((ours - theirs).norm() / theirs.norm()).item()
        ours_squared, theirs_squared = ours_squared + ours.square().sum(), theirs_squared + theirs.square().sum()
        distance_squared += (ours - theirs).square().sum()
    worst = max(apart, key=apart.get)
    print(f"all {len(apart)} gradients together: norm {ours_squared.sqrt():.6f}, PyTorch's {theirs_squared.sqrt():.6f}, "
          f"apart by {(distance_squared / theirs_squared).sqrt():.2e} of it")
    print(f"furthest: {worst}, {apart[worst]:.2e} of its norm")


if __name__ == "__main__":
    main()
