"""Writes the fixture of this folder: a small random Llama, and what transformers makes of two rows of tokens.

Needs torch, transformers and safetensors; made with transformers 5.22.2 and torch 2.11.0, on the processor.
"""

import json
import pathlib

import safetensors.torch
import torch
import transformers

HERE = pathlib.Path(__file__).parent
# Heads that are not as wide as the stream, shared keys, an odd base and an untied head: nothing by accident.
NETWORK = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 13, "hidden_size": 16,
    "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 6, "max_position_embeddings": 32, "rms_norm_eps": 1e-3, "rope_theta": 500.0,
    "tie_word_embeddings": False, "hidden_act": "silu", "bos_token_id": 0, "eos_token_id": 1,
    "pad_token_id": 2, "torch_dtype": "float16",
}

torch.manual_seed(20)
shape = {key: value for key, value in NETWORK.items() if key != "torch_dtype"}
model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**shape)).float().eval()
assert model.config.rope_parameters["rope_theta"] == 500.0
with torch.no_grad():
    for parameter in model.parameters():
        # Wide enough that attention and the gates are far from even; rounded to what the file can hold.
        spread = 0.3 * torch.randn_like(parameter) + (1.0 if parameter.dim() == 1 else 0.0)
        parameter.copy_(spread.half().float())
tokens = torch.randint(0, 13, (2, 16))
with torch.no_grad():
    likely = torch.log_softmax(model(tokens).logits.float(), dim=-1)
surprise = -likely[:, :-1].gather(2, tokens[:, 1:, None])[..., 0]

half = {name: parameter.detach().half() for name, parameter in model.named_parameters()}
safetensors.torch.save_file(half, HERE / "model.safetensors", metadata={"format": "pt"})
told = {"config": NETWORK, "tokens": tokens.tolist(), "surprise": surprise.tolist()}
(HERE / "expected.json").write_text(json.dumps(told) + "\n")
