"""Forks, spawned processes, threads, event loops, interrupts and exits, each in an interpreter of its own."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import aske_env
import pytest

from conftest import CONFIG, start

PAIR = "solver-20:solver-90"
PREAMBLE = f"""
import asyncio, atexit, gc, os, signal, sys, threading, time
import multiprocessing as mp
import aske_env
from aske_env import Environment, parse, verify, verify_batch

URL, CONFIG, PAIR = sys.argv[1], sys.argv[2], {PAIR!r}

def rollouts(environment, count):
    return [environment.rollout(PAIR, n, url=URL, model="asker") for n in range(count)]

async def gather(environment, count):
    return await asyncio.gather(*rollouts(environment, count))

def check_child(pid):
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, status
"""


class Ended(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float


@pytest.fixture(scope="module")
def slow() -> Iterator[str]:
    """A server that takes 200 ms for each reply."""
    process, url = start("--latency-ms", "200", "--pad-words", "5")
    yield url
    process.terminate()
    process.wait()


@pytest.fixture
def arguments(slow: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "aske.toml"
    path.write_text(CONFIG.format(url=slow))
    return [slow, str(path)]


def run(
    code: str,
    arguments: list[str],
    *,
    before: str = PREAMBLE,
    interrupt_after: float | None = None,
    limit: float = 60,
) -> Ended:
    """Runs a program; interrupts it some seconds after it prints a line. Fails if it hangs."""
    command = [sys.executable, "-c", before + textwrap.dedent(code), *arguments]
    # A group of its own, so that a hanging program is ended with its children.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    try:
        begun = time.monotonic()
        first = ""
        if interrupt_after is not None:
            first = process.stdout.readline()
            time.sleep(interrupt_after)
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=limit)
        return Ended(process.returncode, first + out, err, time.monotonic() - begun)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        pytest.fail(f"hangs after {limit} s: {out}\n{err}")


def check(ended: Ended, out: str = "done\n", code: int = 0) -> None:
    assert (ended.code, ended.out, ended.err) == (code, out, ""), ended.err


def test_a_forked_child_verifies_and_loads(arguments: list[str]) -> None:
    code = """
    assert verify_batch(["1", "2"], ["1.0", "3"]) == [True, False]
    def child():
        assert verify("1", "1.0") and len(parse("1/2")) > 0
        assert verify_batch(["1", "2"] * 500, ["1.0", "3"] * 500) == [True, False] * 500
        assert verify_batch(["1"], ["1"], threads=2) == [True]
    if (pid := os.fork()) == 0:
        child()
        # A child of the child.
        if (grandchild := os.fork()) == 0:
            child()
            os._exit(0)
        check_child(grandchild)
        sys.exit(0)
    check_child(pid)
    child()
    print("done")
    """
    check(run(code, arguments))


def test_a_forked_child_runs_rollouts_with_the_environment_of_its_parent(arguments: list[str]) -> None:
    code = """
    environment = Environment(CONFIG)
    def play():
        outcomes = [rollout["outcome"] for rollout in asyncio.run(gather(environment, 10))]
        assert len(outcomes) == 10
        return outcomes
    before = play()
    children = []
    for _ in range(3):
        if (pid := os.fork()) == 0:
            assert play() == before
            if (grandchild := os.fork()) == 0:
                assert play() == before
                sys.exit(0)
            check_child(grandchild)
            sys.exit(0)
        children.append(pid)
    assert play() == before
    for pid in children:
        check_child(pid)
    print("done")
    """
    check(run(code, arguments))


def test_a_fork_while_other_threads_compute_and_roll_out(arguments: list[str]) -> None:
    code = """
    # Tables and pools are built by threads just when children are forked.
    environment = Environment(CONFIG)
    stop = threading.Event()
    def compute(n):
        while not stop.is_set():
            verify(rf"\\frac{{{n}}}{{2}} + \\sqrt{{8}}", "x^2", rules=("aske", "math-verify", "paper")[n % 3])
            verify_batch(["1", "(1, 2)"] * 20, ["2", r"\\pi"] * 20)
    def play():
        while not stop.is_set():
            asyncio.run(gather(environment, 20))
    threads = [threading.Thread(target=compute, args=(n,)) for n in range(6)] + [threading.Thread(target=play)]
    for thread in threads:
        thread.start()
    for n in range(40):
        if (pid := os.fork()) == 0:
            for rules in ("aske", "math-verify", "paper"):
                assert verify(r"\\frac{1}{2}", "0.5", rules=rules)
            assert verify_batch(["1", "2"] * 20, ["1.0", "3"] * 20) == [True, False] * 20
            if n % 10 == 0:
                assert len(asyncio.run(gather(environment, 3))) == 3
            os._exit(0)
        check_child(pid)
    stop.set()
    for thread in threads:
        thread.join()
    print("done")
    """
    check(run(code, arguments, limit=120))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pool_of_processes(arguments: list[str], tmp_path: Path, method: str) -> None:
    # Spawned processes import their functions from a file.
    path = tmp_path / "work.py"
    path.write_text(
        PREAMBLE
        + textwrap.dedent(f"""
    def work(item):
        environment, parsed, n = item
        batch = verify_batch(["1", "2"], ["1.0", "3"])
        (rollout,) = asyncio.run(gather(environment, 1))
        session = environment.session()
        return batch, verify(parsed, "0.5"), rollout["outcome"], session.calls()[0].role, parsed

    if __name__ == "__main__":
        environment = Environment(CONFIG)
        parsed = parse(r"\\boxed{{\\frac{{1}}{{2}}}}")
        (own,) = asyncio.run(gather(environment, 1))
        verify_batch(["1"], ["1"])
        with mp.get_context({method!r}).Pool(3) as pool:
            results = pool.map(work, [(environment, parsed, n) for n in range(12)], chunksize=1)
        for batch, equal, outcome, role, returned in results:
            assert batch == [True, False] and equal and outcome == own["outcome"] and role == "asker"
            assert repr(returned) == repr(parsed)
        print("done")
    """)
    )
    ended = subprocess.run(
        [sys.executable, str(path), *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_many_threads_with_event_loops_of_their_own(slow: str, arguments: list[str]) -> None:
    environment = aske_env.Environment(arguments[1])

    async def play(n: int) -> list[str]:
        rollouts = (environment.rollout(PAIR, sample, url=slow, model="asker") for sample in range(n, n + 3))
        return [rollout["outcome"] for rollout in await asyncio.gather(*rollouts)]

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda n: asyncio.run(play(n)), [0] * 16))
    assert outcomes == [outcomes[0]] * 16 and len(outcomes[0]) == 3


def test_uvloop(arguments: list[str]) -> None:
    pytest.importorskip("uvloop")
    code = """
    import uvloop
    environment = Environment(CONFIG)
    async def main():
        assert len(await gather(environment, 50)) == 50
        try:
            async with asyncio.timeout(0.3):
                await gather(environment, 100)
        except TimeoutError:
            print("done")
    uvloop.run(main())
    """
    check(run(code, arguments))


def test_an_interrupt_ends_rollouts(arguments: list[str]) -> None:
    code = """
    environment = Environment(CONFIG)
    async def main():
        waiting = asyncio.ensure_future(gather(environment, 400))
        await asyncio.sleep(0)
        print("ready", flush=True)
        await waiting
    asyncio.run(main())
    """
    for after in (0.0, 0.25, 0.7):
        ended = run(code, arguments, interrupt_after=after)
        assert ended.code == -signal.SIGINT and ended.seconds < 5, ended
        assert ended.err.rstrip().endswith("KeyboardInterrupt") and "panic" not in ended.err, ended.err
        assert ended.err.count("Traceback") <= 2, ended.err


def test_an_interrupt_within_a_task_group(arguments: list[str]) -> None:
    code = """
    environment = Environment(CONFIG)
    async def one(n):
        return await environment.rollout(PAIR, n, url=URL, model="asker")
    async def main():
        try:
            async with asyncio.TaskGroup() as group:
                for n in range(200):
                    group.create_task(one(n))
                print("ready", flush=True)
        finally:
            print("left", flush=True)
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("interrupted")
    """
    ended = run(code, arguments, interrupt_after=0.3)
    check(ended, "ready\nleft\ninterrupted\n")
    assert ended.seconds < 5


def test_an_exit_leaves_rollouts_behind_in_silence(arguments: list[str]) -> None:
    # The loop is never closed, and nothing is cancelled: everything is in flight when the interpreter exits.
    endings = {
        "return": "loop.run_until_complete(begin())",
        "exit": "loop.run_until_complete(begin()); sys.exit(3)",
        "daemon": """
threading.Thread(target=lambda: loop.run_until_complete(gather(environment, 500)), daemon=True).start()
time.sleep(0.5)
""",
        "os._exit": "loop.run_until_complete(begin()); os._exit(4)",
    }
    codes = {"return": 0, "exit": 3, "daemon": 0, "os._exit": 4}
    for name, ending in endings.items():
        for pause in (0.0, 0.21, 0.63):
            code = f"""
environment = Environment(CONFIG)
kept = []
async def begin():
    kept.extend(map(asyncio.ensure_future, rollouts(environment, 500)))
    await asyncio.sleep({pause})
loop = asyncio.new_event_loop()
# asyncio itself reports tasks that are left pending; whatever else is printed is ours.
loop.set_exception_handler(lambda loop, context: None)
{ending}
"""
            ended = run(code, arguments)
            assert (ended.code, ended.out, ended.err) == (codes[name], "", ""), (name, ended)


def test_finalizers_and_functions_that_run_at_exit(arguments: list[str]) -> None:
    code = """
    # Registered before the package is imported, and so called after its threads have ended.
    import atexit
    def late():
        try:
            asyncio.run(gather(environment, 1))
        except RuntimeError as error:
            print(error)
    atexit.register(late)
    """
    more = """
    environment = Environment(CONFIG)
    class Last:
        # Called when the interpreter clears its modules.
        def __del__(self):
            assert verify("1", "1.0") and verify_batch(["1"], ["1"]) == [True]
    cycle = [Last(), environment]
    cycle.append(cycle)
    kept = Last()
    asyncio.run(gather(environment, 3))
    """
    check(run(textwrap.dedent(code) + PREAMBLE + textwrap.dedent(more), arguments, before=""), "the interpreter is shutting down\n")


def test_timeouts_and_cancellation_free_the_limits(arguments: list[str]) -> None:
    code = """
    environment = Environment(CONFIG, ["models.asker.limits.concurrency=2"])
    async def main():
        for _ in range(5):
            try:
                await asyncio.wait_for(gather(environment, 50), 0.3)
                raise AssertionError("too fast")
            except TimeoutError:
                pass
        task = asyncio.ensure_future(environment.rollout(PAIR, url=URL, model="asker"))
        await asyncio.sleep(0.05)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        # Had the cancelled calls kept their places, this would wait for ever.
        assert len(await gather(environment, 4)) == 4
        print("done")
    asyncio.run(main())
    """
    check(run(code, arguments))


def test_an_interrupt_ends_verify_batch(arguments: list[str]) -> None:
    code = r"""
    pairs = [r"\sqrt{%d}+x^2" % n for n in range(300_000)] * 5
    targets = [r"2\sqrt{3}+x^2"] * len(pairs)
    print("ready", flush=True)
    try:
        verify_batch(pairs, targets)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    assert verify_batch(["1", "2"], ["1.0", "3"]) == [True, False]
    """
    ended = run(code, arguments, interrupt_after=1.0)
    check(ended, "ready\ninterrupted\n")
    assert ended.seconds < 4


def test_the_limit_of_the_asker_holds_across_rollouts(arguments: list[str]) -> None:
    import json
    import urllib.request

    process, url = start("--latency-ms", "50", "--pad-words", "5")
    try:
        most = []
        for limit in (2, 5):
            options = {"models.asker.limits.concurrency": limit}
            # Only the asker is slow: the others reply within this process.
            environment = aske_env.Environment(arguments[1], options)

            async def play() -> None:
                keys = ("one", "two", None)
                rollouts = (
                    environment.rollout(PAIR, n, url=url, model="asker", key=keys[n % 3]) for n in range(30)
                )
                await asyncio.gather(*rollouts)

            asyncio.run(play())
            with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as response:
                most.append(json.load(response)["in_flight_max"])
        assert most == [2, 5]
    finally:
        process.terminate()
        process.wait()


def test_a_fork_within_an_event_loop(arguments: list[str]) -> None:
    code = """
    environment = Environment(CONFIG)
    async def main():
        waiting = asyncio.ensure_future(gather(environment, 30))
        for n in range(10):
            await asyncio.sleep(0.05)
            if (pid := os.fork()) == 0:
                # The child has a loop of its own. Its copy of the parent's shares files with it, and must not run.
                assert len(asyncio.run(gather(environment, 2))) == 2
                os._exit(0)
            check_child(pid)
        assert len(await waiting) == 30
        print("done")
    asyncio.run(main())
    """
    check(run(code, arguments))


def test_daemon_threads_do_not_disturb_the_exit(arguments: list[str]) -> None:
    code = """
    def forever(work):
        while True:
            work()
    works = [lambda: verify("x^2 + 1", "x^2 + 2"), lambda: verify_batch(["1", "2"] * 50, ["2", "2"] * 50)]
    for work in works * 3:
        threading.Thread(target=forever, args=(work,), daemon=True).start()
    time.sleep(0.2)
    """
    for _ in range(5):
        check(run(code, arguments), "")
