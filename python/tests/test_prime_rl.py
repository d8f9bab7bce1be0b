"""The prime-rl side of Ask-E: its loss against the Rust one, its configuration against prime-rl's own classes."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"
CONFIGS = Path(__file__).parents[2] / "configs"
PRIME_RL = CONFIGS / "prime-rl"


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


# ---- The loss --------------------------------------------------------------------------------------------------


@dataclass
class Inputs:
    """The fields of prime-rl's `LossInputs`."""

    trainer_logprobs: Any
    inference_logprobs: Any
    ref_logprobs: Any
    advantages: Any
    loss_mask: Any
    loss_weights: Any = None


@dataclass
class Outputs:
    """The fields of prime-rl's `LossOutputs`."""

    loss: Any
    metrics: dict[str, Any]


@pytest.fixture
def step() -> dict[str, Any]:
    """Written by the Rust loss: `cargo test -p aske-train --test cispo`."""
    return json.loads((DATA / "cispo.json").read_text())


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The hook as prime-rl imports it, with a stand-in where prime-rl is not installed."""
    pytest.importorskip("torch")
    try:
        import prime_rl.trainer.rl.loss  # noqa: F401
    except ImportError:
        stand_in = ModuleType("prime_rl.trainer.rl.loss")
        stand_in.LossOutputs = Outputs  # type: ignore[attr-defined]
        for name in ("prime_rl", "prime_rl.trainer", "prime_rl.trainer.rl"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    from aske_env.prime_rl import cispo

    return cispo


def tensors(sequence: dict[str, Any]) -> Inputs:
    import torch

    logp = torch.tensor(sequence["trainer"], dtype=torch.float64, requires_grad=True)
    before = torch.tensor(sequence["inference"], dtype=torch.float64)
    mask = torch.tensor(sequence["mask"])
    return Inputs(logp, before, None, torch.full_like(before, sequence["advantage"]), mask)


def furthest(hook: Any, step: dict[str, Any], **bounds: float) -> float:
    """How far loss and gradients are from the Rust ones, scaled as prime-rl scales them."""
    gaps = []
    for sequence in step["sequences"]:
        inputs = tensors(sequence)
        loss = hook(inputs, **bounds).loss / step["tokens"]
        loss.backward()
        gaps.append(abs(loss.item() - sequence["loss"]))
        gaps += [abs(a - b) for a, b in zip(inputs.trainer_logprobs.grad.tolist(), sequence["slopes"], strict=True)]
    return max(gaps)


def test_loss_and_gradients_match_rust(hook: Any, step: dict[str, Any]) -> None:
    kwargs = toml(PRIME_RL / "rl.toml")["trainer"]["loss"]["kwargs"]
    assert kwargs == {"clip_low": step["clip_low"], "clip_high": step["clip_high"]}
    assert furthest(hook, step, **kwargs) < 1e-6
    assert furthest(hook, step) < 1e-6, "the defaults are the paper's too"


@pytest.mark.parametrize("other", [{"clip_low": 0.7}, {"clip_low": 0.8}, {"clip_high": 2.9}, {"clip_high": 3.1}])
def test_other_bounds_give_another_loss(hook: Any, step: dict[str, Any], other: dict[str, float]) -> None:
    assert furthest(hook, step, **other) > 1e-4


def test_metrics_report_the_share_of_clipped_tokens(hook: Any, step: dict[str, Any]) -> None:
    for sequence in step["sequences"]:
        metrics = hook(tensors(sequence)).metrics
        own = sum(sequence["mask"])
        assert metrics["cispo/clipped_low"].item() * own == pytest.approx(sequence["clipped_low"])
        assert metrics["cispo/clipped_high"].item() * own == pytest.approx(sequence["clipped_high"])


def test_weights_scale_the_loss_and_an_empty_mask_gives_zero(hook: Any, step: dict[str, Any]) -> None:
    import torch

    sequence = step["sequences"][0]
    plain, weighted, empty = tensors(sequence), tensors(sequence), tensors(sequence)
    weighted.loss_weights = torch.full_like(weighted.advantages, 0.5)
    empty.loss_mask = torch.zeros_like(empty.loss_mask)
    assert hook(weighted).loss.item() == pytest.approx(hook(plain).loss.item() / 2)
    nothing = hook(empty)
    nothing.loss.backward()
    assert nothing.loss.item() == 0.0
    assert empty.trainer_logprobs.grad.abs().max().item() == 0.0
    assert all(value.item() == 0.0 for value in nothing.metrics.values())


def test_the_loss_through_prime_rl_matches_rust(step: dict[str, Any]) -> None:
    """Through prime-rl's own loader of losses and its own sum over sequences."""
    reason = "needs prime-rl: see docs/cluster.md"
    theirs = pytest.importorskip("prime_rl.trainer.rl.loss", reason=reason, exc_type=ImportError)
    from prime_rl.configs.trainer import CustomLossConfig

    config = CustomLossConfig(**toml(PRIME_RL / "rl.toml")["trainer"]["loss"])
    every = [tensors(sequence) for sequence in step["sequences"]]
    loss, metrics = theirs.compute_loss(
        trainer_logprobs=[inputs.trainer_logprobs for inputs in every],
        inference_logprobs=[inputs.inference_logprobs for inputs in every],
        ref_logprobs=None,
        advantages=[inputs.advantages for inputs in every],
        loss_mask=[inputs.loss_mask for inputs in every],
        rl_weights=None,
        ce_weights=None,
        ref_kl_weights=None,
        rl_loss_fn=theirs.setup_rl_loss_fn(config),
        rl_scale=step["tokens"],
        ce_scale=1,
        ref_kl_scale=1,
    )
    loss.backward()
    assert loss.item() == pytest.approx(step["loss"], abs=1e-6)
    for inputs, sequence in zip(every, step["sequences"], strict=True):
        assert inputs.trainer_logprobs.grad.tolist() == pytest.approx(sequence["slopes"], abs=1e-6)
    assert metrics["cispo/ratio"].shape == (len(every),)


# ---- The configuration -----------------------------------------------------------------------------------------


def test_rl_toml_has_the_settings_of_paper_train() -> None:
    """Two files for one run: prime-rl's, and the one that `aske train` reads."""
    theirs, ours = toml(PRIME_RL / "rl.toml"), toml(CONFIGS / "paper-train.toml")
    train, optim = ours["train"], theirs["trainer"]["optim"]
    orchestrator, sampling = theirs["orchestrator"], theirs["orchestrator"]["train"]["sampling"]
    assert theirs["max_steps"] == train["steps"] == 200
    assert orchestrator["batch_size"] == train["groups"] * train["group_size"] == 256
    assert orchestrator["group_size"] == train["group_size"] == 16
    clip = {"clip_low": train["clip_ratio_low"], "clip_high": train["clip_ratio_high"]}
    assert theirs["trainer"]["loss"]["kwargs"] == clip
    assert optim["lr"] == train["learning_rate"] == 1e-6
    assert [optim["betas1"], optim["betas2"]] == train["adam_betas"]
    assert optim["weight_decay"] == train["weight_decay"] == 0.01
    assert optim["max_norm"] == train["max_grad_norm"] == 1.0
    assert train["adam_eps"] == 1e-8, "PyTorch's own, which prime-rl leaves as it is"
    schedule = theirs["trainer"]["scheduler"]
    assert schedule == {"type": "linear", "warmup_steps": train["warmup_steps"], "decay_steps": 0}
    assert theirs["seq_len"] == train["max_train_tokens"] == 24576
    assert theirs["inference"]["vllm"]["max_model_len"] == train["max_sample_tokens"] == 32768
    assert sampling["temperature"] == ours["asker"]["sampling"]["temperature"] == 1.0
    assert sampling["max_completion_tokens"] == ours["protocol"]["asker_tokens"] == 4000
    assert orchestrator["max_off_policy_steps"] == 1
    assert orchestrator["train"]["filter_zero_advantages"] is False, "else the loss has another divisor"
    assert orchestrator["renderer"]["enable_thinking"] is False


def test_every_boundary_solver_has_an_address_and_every_gpu_has_four() -> None:
    text = (PRIME_RL / "aske.toml").read_text()
    models = tomllib.loads(text)["models"]
    small = toml(CONFIGS / "paper-models.toml")["sets"]["small"]["solvers"]
    assert set(models) == {*small, toml(CONFIGS / "paper-train.toml")["asker"]["model"]}
    addresses = [model["url"] for model in models.values()]
    assert len(set(addresses)) == len(addresses)
    gpus = re.split(r"# GPU \d", text)[1:]
    assert [len(tomllib.loads(gpu)["models"]) for gpu in gpus] == [4, 4, 4]


def schema_errors(document: dict[str, Any]) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((DATA / "prime-rl.schema.json").read_text())
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]


def test_rl_toml_matches_the_schema() -> None:
    assert schema_errors(toml(PRIME_RL / "rl.toml")) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("trainer.optim.learning_rate", 1e-6),
        ("trainer.loss.import_path", 3),
        ("orchestrator.max_off_policy_steps", -1),
        ("orchestrator.train.sampling.top_p", 0.9),
        ("inference.enable_fp32_head", True),
        ("deployment.num_boundary_gpus", 3),
    ],
)
def test_the_schema_rejects_unknown_keys_and_wrong_values(path: str, value: Any) -> None:
    document = toml(PRIME_RL / "rl.toml")
    *way, last = path.split(".")
    table = document
    for name in way:
        table = table[name]
    table[last] = value
    assert schema_errors(document)


@pytest.fixture
def rl_config() -> Any:
    """prime-rl's own class."""
    reason = "needs prime-rl-configs: see make_schema.py"
    return pytest.importorskip("prime_rl.configs.rl", reason=reason, exc_type=ImportError).RLConfig


def test_the_schema_is_up_to_date(rl_config: Any) -> None:
    from make_schema import FILE, schema

    assert json.loads(FILE.read_text()) == schema(), "write it anew: python python/tests/make_schema.py"


def test_prime_rl_accepts_rl_toml(rl_config: Any) -> None:
    from pydantic_config import cli
    from verifiers.v1.utils.loaders import taskset_class

    try:
        taskset_class("aske-env")
    except (AttributeError, ImportError) as error:
        pytest.skip(f"needs the wheel aske-env: {error}")
    run = cli(rl_config, args=["@", str(PRIME_RL / "rl.toml")])
    assert (run.trainer.model.seq_len, run.orchestrator.seq_len) == (24576, 24576)
    assert (run.trainer.max_steps, run.orchestrator.max_steps) == (200, 200)
    assert run.trainer.model.name == run.orchestrator.model.name == run.inference.vllm.model == "Qwen/Qwen3.5-4B"
    assert run.orchestrator.num_train_workers == 4
    assert run.inference.vllm.data_parallel_size == 4
    assert run.trainer.weight_broadcast.inference_world_size == 4
    assert run.inference.vllm.reasoning_parser is None
    (source,) = run.orchestrator.train.source
    assert (source.group_size, source.sampling.temperature, source.env.taskset.id) == (16, 1.0, "aske-env")
    assert source.env.taskset.config == "configs/prime-rl/aske.toml"
