"""Compares the engine in this repository with transformers' `generate`: the same weights, batch and threads.

    pip install -r benches/requirements.txt
    cargo build --release -p aske-model --example decode
    python benches/decode.py                          # random networks of three shapes
    python benches/decode.py --folder models/teacher  # a checkpoint
    python benches/decode.py --threads 1 --batch 64 --tokens 128 --temperature 0

Prints the largest difference between the logits of the two over one text, the tokens written per second by each
(without an end token, so that every row has the same length), and the ratio. Rounds of the two alternate and the
best of each is taken, so that other work on the machine hurts both alike.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

ROOT = Path(__file__).resolve().parent.parent
SHAPES = {
    "hidden 24, 1 layer": dict(hidden_size=24, num_hidden_layers=1, intermediate_size=64, num_attention_heads=3,
                               num_key_value_heads=1, head_dim=8),
    "hidden 64, 2 layers": dict(hidden_size=64, num_hidden_layers=2, intermediate_size=192, num_attention_heads=4,
                                num_key_value_heads=2, head_dim=16),
    "hidden 192, 4 layers": dict(hidden_size=192, num_hidden_layers=4, intermediate_size=512, num_attention_heads=6,
                                 num_key_value_heads=2, head_dim=32),
}
VOCABULARY = 256


def random_checkpoint(folder: Path, shape: dict) -> None:
    """Writes a random network with a tokenizer of meaningless words."""
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=VOCABULARY, max_position_embeddings=1024, tie_word_embeddings=True,
                         initializer_range=0.1, bos_token_id=1, eos_token_id=2, pad_token_id=0, **shape)
    LlamaForCausalLM(config).save_pretrained(folder)
    words = ["<pad>", "<s>", "</s>"] + [f"w{number}" for number in range(3, VOCABULARY)]
    special = [dict(id=number, content=words[number], single_word=False, lstrip=False, rstrip=False,
                    normalized=False, special=True) for number in range(3)]
    tokenizer = dict(version="1.0", added_tokens=special, normalizer=None, post_processor=None, decoder=None,
                     truncation=None, padding=None, pre_tokenizer=dict(type="WhitespaceSplit"),
                     model=dict(type="WordLevel", unk_token="<pad>",
                                vocab={word: number for number, word in enumerate(words)}))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    template = "{% for m in messages %}{{ m.content }}</s>{% endfor %}"
    (folder / "tokenizer_config.json").write_text(json.dumps(dict(chat_template=template, eos_token="</s>")))


def engine(folder: Path, *options: object):
    """Runs the example `decode` and reads what it prints."""
    target = subprocess.run(["cargo", "metadata", "--format-version=1", "--no-deps"], cwd=ROOT, check=True,
                            capture_output=True).stdout
    program = Path(json.loads(target)["target_directory"]) / "release" / "examples" / "decode"
    command = [str(program), str(folder), "--json", *map(str, options)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def difference(model, folder: Path) -> float:
    """The largest difference between the logits of the two over one text."""
    tokens = [3 + (place * 37) % (model.config.vocab_size - 3) for place in range(200)]
    with torch.no_grad():
        theirs = model(torch.tensor([tokens])).logits[0]
    ours = torch.tensor(engine(folder, "--logits", ",".join(map(str, tokens)))).view(len(tokens), -1)
    return (theirs - ours).abs().max().item()


def transformers_speed(model, batch: int, prompt: int, tokens: int, temperature: float) -> float:
    """Tokens per second of `generate`."""
    size = model.config.vocab_size - 3
    rows = torch.tensor([[3 + (row * 31 + place * 7) % size for place in range(prompt)] for row in range(batch)])
    sampling = dict(do_sample=True, temperature=temperature, top_k=0) if temperature > 0 else dict(do_sample=False)
    options = dict(eos_token_id=None, pad_token_id=0, attention_mask=torch.ones_like(rows), **sampling)
    with torch.no_grad():
        model.generate(rows, max_new_tokens=8, **options)
        begun = time.perf_counter()
        out = model.generate(rows, max_new_tokens=tokens, **options)
    assert out.shape == (batch, prompt + tokens), out.shape
    return batch * tokens / (time.perf_counter() - begun)


def compare(name: str, folder: Path, args: argparse.Namespace) -> None:
    """Prints one line for each number of threads."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    parameters = sum(weight.numel() for weight in model.parameters())
    print(f"{name}: {parameters:,} parameters, largest difference of logits {difference(model, folder):.1e}")
    for threads in args.threads:
        torch.set_num_threads(threads)
        options = ["--batch", args.batch, "--tokens", args.tokens, "--prompt", args.prompt]
        ours, theirs = [], []
        for _ in range(args.rounds):
            theirs.append(transformers_speed(model, args.batch, args.prompt, args.tokens, args.temperature))
            found = engine(folder, "--threads", threads, "--temperature", args.temperature, *options)
            ours.append(found["tokens_per_s"])
        print(f"  {threads} thread(s), batch {args.batch}: transformers {max(theirs):,.0f} tokens/s, "
              f"engine {max(ours):,.0f} tokens/s, ratio {max(ours) / max(theirs):.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="a checkpoint; random networks where absent")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=32, help="tokens of each prompt")
    parser.add_argument("--tokens", type=int, default=128, help="tokens to write for each prompt")
    parser.add_argument("--temperature", type=float, default=1.0, help="0 takes the likeliest token")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if args.folder:
        compare(args.folder.name, args.folder, args)
        return
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            random_checkpoint(Path(folder), shape)
            compare(name, Path(folder), args)


if __name__ == "__main__":
    main()
