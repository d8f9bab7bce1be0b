"""The wheel against what it replaces: verify against math-verify, and rollouts against a bare chat under verifiers.

    python benches/wheel.py verify
    python benches/wheel.py rollouts --server target/release/aske-testserver
    python benches/wheel.py flight --server target/release/aske-testserver
    python benches/wheel.py compare before.whl after.whl --server target/release/aske-testserver

Needs the wheel (release), math-verify and verifiers; `compare` needs two wheels and nothing else. Both sides run in turn,
in one process each round; ratios are what to read.
"""

import argparse
import asyncio
import json
import logging
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def verify(options):
    import aske_env
    import math_verify
    import mix

    logging.disable(logging.CRITICAL)  # math-verify logs every answer that it cannot parse
    pairs = [tuple(rf"\boxed{{{pair[side]}}}" for side in ("gold", "pred"))
             for pair in random.Random(1).sample(mix.generate(), options.pairs)]
    rounds = []
    math_verify.verify(math_verify.parse(r"\boxed{x+\frac{1}{2}}"), math_verify.parse(r"\boxed{x}"))  # its tables
    for _ in range(options.rounds):
        begun = cpu()
        for _ in range(options.times):
            ours = [aske_env.verify(aske_env.parse(gold), aske_env.parse(pred)) for gold, pred in pairs]
        between = cpu()
        theirs = [math_verify.verify(math_verify.parse(gold), math_verify.parse(pred)) for gold, pred in pairs]
        rounds.append(((between - begun) / len(pairs) / options.times, (cpu() - between) / len(pairs)))
    ours_s, theirs_s = (statistics.median(side) for side in zip(*rounds))
    ratio = statistics.median(theirs / ours for ours, theirs in rounds)
    alike = sum(bool(a) == bool(b) for a, b in zip(ours, theirs))
    print(f"verify(parse, parse): {ours_s * 1e6:.1f} µs; math-verify {theirs_s * 1e6:.0f} µs; ratio {ratio:.0f}, "
          f"median of {options.rounds} rounds of {len(pairs)} pairs of benches/mix.py, CPU time of one thread; "
          f"{alike} verdicts alike")


CONFIG = """
[protocol]
rounds = 3
[asker]
model = "asker"
[boundary]
solvers = ["solver-90", "solver-20"]
[check]
model = "check"
draws = 1
""" + "".join(f'[models.{name}]\nprovider = "openai"\nurl = "{{url}}"\nlimits = {{{{ concurrency = 512 }}}}\n'
              for name in ("asker", "solver-90", "solver-20", "check"))


def rollouts(options):
    server = subprocess.Popen([options.server, "--pad-words", "20"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[-1]
    try:
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "aske.toml")
            config.write_text(CONFIG.format(url=url))
            sides = {"bare": [], "aske-env": []}
            for _ in range(options.rounds):
                for side, taken in sides.items():
                    command = [sys.executable, __file__, "side", side, "--url", url, "--config", str(config),
                               "--episodes", str(options.episodes)]
                    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
                    taken.append(json.loads(out.splitlines()[-1]))
    finally:
        server.terminate()
    bare, ours = (statistics.median(taken) for taken in sides.values())
    print(f"CPU a rollout: aske-env {ours * 1e3:.1f} ms; four turns of bare chat under verifiers {bare * 1e3:.1f} ms; "
          f"difference {(ours - bare) * 1e3:+.1f} ms, medians of {options.rounds} rounds of {options.episodes}")


def flight(options):
    import aske_env

    arguments = ["--pad-words", "20", "--latency-ms", str(options.latency_ms), "--faults", str(options.faults)]
    server = subprocess.Popen([options.server, *arguments], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[-1]
    try:
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "aske.toml")
            config.write_text(CONFIG.format(url=url))
            environment = aske_env.Environment(str(config), ["models.asker.limits.concurrency=16384"])
            (pair,) = environment.pairs()

            async def run():
                calls = (environment.rollout(pair, n, url=url, model="asker") for n in range(options.episodes))
                return await asyncio.gather(*calls, return_exceptions=True)

            begun = time.monotonic()
            told = asyncio.run(run())
            taken = time.monotonic() - begun
    finally:
        server.terminate()
    lost = [episode for episode in told if isinstance(episode, BaseException)]
    calls = sum(use["calls"] for episode in told if isinstance(episode, dict) for use in episode["record"]["used"].values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{options.episodes:,} rollouts at once, {options.latency_ms} ms a reply, {options.faults:.0%} of requests broken: "
          f"{len(lost)} lost; {calls:,} calls in {taken:.0f} s, {peak:.0f} MiB at most, "
          f"{cpu() / options.episodes * 1e3:.2f} ms of CPU a rollout")
    for failure in lost[:3]:
        print(failure)
    sys.exit(bool(lost))


def compare(options):
    server = subprocess.Popen([options.server, "--pad-words", "20"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[-1]
    try:
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "aske.toml")
            config.write_text(CONFIG.format(url=url))
            sides = {}
            for name in ("before", "after"):
                packages = pathlib.Path(folder, name)
                install = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", packages, getattr(options, name)]
                subprocess.run([sys.executable, *install], check=True)
                sides[name] = (packages, {})
            for _ in range(options.rounds):
                for packages, taken in sides.values():
                    command = [sys.executable, __file__, "alone", "--url", url, "--config", str(config),
                               "--episodes", str(options.episodes)]
                    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                                         env={**os.environ, "PYTHONPATH": str(packages)}).stdout
                    for what, seconds in json.loads(out.splitlines()[-1]).items():
                        taken.setdefault(what, []).append(seconds)
    finally:
        server.terminate()
    (_, before), (_, after) = sides.values()
    for what in before:
        ratio = statistics.median(b / a for b, a in zip(before[what], after[what]))
        print(f"{what}: before {statistics.median(before[what]) * 1e6:,.1f} µs, after "
              f"{statistics.median(after[what]) * 1e6:,.1f} µs, ratio {ratio:.2f}, medians of {options.rounds} rounds")


def alone(options):
    import aske_env
    import mix

    pairs = [tuple(rf"\boxed{{{pair[side]}}}" for side in ("gold", "pred"))
             for pair in random.Random(1).sample(mix.generate(), 500)]
    environment = aske_env.Environment(options.config)
    (pair,) = environment.pairs()

    async def run(count):
        gate = asyncio.Semaphore(128)

        async def one(n):
            async with gate:
                await environment.rollout(pair, n, url=options.url, model="asker")

        await asyncio.gather(*map(one, range(count)))

    def time_of(work, count):
        work()  # connections, threads and tables
        begun = cpu()
        work()
        return (cpu() - begun) / count

    print(json.dumps({
        "verify(parse, parse)": time_of(
            lambda: [aske_env.verify(aske_env.parse(gold), aske_env.parse(pred)) for gold, pred in pairs], len(pairs)),
        "verify_batch, a pair": time_of(lambda: aske_env.verify_batch(*zip(*pairs * 20)), 20 * len(pairs)),
        "rollout, CPU": time_of(lambda: asyncio.run(run(options.episodes)), options.episodes),
    }))


def side(options):
    from verifiers.v1.clients import ModelContext
    from verifiers.v1.configs.client import EvalClientConfig
    from verifiers.v1.utils.loaders import load_environment, resolve_env_config

    logging.disable(logging.CRITICAL)
    sys.path.insert(0, str(HERE))
    taskset = {"id": "aske-env", "config": options.config} if options.side == "aske-env" else {"id": "bare_chat"}
    env = load_environment(resolve_env_config({"taskset": taskset, "agent": {"runtime": {"type": "subprocess"}}}))
    ctx = ModelContext(model="asker", client=EvalClientConfig(base_url=options.url, api_key_var="NO_KEY"))

    async def run():
        gate = asyncio.Semaphore(128)
        task = next(iter(env.taskset))
        async with env.serving():
            await env.run_slot(env.slots(task)[0], ctx, gate)  # connections and imports
            begun = cpu()
            slots = env.slots(task, options.episodes)
            episodes = await asyncio.gather(*(env.run_slot(slot, ctx, gate) for slot in slots))
            taken = (cpu() - begun) / options.episodes
        traces = [trace for episode in episodes for trace in episode.traces]
        assert all(trace.ok and trace.num_turns == 4 for trace in traces), traces[0].errors
        print(json.dumps(taken))

    asyncio.run(run())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("verify")
    one.add_argument("--pairs", type=int, default=500)
    one.add_argument("--rounds", type=int, default=5)
    one.add_argument("--times", type=int, default=20, help="how often ours goes through the pairs, for each time of theirs")
    one.set_defaults(run=verify)
    two = commands.add_parser("rollouts")
    two.add_argument("--server", default="target/release/aske-testserver")
    two.add_argument("--episodes", type=int, default=400)
    two.add_argument("--rounds", type=int, default=5)
    two.set_defaults(run=rollouts)
    three = commands.add_parser("flight")
    three.add_argument("--server", default="target/release/aske-testserver")
    three.add_argument("--episodes", type=int, default=10_000)
    three.add_argument("--latency-ms", type=int, default=1000)
    three.add_argument("--faults", type=float, default=0.0)
    three.set_defaults(run=flight)
    four = commands.add_parser("compare")
    four.add_argument("before", help="a wheel")
    four.add_argument("after", help="another wheel")
    four.add_argument("--server", default="target/release/aske-testserver")
    four.add_argument("--episodes", type=int, default=400)
    four.add_argument("--rounds", type=int, default=5)
    four.set_defaults(run=compare)
    inner = commands.add_parser("alone")
    for name in ("--url", "--config"):
        inner.add_argument(name)
    inner.add_argument("--episodes", type=int)
    inner.set_defaults(run=alone)
    inner = commands.add_parser("side")
    inner.add_argument("side")
    for name in ("--url", "--config"):
        inner.add_argument(name)
    inner.add_argument("--episodes", type=int)
    inner.set_defaults(run=side)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
