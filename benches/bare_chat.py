"""A verifiers environment with four turns of chat and nothing else: the baseline cost of a dialogue."""

from functools import lru_cache

import aiohttp
import verifiers.v1 as vf
from verifiers.v1.runtimes import ProgramResult

__all__ = ["BareHarness", "BareTaskset"]

TURNS = 4


@lru_cache
def client():
    """One per process, because creating one takes longer than a whole dialogue."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


class BareTask(vf.Task[vf.TaskData]):
    @vf.reward
    async def turns(self, trace: vf.Trace) -> float:
        return float(trace.num_turns)


class BareTaskset(vf.Taskset[BareTask, vf.TasksetConfig]):
    def load(self):
        yield BareTask(vf.TaskData(prompt="Ask."), self.config.task)


class BareHarnessConfig(vf.HarnessConfig):
    id: str = "bare_chat"


class BareHarness(vf.Harness[BareHarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        messages = [{"role": "user", "content": data.prompt}]
        headers = {"Authorization": f"Bearer {secret}"}
        for _ in range(TURNS):
            body = {"model": ctx.model, "messages": messages}
            async with client().post(f"{endpoint}/chat/completions", json=body, headers=headers) as reply:
                reply.raise_for_status()
                said = (await reply.json())["choices"][0]["message"]["content"]
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "Go on."}]
        return ProgramResult(exit_code=0, stdout="", stderr="")
