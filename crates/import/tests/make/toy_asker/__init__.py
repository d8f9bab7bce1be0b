"""A toy environment for traces.py: one asker, two solvers, one cross-check, all on one server."""

import asyncio
import os

import verifiers.v1 as vf
from openai import AsyncOpenAI

SYSTEM = "Find a sum that exactly one of two models gets right. Write #Reasoning#, #Draft# and #Question#."
ROUNDS = 2


def boxed(text):
    return text.rpartition("\\boxed{")[2].partition("}")[0]


class ToyConfig(vf.TasksetConfig):
    pass


class ToyData(vf.TaskData):
    boundary_a: str
    boundary_b: str
    sample: int


class ToyTask(vf.Task[ToyData, vf.State, vf.TaskConfig]):
    pass


class ToyTaskset(vf.Taskset[ToyTask, ToyConfig]):
    def load(self):
        for one, two in [("solver-30", "solver-80"), ("solver-60", "solver-90")]:
            for sample in range(2):
                prompt = f"Begin ({one}, {two}, {sample})."
                data = ToyData(prompt=prompt, system_prompt=SYSTEM, boundary_a=one, boundary_b=two, sample=sample)
                yield ToyTask(data, self.config.task)


class ToyEnvConfig(vf.EnvConfig):
    asker: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class ToyEnv(vf.Env[ToyEnvConfig]):
    async def solve(self, model, question, draw):
        models = AsyncOpenAI(base_url=os.environ["TOY_URL"], api_key="none")
        wanted = f"{question}\nEnd with #Summary#."
        reply = await models.chat.completions.create(
            model=model, seed=draw, messages=[{"role": "user", "content": wanted}]
        )
        return reply.choices[0].message.content

    async def run(self, task, agents):
        data = task.data
        async with agents.asker.interaction(task) as interaction:
            segment = await interaction.turn()
            for turn in range(1, ROUNDS + 1):
                question = segment.last_reply.rpartition("#Question#")[2].strip()
                replies = [await self.solve(name, question, data.sample) for name in (data.boundary_a, data.boundary_b)]
                one, two = (reply.rpartition("#Summary#")[2].strip() for reply in replies)
                then = "the last question" if turn == ROUNDS else "one more question"
                segment = await interaction.turn(
                    f"Model 1 answered:\n{one}\n\nModel 2 answered:\n{two}\n\nThink in #Reasoning#, then write {then}."
                )
            question = segment.last_reply.rpartition("#Question#")[2].strip()
            solvers = (data.boundary_a, data.boundary_b)
            one, two, check = await asyncio.gather(
                *(self.solve(name, question, data.sample) for name in solvers), self.solve("check", question, 0)
            )
        trace = interaction.trace
        right = (boxed(one) == boxed(check)) + (boxed(two) == boxed(check))
        trace.record_reward("calibration", [-0.2, 1.0, 0.2][right])
        trace.info |= {"final_replies": [one, two], "reference": check}


__all__ = ["ToyTaskset", "ToyEnv"]
