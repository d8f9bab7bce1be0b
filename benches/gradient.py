"""The gradient of our loss against PyTorch's, on a real checkpoint.

    python benches/gradient.py FOLDER --program target/release/examples/gradient --device cuda

FOLDER holds a Llama, Qwen2 or Qwen3 checkpoint in safetensors (`aske convert` makes one of a GGUF file). Random rows, a
CISPO loss over some of their tokens; for every weight the distance of both gradients, in parts of PyTorch's norm. With
`--half` both work in bfloat16 and each is compared with PyTorch's single precision.
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
    parser.add_argument("--half", action="store_true", help="ours in bfloat16, beside PyTorch's autocast")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False

    model = transformers.AutoModelForCausalLM.from_pretrained(options.folder, dtype=torch.float32)
    # The head is un-tied: its gradient is its own.
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    model = model.to(options.device).eval()
    tokens = torch.randint(3, model.config.vocab_size, (options.rows, options.length), device=options.device)
    with torch.no_grad():
        logp = chosen(model(tokens).logits, tokens)
    own = torch.rand(logp.shape, device=options.device) < 0.6
    before = (logp + 0.9 * torch.randn_like(logp)).detach()
    weights = torch.randn_like(logp) / own.sum()

    def gradient(half):
        model.zero_grad()
        with torch.autocast(options.device, torch.bfloat16, enabled=half):
            logp = chosen(model(tokens).logits, tokens)
        ratio = (logp - before).exp().clamp(1 - LOW, 1 + HIGH).detach()
        loss = -(ratio * weights * logp)[own].sum()
        loss.backward()
        print(f"PyTorch{' in bfloat16' if half else ''}: loss {loss.item():.6f}")
        return {name: parameter.grad.cpu().double() for name, parameter in model.named_parameters()}

    theirs = gradient(half=False)

    with tempfile.TemporaryDirectory() as folder:
        batch, out = pathlib.Path(folder, "batch.json"), pathlib.Path(folder, "gradient.safetensors")
        masked = [[None] + [x if mine else None for x, mine in zip(row, flags)]
                  for row, flags in zip(before.tolist(), own.tolist())]
        counted = [[0.0] + row for row in (weights * own).tolist()]
        batch.write_text(json.dumps(dict(tokens=tokens.tolist(), before=masked, weights=counted)))
        half = ["half"] if options.half else []
        subprocess.run([options.program, options.folder, options.device, batch, out, *half], check=True)
        ours = {name: slope.double() for name, slope in safetensors.torch.load_file(out).items()}
    compare("ours", ours, theirs)
    if options.half:
        compare("PyTorch's in bfloat16", gradient(half=True), theirs)


def compare(what, found, wanted):
    assert wanted.keys() == found.keys(), wanted.keys() ^ found.keys()
    apart = {name: ((found[name] - slope).norm() / slope.norm()).item() for name, slope in wanted.items()}
    worst = max(apart, key=apart.get)
    norm, length = whole(found.values()), whole(wanted.values())
    distance = whole(found[name] - slope for name, slope in wanted.items())
    print(f"{what}: all {len(apart)} gradients together: norm {norm:.6f}, PyTorch's {length:.6f}, "
          f"apart by {distance / length:.2e} of it; furthest: {worst}, {apart[worst]:.2e} of its norm")


def whole(tensors):
    return sum(tensor.square().sum().item() for tensor in tensors) ** 0.5


if __name__ == "__main__":
    main()
