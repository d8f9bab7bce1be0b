"""Writes the fixtures of this folder: small random checkpoints, and what PyTorch makes of them.

Of each: the log-probability that transformers gives to every token of two rows, and of a CISPO loss over them the
gradient's norm and two random projections for every weight, and for every adapter of rank 3.

Needs torch, transformers and safetensors; made with transformers 5.22.2 and torch 2.11.0, on the processor.
"""

import copy
import json
import math
import pathlib

import safetensors.torch
import torch
import transformers

HERE = pathlib.Path(__file__).parent
# Heads that are not as wide as the stream, shared keys, odd bases and constants: nothing by accident. The network
# knows two tokens more than the tokenizer.
SHAPE = dict(vocab_size=52, hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, head_dim=12, max_position_embeddings=256, rms_norm_eps=1e-3, bos_token_id=0,
             eos_token_id=1, pad_token_id=2, attention_dropout=0.0)
LLAMA3 = dict(rope_type="llama3", rope_theta=500.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64)
PLAIN = dict(rope_type="default", rope_theta=700.0)
QWEN2 = {name: value for name, value in SHAPE.items() if name != "head_dim"}
MODELS = {
    "llama": (transformers.LlamaConfig, dict(SHAPE, rope_parameters=LLAMA3, tie_word_embeddings=True)),
    "qwen2": (transformers.Qwen2Config, dict(QWEN2, rope_parameters=PLAIN, tie_word_embeddings=False)),
    "qwen3": (transformers.Qwen3Config, dict(SHAPE, rope_parameters=PLAIN, tie_word_embeddings=True)),
}
WORDS = ["<s>", "<end>", "<pad>", "<unk>", "user", "assistant", "system"] + [f"w{at}" for at in range(7, 50)]
TEMPLATE = ("{% for message in messages %}<s> {{ message.role }} {{ message.content }} <end> {% endfor %}"
            "{% if add_generation_prompt %}<s> assistant {% endif %}")
LOW, HIGH = 0.75, 3.0
RANK, ALPHA = 3, 5.0
PROJECTED = ("q", "k", "v", "o"), ("gate", "up", "down")


def tokenizer(folder):
    special = [dict(id=at, content=WORDS[at], single_word=False, lstrip=False, rstrip=False, normalized=False,
                    special=True) for at in range(4)]
    file = dict(version="1.0", added_tokens=special, normalizer=None, post_processor=None, decoder=None,
                truncation=None, padding=None, pre_tokenizer=dict(type="WhitespaceSplit"),
                model=dict(type="WordLevel", unk_token="<unk>", vocab={word: at for at, word in enumerate(WORDS)}))
    (folder / "tokenizer.json").write_text(json.dumps(file) + "\n")
    settings = dict(bos_token="<s>", eos_token="<end>", pad_token="<pad>", unk_token="<unk>",
                    tokenizer_class="PreTrainedTokenizerFast")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings) + "\n")
    (folder / "chat_template.jinja").write_text(TEMPLATE)


def chosen(logits, tokens):
    likely = torch.log_softmax(logits.float(), dim=-1)
    return likely[:, :-1].gather(2, tokens[:, 1:, None])[..., 0]


def cispo(logp, before, weights, own):
    ratio = (logp - before).exp().clamp(1 - LOW, 1 + HIGH).detach()
    return -(ratio * weights * logp)[own].sum()


def direction(name, shape, which):
    """A row of signs that any language can make: of a linear generator from the name's bytes."""
    state = (sum(byte * (at + 1) for at, byte in enumerate(name.encode())) * 2 + 7 * which + 1) % 2147483647
    signs = []
    for _ in range(math.prod(shape)):
        state = state * 48271 % 2147483647
        signs.append(1.0 if state % 64 < 32 else -1.0)
    return torch.tensor(signs).view(shape)


def told(name, gradient):
    gradient = gradient.double()
    return [gradient.norm().item()] + [(gradient * direction(name, gradient.shape, which)).sum().item()
                                       for which in (0, 1)]


def make(name, config, shape, seed):
    torch.manual_seed(seed)
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    config = config(**shape)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).float().eval()
    for parameter in model.parameters():
        spread = 0.25 * torch.randn_like(parameter) + (1.0 if parameter.dim() == 1 else 0.0)
        parameter.data.copy_(spread.bfloat16().float())
    # One of them in several files.
    copy.deepcopy(model).bfloat16().save_pretrained(folder, max_shard_size="20KB" if name == "qwen2" else "1GB")
    tokenizer(folder)
    # The second row is filled at the end. No filling elsewhere: transformers gives that token no gradient.
    tokens = torch.randint(3, 52, (2, 20))
    with torch.no_grad():
        logp = chosen(model(tokens).logits, tokens)
    own = torch.rand(2, 19) < 0.6
    own[1, 14:] = False
    before = logp + 0.9 * torch.randn(2, 19)
    weights = torch.randn(2, 19) / 20
    weights[0, ::5] = 0.0
    expected = dict(tokens=tokens.tolist(), logp=logp.tolist(), own=own.int().tolist(), before=before.tolist(),
                    weights=weights.tolist(), low=LOW, high=HIGH)
    # The head is un-tied: its gradient is its own.
    weights_by_name = {key: value.detach().clone().requires_grad_() for key, value in model.named_parameters()}
    if "lm_head.weight" not in weights_by_name:
        weights_by_name["lm_head.weight"] = model.lm_head.weight.detach().clone().requires_grad_()
    plain = transformers.AutoModelForCausalLM.from_config(type(config)(**dict(shape, tie_word_embeddings=False)))
    plain.config._attn_implementation = "eager"
    plain.eval()
    loss = cispo(chosen(torch.func.functional_call(plain, weights_by_name, (tokens,)).logits, tokens), before,
                 weights, own)
    gradients = torch.autograd.grad(loss, list(weights_by_name.values()))
    expected["loss"] = loss.item()
    expected["gradients"] = {key: told(key, value) for key, value in zip(weights_by_name, gradients)}
    lora(expected, folder, plain, weights_by_name, tokens, before, weights, own)
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


def lora(expected, folder, model, base, tokens, before, weights, own):
    adapters, full = {}, {key: value.detach() for key, value in base.items()}
    for layer in range(2):
        for part, names in zip(("self_attn", "mlp"), PROJECTED):
            for name in names:
                key = f"model.layers.{layer}.{part}.{name}_proj"
                rows, columns = full[f"{key}.weight"].shape
                first = (torch.randn(RANK, columns) / 4).requires_grad_()
                second = (torch.randn(rows, RANK) / 4).requires_grad_()
                adapters[f"base_model.model.{key}.lora_A.weight"] = first
                adapters[f"base_model.model.{key}.lora_B.weight"] = second
                full[f"{key}.weight"] = full[f"{key}.weight"] + ALPHA / RANK * second @ first
    logp = chosen(torch.func.functional_call(model, full, (tokens,)).logits, tokens)
    gradients = torch.autograd.grad(cispo(logp, before, weights, own), list(adapters.values()))
    expected["adapted_logp"] = logp.tolist()
    expected["adapted"] = {key: told(key, value) for key, value in zip(adapters, gradients)}
    plain = {key: value.detach() for key, value in adapters.items()}
    safetensors.torch.save_file(plain, folder / "adapter_model.safetensors", metadata={"format": "pt"})


for seed, (name, (config, shape)) in enumerate(MODELS.items()):
    make(name, config, shape, seed)
