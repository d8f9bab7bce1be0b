"""A verifiers environment that does nothing but four turns of chat: what any dialogue costs there."""

import httpx
import verifiers.v1 as vf
from verifiers.v1.runtimes import ProgramResult

__all__ = ["BareHarness", "BareTaskset"]

TURNS = 4


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
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=60) as client:
            for _ in range(TURNS):
                body = {"model": ctx.model, "messages": messages}
                reply = (await client.post(f"{endpoint}/chat/completions", json=body)).raise_for_status().json()
                said = reply["choices"][0]["message"]["content"]
                messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "Go on."}]
        return ProgramResult(exit_code=0, stdout="", stderr="")
