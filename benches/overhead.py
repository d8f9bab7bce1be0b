#!/usr/bin/env python3
"""Measures the overhead of a model call in aske, compared with a plain aiohttp client on the same calls.

    pip install -r benches/requirements.txt
    python benches/overhead.py            # CPU per call, three rounds, and the ratio
    python benches/overhead.py --flight   # 5,000 calls in flight: memory, wall, CPU
    python benches/overhead.py --json     # either, as JSON

Both sides talk to aske-testserver, which answers at once. First `aske bench` runs the whole plan (20 solvers,
190 pairs, 10 samples, 1,900 sessions) while the server keeps every request body. Then, in alternating rounds,
`aske bench` runs the plan afresh, and a bare client posts the same bodies over one aiohttp session.

aske's CPU is that of its whole process (start-up, protocol, grading, records); the client's is that of its send
loop alone (no imports, no loading), which decodes each reply and keeps nothing. A ratio below 1 therefore means
that aske does all of its work for less than the bare client spends on sending and receiving.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ABILITIES = range(5, 101, 5)


class BenchmarkError(Exception):
    """A failure that ends the benchmark; its message is printed."""


# The plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """Number of sessions and of concurrent calls."""

    samples: int
    concurrency: int
    shared_limit: int
    """Concurrent calls to the asker and to the cross-check solver."""
    solver_limit: int
    """Concurrent calls to each solver."""

    def config(self, url: str) -> str:
        """The configuration file of `aske bench`."""
        solvers = [f"solver-{ability:02}" for ability in ABILITIES]
        text = [
            f'[asker]\nmodel = "asker"\n[boundary]\nsolvers = {json.dumps(solvers)}\n[check]\nmodel = "check"\n',
            f"[run]\nsamples = {self.samples}\nconcurrency = {self.concurrency}\n",
        ]
        for model in ["asker", "check", *solvers]:
            limit = self.solver_limit if model in solvers else self.shared_limit
            text.append(
                f'[models.{model}]\nprovider = "openai"\nurl = "{url}"\n'
                f"sampling = {{ seed = true }}\nlimits = {{ concurrency = {limit} }}\n"
            )
        return "\n".join(text)


# Programs ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Programs:
    """Paths of the two binaries."""

    aske: Path
    server: Path


def build(args: argparse.Namespace) -> Programs:
    """Builds the release binaries unless their paths are given."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    if not target.is_absolute():
        target = ROOT / target
    if not args.no_build:
        command = ["cargo", "build", "--release", "-p", "aske", "-p", "aske-testkit"]
        if subprocess.run(command, cwd=ROOT, stdout=sys.stderr).returncode != 0:
            raise BenchmarkError(f"`{' '.join(command)}` failed")
    programs = Programs(
        args.aske or target / "release" / "aske", args.server or target / "release" / "aske-testserver"
    )
    for program in (programs.aske, programs.server):
        if not program.is_file():
            raise BenchmarkError(f"{program} does not exist; build it, or name another with --aske or --server")
    return programs


@contextlib.contextmanager
def serving(program: Path, *flags: str) -> Iterator[str]:
    """Runs the test server; returns its URL."""
    server = subprocess.Popen([program, *flags], stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline().strip()
        if not line.startswith("listening on "):
            raise BenchmarkError(f"{program} did not start")
        yield line.removeprefix("listening on ")
    finally:
        server.terminate()
        server.wait()


def server_stats(url: str) -> dict:
    """The counters of the server."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
        return json.load(reply)


# Measurements --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """One side of one round."""

    calls: int
    wall_s: float
    cpu_s: float
    peak_rss_mib: float

    @property
    def cpu_us_per_call(self) -> float:
        return self.cpu_s / self.calls * 1e6

    def report(self) -> dict:
        return {**asdict(self), "cpu_us_per_call": self.cpu_us_per_call}


def cpu(usage: resource.struct_rusage) -> float:
    """User and system time in seconds."""
    return usage.ru_utime + usage.ru_stime


def mib(usage: resource.struct_rusage) -> float:
    """Peak resident memory; Linux counts it in KiB, macOS in bytes."""
    return usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def run_aske(programs: Programs, plan: Plan, url: str, folder: Path) -> Side:
    """One fresh `aske bench`, measured as a whole process.

    A child's peak memory is never reported below this script's own size at the time it was started (the kernel
    keeps the maximum across exec), so this process loads neither aiohttp nor the bodies.
    """
    folder.mkdir()
    config = folder / "aske.toml"
    config.write_text(plan.config(url))
    command = [programs.aske, "bench", "--config", config, "--run", folder / "run"]
    before = server_stats(url)["requests"]
    with (folder / "output").open("wb") as output:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        tail = (folder / "output").read_text(errors="replace")[-2000:]
        raise BenchmarkError(f"`aske bench` ended with {child.returncode}:\n{tail}")
    calls = server_stats(url)["requests"] - before
    if calls == 0:
        raise BenchmarkError("`aske bench` made no calls")
    return Side(calls, wall, cpu(usage), mib(usage))


def run_client(url: str, bodies: Path, concurrency: int) -> Side:
    """One run of the bare client, in a process of its own."""
    command = [sys.executable, __file__, "--client", "--url", url, "--bodies", bodies]
    child = subprocess.run(
        [*command, "--concurrency", str(concurrency)], stdout=subprocess.PIPE, text=True
    )
    if child.returncode != 0:
        raise BenchmarkError("the aiohttp client failed (is benches/requirements.txt installed?)")
    return Side(**json.loads(child.stdout))


# The bare client -----------------------------------------------------------------------------------------------


def client(args: argparse.Namespace) -> None:
    """Posts every body and decodes every reply; prints the cost."""
    bodies = args.bodies.read_bytes().splitlines()
    side = asyncio.run(post_all(args.url + "/chat/completions", bodies, args.concurrency))
    print(json.dumps(asdict(side)))


async def post_all(url: str, bodies: list[bytes], concurrency: int) -> Side:
    """The send loop: one worker per concurrent call, one client session."""
    import aiohttp  # here, so that the measuring process stays small

    queue = iter(bodies)
    headers = {"Content-Type": "application/json"}

    async def worker(session: aiohttp.ClientSession) -> None:
        for body in queue:
            async with session.post(url, data=body, headers=headers) as reply:
                decoded = json.loads(await reply.read())
                if reply.status != 200 or not decoded["choices"]:
                    raise BenchmarkError(f"status {reply.status}: {decoded}")

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        await asyncio.gather(*(worker(session) for _ in range(concurrency)))
        after, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - start
    return Side(len(bodies), wall, cpu(after) - cpu(before), mib(after))


# The two modes -------------------------------------------------------------------------------------------------


def compare(args: argparse.Namespace, folder: Path) -> None:
    """CPU per call on both sides, round by round."""
    programs = build(args)
    plan = Plan(args.samples or 10, args.concurrency, args.concurrency, args.concurrency)
    bodies = folder / "bodies.jsonl"
    with serving(programs.server, "--dump", str(bodies)) as url:
        print("collecting the bodies of the plan", file=sys.stderr)
        collected = run_aske(programs, plan, url, folder / "collect")
    rounds: list[tuple[Side, Side]] = []
    with serving(programs.server) as url:
        for number in range(1, args.rounds + 1):
            print(f"round {number} of {args.rounds}", file=sys.stderr)
            aske = run_aske(programs, plan, url, folder / f"round-{number}")
            if aske.calls != collected.calls:
                print(f"warning: {aske.calls} calls, but {collected.calls} bodies", file=sys.stderr)
            rounds.append((aske, run_client(url, bodies, args.concurrency)))
    ratio = statistics.median(aske.cpu_us_per_call / bare.cpu_us_per_call for aske, bare in rounds)
    if args.json:
        sides = [{"aske": aske.report(), "aiohttp": bare.report()} for aske, bare in rounds]
        print(json.dumps({"concurrency": args.concurrency, "rounds": sides, "ratio": ratio}, indent=2))
        return
    print(f"{'round':>5}  {'side':<8} {'calls':>8} {'wall s':>8} {'CPU/call µs':>12} {'peak MiB':>9}")
    for number, pair in enumerate(rounds, 1):
        for name, side in zip(("aske", "aiohttp"), pair, strict=True):
            peak = f"{side.peak_rss_mib:.1f}" if name == "aske" else "-"
            print(
                f"{number:>5}  {name:<8} {side.calls:>8} {side.wall_s:>8.2f} "
                f"{side.cpu_us_per_call:>12.1f} {peak:>9}"
            )
    print(f"ratio: aske/aiohttp = {ratio:.2f} (median of {len(rounds)})")


def flight(args: argparse.Namespace, folder: Path) -> None:
    """One run with thousands of slow calls in flight."""
    programs = build(args)
    plan = Plan(samples=args.samples or 27, concurrency=5000, shared_limit=6000, solver_limit=700)
    with serving(programs.server, "--latency-ms", "200") as url:
        side = run_aske(programs, plan, url, folder / "flight")
        stats = server_stats(url)
    if args.json:
        print(json.dumps({**side.report(), "in_flight_max": stats["in_flight_max"]}, indent=2))
        return
    print(f"calls            {side.calls:>10}")
    print(f"max in flight    {stats['in_flight_max']:>10}   as the server saw it")
    print(f"peak memory      {side.peak_rss_mib:>10.1f}   MiB")
    print(f"wall             {side.wall_s:>10.2f}   s")
    print(f"CPU              {side.cpu_s:>10.2f}   s ({side.cpu_us_per_call:.1f} µs a call)")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of both sides (3)")
    parser.add_argument("--samples", type=int, help="sessions per pair (10; with --flight 27)")
    parser.add_argument("--concurrency", type=int, default=64, help="calls at once (64; not for --flight)")
    parser.add_argument("--flight", action="store_true", help="measure 5,000 calls in flight instead")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--no-build", action="store_true", help="use the binaries as they are")
    parser.add_argument("--aske", type=Path, help="another aske binary")
    parser.add_argument("--server", type=Path, help="another aske-testserver binary")
    parser.add_argument("--client", action="store_true", help="be the bare client: needs --url and --bodies")
    parser.add_argument("--url", help="the server's URL, for --client")
    parser.add_argument("--bodies", type=Path, help="a server's dump, for --client")
    args = parser.parse_args()
    if args.client and not (args.url and args.bodies):
        parser.error("--client needs --url and --bodies")
    if args.rounds < 1 or args.concurrency < 1:
        parser.error("--rounds and --concurrency start at 1")
    return args


def main() -> int:
    args = arguments()
    # Thousands of sockets need as many descriptors; children inherit the limit.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        if args.client:
            client(args)
        else:
            with tempfile.TemporaryDirectory(prefix="aske-overhead-") as folder:
                (flight if args.flight else compare)(args, Path(folder))
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
