"""The wheel beside what it replaces: verify against math-verify, and rollouts against a bare chat under verifiers.

    python benches/wheel.py verify
    python benches/wheel.py rollouts --server target/release/aske-testserver

Needs the wheel (release), math-verify and verifiers. Both sides run in turn, in one process each round; ratios are what
to read.
"""

import argparse
import asyncio
import json
import logging
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def verify(options):
    import aske_env
    import math_verify

    pairs = [(rf"\frac{{{n}}}{{{n + 1}}}", rf"\boxed{{{n * 2}/{(n + 1) * 2 + n % 2}}}") for n in range(1, options.pairs + 1)]
    rounds = []
    for _ in range(options.rounds):
        begun = cpu()
        ours = [aske_env.verify(aske_env.parse(f"${gold}$"), aske_env.parse(target)) for gold, target in pairs]
        between = cpu()
        theirs = [math_verify.verify(math_verify.parse(f"${gold}$"), math_verify.parse(target)) for gold, target in pairs]
        rounds.append(((between - begun) / len(pairs), (cpu() - between) / len(pairs)))
        assert ours == theirs, "the verdicts differ"
    ours, theirs = (statistics.median(side) for side in zip(*rounds))
    ratio = statistics.median(theirs / ours for ours, theirs in rounds)
    print(f"verify(parse, parse): {ours * 1e6:.1f} µs; math-verify {theirs * 1e6:.0f} µs; ratio {ratio:.0f}, "
          f"median of {options.rounds} rounds of {len(pairs)} pairs, CPU time of one process")


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


def side(options):
    from verifiers.v1.clients import ModelContext
    from verifiers.v1.configs.client import EvalClientConfig
    from verifiers.v1.utils.loaders import load_environment, resolve_env_config

    logging.disable(logging.CRITICAL)
    sys.path.insert(0, str(HERE))
    taskset = {"id": "aske-env", "config": options.config} if options.side == "aske-env" else {"id": "bare_chat"}
    env = load_environment(resolve_env_config({"taskset": taskset}))
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
    one.set_defaults(run=verify)
    two = commands.add_parser("rollouts")
    two.add_argument("--server", default="target/release/aske-testserver")
    two.add_argument("--episodes", type=int, default=400)
    two.add_argument("--rounds", type=int, default=5)
    two.set_defaults(run=rollouts)
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
