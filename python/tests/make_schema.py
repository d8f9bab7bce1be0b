"""Writes data/prime-rl.schema.json: the JSON schema of prime-rl's `rl` command, from its own classes.

It needs Python 3.12 and the package `prime-rl-configs`, which has no GPU dependencies:

    git clone https://github.com/PrimeIntellect-ai/prime-rl && git -C prime-rl checkout COMMIT
    pip install ./prime-rl/packages/prime-rl-configs
    python python/tests/make_schema.py

with the commit that configs/prime-rl/rl.toml names. Descriptions, titles and defaults are left out. The environment
of a source is the one with a single agent, and its taskset may have fields of its own: both are chosen by the taskset's
name when a file is read, which a schema cannot say.
"""

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "data" / "prime-rl.schema.json"
LEFT_OUT = {"description": str, "title": str, "default": object, "discriminator": dict}


def bare(node: Any, names: bool = False) -> Any:
    """A schema without what no check needs. Below `properties` and `$defs` the keys are names, not keywords."""
    if isinstance(node, list):
        return [bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: bare(value, not names and key in ("properties", "$defs"))
        for key, value in node.items()
        if names or not isinstance(value, LEFT_OUT.get(key, ()))
    }


def schema() -> dict[str, Any]:
    """The schema of a file for `rl`."""
    import verifiers.v1 as vf
    from prime_rl.configs.rl import RLConfig

    whole = RLConfig.model_json_schema()
    definitions = whole["$defs"]
    single = vf.SingleAgentEnvConfig.model_json_schema()
    definitions |= {name: value for name, value in single.pop("$defs").items() if name not in definitions}
    definitions["EnvConfig"] = single
    definitions["TasksetConfig"]["additionalProperties"] = True
    return bare(whole)


if __name__ == "__main__":
    FILE.write_text(json.dumps(schema(), sort_keys=True, separators=(",", ":")) + "\n")
