"""Compares what trackers have stored of a training with its metrics.jsonl. Run by scripts/trackers.

    trackers.py SEED_FOLDER [wandb] [mlflow] [trackio]

TensorBoard is always compared. Every tracker must have each value of each step once, and the benchmark.
"""

import glob
import json
import struct
import sys

FOLDER = sys.argv[1]
STEPS = [json.loads(line) for line in open(f"{FOLDER}/metrics.jsonl")]
# Those whose tag is not made from their name.
KEYS = {
    "reward/mean": "reward",
    "watch/oracle_agreement": "truth",
    "rollouts/used": "rollouts",
    "rollouts/truncated_turns": "truncated",
    "tokens/sampled": "tokens",
    "tokens/total": "read",
    "loss/policy": "loss",
    "loss/importance_ratio": "ratio",
    "loss/clip_fraction": "clipped",
    "loss/abs_log_ratio": "drift",
    "optimizer/grad_norm": "gradient_norm",
    "optimizer/learning_rate": "rate",
}


def values(tag):
    """The values in metrics.jsonl."""
    group, name = tag.split("/")
    key = KEYS.get(tag) or (f"reward_{name}" if group == "reward" else name)
    return [(step["step"], step[key]) for step in STEPS if step[key] is not None]


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def compare(name, found, rounded=lambda value: value, timed=False):
    """Compares lists of steps and values by tag; also the number of tags with the number of metrics.

    A training that is extended takes its last step again, with the same result in another time: of a tracker that has been
    given the first, only the steps of times are compared.
    """
    benchmark = {tag for tag in found if tag.split("/")[0] in ("benchmark", "before", "after")}
    tags = sorted(set(found) - benchmark)
    for tag in tags:
        wanted = [(step, rounded(value)) for step, value in values(tag)]
        has = sorted(found[tag])
        if tag.startswith("time/") and not timed:
            wanted, has = [step for step, _ in wanted], [step for step, _ in has]
        assert has == wanted, (name, tag, has, wanted)
    metrics = {key for step in STEPS for key, value in step.items() if value is not None} - {"step", "unix_time_s"}
    assert len(tags) == len(metrics), (name, tags, metrics)
    print(f"{FOLDER}: {name}: {len(tags)} metrics of {len(STEPS)} steps are those of metrics.jsonl")


def result():
    """The calibrated share before and after, from the table that the training wrote."""
    rows = {row["name"]: row for row in json.load(open(f"{FOLDER}/../result.json"))}
    seed = FOLDER.rstrip("/").rsplit("-", 1)[1]
    return [rows[name]["calibrated"]["value"] for name in ("before", f"seed {seed}")]


def run(tracker):
    """The tracker's run, which the training stored."""
    lines = [json.loads(line) for line in open(f"{FOLDER}/trackers/{tracker}.jsonl") if line.strip()]
    return next(line["run"] for line in reversed(lines) if "run" in line)


def tensorboard():
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(f"{FOLDER}/tensorboard", size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    found = {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    compare("tensorboard", found, single, timed=True)
    times = {event.step: event.wall_time for event in events.Scalars("reward/mean")}
    assert times == {step["step"]: step["unix_time_s"] for step in STEPS}, times
    before, after = result()
    assert found["benchmark/calibrated"] == [(0, single(before)), (STEPS[-1]["step"], single(after))]
    assert "train.learning_rate = " in events.Tensors("config")[0].tensor_proto.string_val[0].decode()


def records(path):
    """The records of a W&B file, which is a LevelDB log: blocks of 32 KiB with fragments of records."""
    data = open(path, "rb").read()
    at, record = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        record += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # Whole, or the last fragment.
            yield record
            record = b""


def wandb():
    from wandb.proto.wandb_internal_pb2 import Record

    found, summary, times = {}, {}, {}
    key = lambda item: item.key or "/".join(item.nested_key)
    for path in sorted(glob.glob(f"wandb/offline-run-*-{run('wandb')}/*.wandb")):
        for data in records(path):
            record = Record()
            record.ParseFromString(data)
            row = {key(item): json.loads(item.value_json) for item in record.history.item}
            for tag in row:
                if tag[0] != "_":
                    found.setdefault(tag, []).append((row["_step"], row[tag]))
                    times[row["_step"]] = row["_timestamp"]
            summary.update({key(item): json.loads(item.value_json) for item in record.summary.update})
    compare("wandb", found)
    assert times[1] == STEPS[0]["unix_time_s"] and sorted(times) == [step["step"] for step in STEPS], times
    assert [summary["before/calibrated"], summary["after/calibrated"]] == result(), summary


def mlflow():
    from mlflow.tracking import MlflowClient

    client = MlflowClient()
    data = client.get_run(run("mlflow"))
    history = lambda tag: [(metric.step, metric.value) for metric in client.get_metric_history(run("mlflow"), tag)]
    compare("mlflow", {tag: history(tag) for tag in data.data.metrics})
    assert data.info.status == "FINISHED" and "train.learning_rate" in data.data.params, data
    assert [data.data.metrics[f"{when}/calibrated"] for when in ("before", "after")] == result(), data


def trackio():
    from trackio.sqlite_storage import SQLiteStorage

    found = {}
    for row in SQLiteStorage.get_logs("aske", run("trackio")):
        for tag in row:
            if "/" in tag:
                found.setdefault(tag, []).append((row["step"], row[tag]))
    compare("trackio", found)
    assert [found[f"{when}/calibrated"][-1][1] for when in ("before", "after")] == result(), found


tensorboard()
for tracker in sys.argv[2:]:
    {"wandb": wandb, "mlflow": mlflow, "trackio": trackio}[tracker]()
