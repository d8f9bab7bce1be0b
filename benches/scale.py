"""How time, memory and disk grow with the sessions of a run: 10,000, 100,000 and 1,000,000.

    cargo build --release
    cargo build --release -p aske-evidence --example synthetic
    python3 benches/scale.py [--sessions 10000 100000 1000000] [--folder FOLDER]
    cargo build --release -p aske-testkit
    python3 benches/scale.py --server 100000      sessions really run against the test server, without probing

A run is written as ten shards with every call stored (replies of one line, so that a million sessions fit on a disk),
and the shards are merged. On the merged run: `aske bench` again, which finds everything finished; `aske report` as a
page; the viewer until its first page has come; `aske export` of all four tables. Seconds are those of the clock and
those of the processors, which a busy machine changes little; memory is the peak of the resident set. The last columns
are the growth from the size before. Needs Python alone, and for a
million sessions 20 GB of disk.
"""

import argparse
import http.client
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
PAIRS = 190
SHARDS = 10
SOLVERS = (
    "deepseek-r1-1.5b qwen3-1.7b qwen3.5-2b llama-3.2-3b ministral-3-3b phi-4-mini qwen3.5-4b qwen3-4b gemma-3-4b-it "
    "deepseek-r1-7b qwen3-8b ministral-3-8b qwen3.5-9b gemma-3-12b-it qwen3-14b gpt-oss-20b qwen3.5-27b "
    "gemini-2.5-flash-lite gemini-2.5-flash gemini-3-flash"
).split()


def config(folder, asker, check, solvers, samples, url, rounds):
    text = [
        f'[protocol]\nrounds = {rounds}\n[asker]\nmodel = "{asker}"\n[boundary]\nsolvers = {solvers!r}\n',
        f'[check]\nmodel = "{check}"\n[run]\nsamples = {samples}\nconcurrency = 256\n',
    ]
    for model in [asker, check, *solvers]:
        text.append(f'[models."{model}"]\nprovider = "openai"\nurl = "{url}"\nlimits = {{ concurrency = 256 }}\n')
    path = folder / "scale.toml"
    path.write_text("".join(text))
    return path


def measured(*command):
    """Runs a command; returns wall seconds, CPU seconds and peak memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{said.decode()[-2000:]}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    reply = connection.getresponse()
    assert reply.status == 200, (path, reply.status)
    return reply.read()


def first_page(program, run):
    """The same from the start of the viewer to its first page."""
    start = time.perf_counter()
    process = subprocess.Popen([program, "view", run, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    address = process.stdout.readline()
    assert "http://" in address, "the viewer ended"
    port = urllib.parse.urlparse(address[address.index("http://"):].split()[0]).port
    for path in ["/", "/style.css", "/app.js", "/api/run", "/api/sessions?limit=100"]:
        get(port, path)
    seconds = time.perf_counter() - start
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    ticks = sum(map(int, pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
    peak = next(int(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM"))
    process.terminate()
    process.wait()
    return seconds, ticks / os.sysconf("SC_CLK_TCK"), peak


def size(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file()) / 1e6


def shards(program, synthetic, folder, path, sessions):
    runs = []
    for part in range(1, SHARDS + 1):
        run = folder / f"shard-{part}"
        subprocess.run([program, "bench", "--config", path, "--run", run, "--limit", "0"], check=True, capture_output=True)
        subprocess.run(
            [synthetic, run, "--sessions", str(sessions), "--calls", "--short", "--shard", f"{part}/{SHARDS}"], check=True
        )
        runs.append(run)
    return runs


def on_run(program, folder, path, run, rows):
    rows["resume"] = measured(program, "bench", "--config", path, "--run", run)
    rows["report"] = measured(program, "report", run, "--html", folder / "report.html")
    rows["first page"] = first_page(program, run)
    rows["export"] = measured(program, "export", run, "--out", folder / "export")
    rows["disk"] = (size(run), size(folder / "export"))


def synthetic_run(options, folder, sessions):
    samples = -(-sessions // PAIRS)
    path = config(folder, "synthetic-asker", "synthetic-check", SOLVERS, samples, "http://127.0.0.1:9/v1", 4)
    runs = shards(options.program, options.synthetic, folder, path, samples * PAIRS)
    rows = {"merge of ten shards": measured(options.program, "merge", folder / "run", *runs)}
    for run in runs:
        shutil.rmtree(run)
    on_run(options.program, folder, path, folder / "run", rows)
    return samples * PAIRS, rows


def server_run(options, folder):
    samples = -(-options.server // PAIRS)
    server = subprocess.Popen([options.testserver], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        solvers = [f"solver-{ability:02}" for ability in range(5, 101, 5)]
        path = config(folder, "asker", "check", solvers, samples, url, 0)
        rows = {"bench, from the start": measured(options.program, "bench", "--config", path, "--run", folder / "run")}
    finally:
        server.terminate()
        server.wait()
    # The test server has stopped, so the following steps cannot send requests.
    on_run(options.program, folder, path, folder / "run", rows)
    return samples * PAIRS, rows


def show(sessions, rows, before):
    print(f"{sessions:,} sessions", flush=True)
    for name, values in rows.items():
        if name == "disk":
            print(f"  {name:24} {values[0]:9,.0f} MB run {values[1]:8,.0f} MB export", flush=True)
            continue
        seconds, processor, peak = values
        then = before.get(name)
        growth = f"  x{processor / then[1]:.1f} processor, x{peak / then[2]:.1f} memory" if then else ""
        print(f"  {name:24} {seconds:9.1f} s  {processor:9.1f} s processor {peak:8,.0f} MB{growth}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=RELEASE / "aske")
    parser.add_argument("--synthetic", default=RELEASE / "examples" / "synthetic")
    parser.add_argument("--testserver", default=RELEASE / "aske-testserver")
    parser.add_argument("--sessions", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--server", type=int, metavar="SESSIONS")
    parser.add_argument("--folder", help="where to write; removed in the end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        if options.server:
            show(*server_run(options, pathlib.Path(folder)), {})
            return
        before = {}
        for sessions in options.sessions:
            place = pathlib.Path(folder) / str(sessions)
            place.mkdir()
            made, rows = synthetic_run(options, place, sessions)
            show(made, rows, before)
            before = rows
            shutil.rmtree(place)


if __name__ == "__main__":
    main()
