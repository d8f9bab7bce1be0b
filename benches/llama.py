"""Compares GGUF files in this process with llama.cpp's own server: the same file, threads and requests, in one run.

    pip install aiohttp
    scripts/with-llama cargo build --release -p aske --features llama
    python benches/llama.py FILE --peer path/to/llama-server
    python benches/llama.py FILE --peer path/to/llama-server --sequences 8 --rounds 5 --threads 4

Both serve the file over HTTP (`aske serve models`, `llama-server`) and stay up; rounds of the two alternate, so that
other work on the machine hurts both alike, and medians are taken. First the speed of reading prompts that nobody has
read before and of writing replies, for several requests at once. Then the workload of a benchmark: sixteen sessions
whose askers share a system prompt and whose conversations grow; what counts there is how many tokens had to be read.
"""

import argparse
import asyncio
import json
import random
import re
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import aiohttp

ROOT = Path(__file__).resolve().parent.parent
WORDS = "apple river stone cloud seven nine garden window paper light green number answer question small round".split()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server process for a file, until it is closed."""

    def __init__(self, name: str, command: list[str], port: int, model: str):
        self.name, self.model, self.url = name, model, f"http://127.0.0.1:{port}"
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    async def ready(self, http: aiohttp.ClientSession) -> None:
        for _ in range(600):
            try:
                async with http.get(f"{self.url}/v1/models") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            if self.process.poll() is not None:
                break
            await asyncio.sleep(0.1)
        self.log.seek(0)
        raise SystemExit(f"{self.name} does not answer:\n{self.log.read().decode(errors='replace')[-2000:]}")

    async def ask(self, http: aiohttp.ClientSession, messages: list[dict], tokens: int) -> tuple[str, dict]:
        body = {"model": self.model, "messages": messages, "max_tokens": tokens, "temperature": 0, "ignore_eos": True}
        async with http.post(f"{self.url}/v1/chat/completions", json=body) as answer:
            told = await answer.json()
        if "choices" not in told:
            raise SystemExit(f"{self.name}: {json.dumps(told)[:500]}")
        return told["choices"][0]["message"]["content"], told["usage"]


def ours(program: str, file: Path, threads: int, sequences: int, context: int, folder: Path) -> Server:
    port = free_port()
    config = folder / "bench.toml"
    config.write_text(f"""
[models.file]
provider = "llama"
path = {json.dumps(str(file.resolve()))}
threads = {threads}
batch = {sequences}
context = {context}
""")
    command = [program, "serve", "models", "file", "--config", str(config), "--port", str(port)]
    return Server("aske", command, port, "file")


def theirs(program: str, file: Path, threads: int, sequences: int, context: int) -> Server:
    port = free_port()
    command = [program, "--model", str(file), "--port", str(port), "--threads", str(threads), "--parallel",
               str(sequences), "--ctx-size", str(context), "--kv-unified", "--no-webui"]
    return Server("llama-server", command, port, "any")


def text(seed: object, words: int) -> str:
    """A text whose prefix is unique to the seed."""
    chosen = random.Random(str(seed))
    return f"{seed} " + " ".join(chosen.choice(WORDS) for _ in range(words))


async def speed(server: Server, http, sequences: int, words: int, tokens: int, label: str) -> tuple[float, float]:
    """Prompt and completion tokens per second."""
    def asked(which: int, words: int) -> list[dict]:
        own = f"{label}-{which}"
        return [{"role": "system", "content": text(own, words)}, {"role": "user", "content": f"Go on. {own}"}]

    begun = time.monotonic()
    all_of = [server.ask(http, asked(which, words), 1) for which in range(sequences)]
    read = sum(fresh(used) for _, used in await asyncio.gather(*all_of)) / (time.monotonic() - begun)
    begun = time.monotonic()
    all_of = [server.ask(http, asked(which + 1000, 4), tokens) for which in range(sequences)]
    written = sum(used["completion_tokens"] for _, used in await asyncio.gather(*all_of))
    return read, written / (time.monotonic() - begun)


def fresh(used: dict) -> int:
    """Prompt tokens that were not cached."""
    return used["prompt_tokens"] - (used.get("prompt_tokens_details") or {}).get("cached_tokens", 0)


async def sessions(server: Server, http, count: int, turns: int, system: str) -> tuple[int, int, float]:
    """Dialogues with a shared system prompt: tokens sent, tokens processed, seconds."""
    async def one(which: int) -> tuple[int, int]:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": "Begin."}]
        sent = read = 0
        for turn in range(turns):
            reply, used = await server.ask(http, messages, 32)
            sent, read = sent + used["prompt_tokens"], read + fresh(used)
            said = f"Model 1: {text((which, turn, 1), 40)}\nModel 2: {text((which, turn, 2), 40)}"
            messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": said}]
        return sent, read

    begun = time.monotonic()
    told = await asyncio.gather(*(one(which) for which in range(count)))
    return sum(sent for sent, _ in told), sum(read for _, read in told), time.monotonic() - begun


async def measure(options: argparse.Namespace) -> None:
    for count in map(int, options.sequences.split(",")):
        await served(options, count, lambda both, http: compare(both, http, count, options))
    await served(options, 16, lambda both, http: workload(both, http, options))


async def served(options: argparse.Namespace, count: int, work) -> None:
    """Runs a measurement on both servers, each configured for this many concurrent requests."""
    with tempfile.TemporaryDirectory() as folder:
        both = [ours(options.program, options.file, options.threads, count, count * 1024, Path(folder)),
                theirs(options.peer, options.file, options.threads, count, count * 1024)]
        limits = aiohttp.ClientTimeout(total=3600)
        try:
            async with aiohttp.ClientSession(timeout=limits, connector=aiohttp.TCPConnector(limit=0)) as http:
                for server in both:
                    await server.ready(http)
                    await speed(server, http, 1, 8, 4, "warm")
                await work(both, http)
        finally:
            for server in both:
                server.process.terminate()
                server.process.wait()


async def workload(both: list[Server], http, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "prompts"
        subprocess.run([options.program, "prompts", "export", str(exported)], check=True, capture_output=True)
        system = re.sub(r"\{\{.*?\}\}", "4", (exported / "asker_system.txt").read_text())
    told = [await sessions(server, http, 16, 4, system) for server in both]
    print("16 sessions of 4 turns:")
    for server, (sent, read, seconds) in zip(both, told):
        print(f"  {server.name:12} {sent:7} prompt tokens sent, {read:7} read, {seconds:6.1f} s")
    print(f"  tokens read, ratio {told[0][1] / told[1][1]:.2f}; speed, ratio {told[1][2] / told[0][2]:.2f}")


async def compare(both: list[Server], http, count: int, options: argparse.Namespace) -> None:
    found = {server.name: [] for server in both}
    for turn in range(options.rounds):
        for server in both if turn % 2 == 0 else reversed(both):
            label = f"{server.name}-{count}-{turn}"
            found[server.name].append(await speed(server, http, count, options.words, options.tokens, label))
    for place, what in enumerate(["read", "written"]):
        mine, peer = (statistics.median(round[place] for round in found[server.name]) for server in both)
        ratios = [a[place] / b[place] for a, b in zip(*found.values())]
        print(f"{count:3} at once, tokens {what:7} a second: aske {mine:7.1f}, llama-server {peer:7.1f}; ratio "
              f"{mine / peer:.2f} (rounds {min(ratios):.2f} to {max(ratios):.2f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a GGUF file")
    parser.add_argument("--peer", required=True, help="llama.cpp's llama-server")
    parser.add_argument("--program", default=str(ROOT / "target/release/aske"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sequences", default="1,8,16")
    parser.add_argument("--words", type=int, default=200, help="length of the prompts that are read")
    parser.add_argument("--tokens", type=int, default=48, help="length of the replies that are written")
    parser.add_argument("--rounds", type=int, default=3)
    asyncio.run(measure(parser.parse_args()))


main()
