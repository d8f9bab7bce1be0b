"""Compares a converted folder with transformers' own reader of GGUF files: `check.py FILE.gguf FOLDER`.

Needs torch, transformers, accelerate and gguf. Prints the largest difference of logits, a greedy reply of each, and whether the
tokens of some texts are the same.
"""

import pathlib
import sys

import torch
import transformers

TEXTS = [
    "Hello, world!", "  two  spaces", "12345 and 3.14159", "don't can't I'll we've", "newlines\n\n\nand\ttabs\n",
    "naïve café – “quotes” …", "日本語のテキスト", "Привет, мир", "emoji 🙂🚀👩‍👩‍👧", "x² + y² = z²", "\\boxed{42}",
    "def f(x):\n    return x ** 2\n", "<|im_start|>user\nHi<|im_end|>\n", "<tag>text</tag>", "CamelCaseWordsAndMORE",
    "a_b-c/d\\e", "100,000.00 $ 50%", "e\u0301 decomposed", "", " ", "\u00a0no-break", "A" * 40, "١٢٣ ४५६",
]

file, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
ours = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
theirs = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name,
                                                           dtype=torch.float32).eval()
words = transformers.AutoTokenizer.from_pretrained(folder)
other = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
chat = [dict(role="user", content="What is the capital of France?")]
prompt = words.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
with torch.no_grad():
    apart = (ours(**prompt).logits - theirs(**prompt).logits).abs().max().item()
print(f"logits apart by {apart:.2e}")
for model in (ours, theirs):
    reply = model.generate(**prompt, do_sample=False, max_new_tokens=24)
    print(repr(words.decode(reply[0, prompt["input_ids"].shape[1]:], skip_special_tokens=True)))
same = [words(text)["input_ids"] == other(text)["input_ids"] for text in TEXTS]
back = [words.decode(words(text)["input_ids"], clean_up_tokenization_spaces=False) == text for text in TEXTS]
print(f"tokens of {sum(same)} of {len(TEXTS)} texts are the same; {sum(back)} come back as they were")
for text, alike in zip(TEXTS, same):
    if not alike:
        print(repr(text), words.tokenize(text), other.tokenize(text))
