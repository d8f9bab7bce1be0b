"""How long the viewer takes to its first complete rows, and how much memory: a run of 100,000 sessions, and 500 runs on the home page.

    cargo build --release
    cargo build --release -p aske-evidence --example synthetic
    python3 benches/view.py [--program PATH] [--synthetic PATH] [--sessions 100000] [--runs 500] [--rounds 7]

The time goes from the start of the process until the page, its files and the first complete rows have come back: 100 sessions of
the run, or the first 20 runs of the home page with all their numbers. Then, of the run: its tables, a search, a filtered list and
one session; of the home page: until every run has its numbers. Needs Python alone.
"""

import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    reply = connection.getresponse()
    body = reply.read()
    assert reply.status == 200, (path, reply.status, body[:200])
    return body


def timed(work):
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def peak(process):
    """Peak resident memory in MB."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e3
    return float("nan")


FILES = ["/", *sorted(f"/{file.name}" for file in (ROOT / "web").glob("*.[cj]s*") if file.suffix in (".js", ".css"))]
HOME = "/api/home?limit=100"


def start(program, folder):
    """Starts the viewer and loads the page; returns the process, its port and the moment of the start."""
    begun = time.perf_counter()
    process = subprocess.Popen([program, "view", folder, "--port", "0"], stdout=subprocess.PIPE, text=True)
    address = ""
    while "http://" not in address:
        address = process.stdout.readline()
        assert address, "the viewer ended"
    port = urllib.parse.urlparse(address[address.index("http://"):].split()[0]).port
    for path in FILES:
        get(port, path)
    return process, port, begun


def of_run(program, folder, note):
    process, port, begun = start(program, folder)
    get(port, "/api/run?run=run")
    rows = json.loads(get(port, "/api/sessions?run=run&limit=100"))["rows"]
    assert len(rows) == 100 and all(row["outcome"] for row in rows), rows[:3]
    note("first 100 sessions, ms", 1e3 * (time.perf_counter() - begun))
    note("peak memory then, MB", peak(process))
    note("the tables of all sessions, ms", timed(lambda: get(port, "/api/evidence?run=run")))
    note("search, ms", timed(lambda: get(port, "/api/sessions?run=run&q=determinant")))
    note("filtered list, ms", timed(lambda: get(port, "/api/sessions?run=run&outcome=too_hard&sort=pair&offset=500")))
    note("one session, ms", timed(lambda: get(port, "/api/session?run=run&name=deepseek-r1-1.5b:qwen3-1.7b/0")))
    note("tables again, ms", timed(lambda: get(port, "/api/evidence?run=run")))
    note("peak memory in the end, MB", peak(process))
    process.terminate()
    process.wait()


def of_home(program, folder, runs, note):
    process, port, begun = start(program, folder)
    wanted = min(20, runs)
    while True:
        page = json.loads(get(port, HOME))
        ready = sum(row["state"] == "ready" for row in page["rows"][:wanted])
        if ready == wanted:
            break
    assert page["all"] == runs, page["all"]
    note(f"first {wanted} complete rows, ms", 1e3 * (time.perf_counter() - begun))
    while json.loads(get(port, HOME))["reading"]:
        time.sleep(0.05)
    note(f"all {runs} runs complete, ms", 1e3 * (time.perf_counter() - begun))
    note("the page again, ms", timed(lambda: get(port, HOME)))
    note("sorted by calibrated share, ms", timed(lambda: get(port, f"{HOME}&sort=calibrated")))
    note("peak memory in the end, MB", peak(process))
    process.terminate()
    process.wait()


def measure(title, rounds, work):
    rows = {}
    for _ in range(rounds):
        work(lambda name, value: rows.setdefault(name, []).append(value))
    print(f"{title}; median of {rounds} rounds (least to most)")
    for name, values in rows.items():
        print(f"  {name:34} {statistics.median(values):8.1f}  ({min(values):.1f} to {max(values):.1f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=RELEASE / "aske")
    parser.add_argument("--synthetic", default=RELEASE / "examples" / "synthetic")
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--sessions-per-run", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, runs = os.path.join(folder, "run"), os.path.join(folder, "runs")
        subprocess.run([options.synthetic, run, "--sessions", str(options.sessions)], check=True)
        size = os.path.getsize(os.path.join(run, "records.jsonl"))
        measure(f"{options.sessions:,} sessions, {size / 1e6:.0f} MB", options.rounds, lambda note: of_run(options.program, run, note))
        for seed in range(options.runs):
            target = os.path.join(runs, f"run-{seed:03}")
            os.makedirs(runs, exist_ok=True)
            subprocess.run([options.synthetic, target, "--sessions", str(options.sessions_per_run), "--seed", str(seed)], check=True)
        title = f"{options.runs} runs of {options.sessions_per_run} sessions on the home page"
        measure(title, options.rounds, lambda note: of_home(options.program, runs, options.runs, note))


if __name__ == "__main__":
    main()
