"""Makes ../data/results with verifiers 0.3.1 and `aske-testserver --pad-words 6`.

python results.py http://127.0.0.1:PORT/v1 FOLDER
"""

import asyncio
import sys
from pathlib import Path

import verifiers.legacy as vf
from datasets import Dataset
from openai import AsyncOpenAI

SYSTEM = "Find a sum that exactly one of two models gets right. Write #Reasoning#, #Draft# and #Question#."
ROUNDS = 2


def boxed(text):
    return text.rpartition("\\boxed{")[2].partition("}")[0]


class Toy(vf.MultiTurnEnv):
    def __init__(self, url, **more):
        super().__init__(max_turns=ROUNDS + 2, **more)
        self.models = AsyncOpenAI(base_url=url, api_key="none")

    async def solve(self, model, question, draw):
        wanted = f"{question}\nEnd with #Summary#."
        reply = await self.models.chat.completions.create(
            model=model, seed=draw, messages=[{"role": "user", "content": wanted}]
        )
        return reply.choices[0].message.content

    async def env_response(self, messages, state, **more):
        info = state["info"]
        turn = len(state["trajectory"])
        last = messages[-1]["content"] or ""
        question = last.rpartition("#Question#")[2].strip() if "#Question#" in last else ""
        if turn > ROUNDS:
            state["final_env_response"] = "end"
            if question:
                one, two, *check = await asyncio.gather(
                    *(self.solve(info[side], question, info["sample"]) for side in ("boundary_a", "boundary_b")),
                    *(self.solve("check", question, draw) for draw in range(3)),
                )
                info |= {"boundary_a_final_answer": boxed(one), "boundary_b_final_answer": boxed(two)}
                info["cross_check_answers"] = [boxed(reply) for reply in check]
                right = (boxed(one) == boxed(check[0])) + (boxed(two) == boxed(check[0]))
                agree = len(set(info["cross_check_answers"])) == 1
                info["outcome"] = ["too_hard", "calibrated", "too_easy"][right] if agree else "bad_cross_check"
            else:
                info["outcome"] = "no_question"
            return [{"role": "user", "content": "That is all."}]
        if not question:
            return [{"role": "user", "content": "There was no question. Write all three sections."}]
        replies = [await self.solve(info[side], question, info["sample"]) for side in ("boundary_a", "boundary_b")]
        one, two = (reply.rpartition("#Summary#")[2].strip() for reply in replies)
        then = "the last question" if turn == ROUNDS else "one more question"
        text = f"Model 1 answered:\n{one}\n\nModel 2 answered:\n{two}\n\nThink in #Reasoning#, then write {then}."
        return [{"role": "user", "content": text}]


async def calibration(state, **more):
    return {"calibrated": 1.0, "too_easy": 0.2}.get(state["info"].get("outcome"), -0.2)


def main(url, folder):
    pairs = [("solver-30", "solver-80"), ("solver-60", "solver-90")]
    rows = [
        {
            "prompt": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"Begin ({pair}, {sample})."}],
            "info": {"boundary_a": one, "boundary_b": two, "sample": sample},
            "answer": "",
        }
        for pair, (one, two) in enumerate(pairs)
        for sample in range(3)
    ]
    env = Toy(url, dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[calibration], weights=[1.0]))
    client = vf.ClientConfig(api_base_url=url, api_key_var="HOME")
    asyncio.run(env.evaluate(client, "asker/toy-1", save_results=True, results_path=Path(folder)))


main(*sys.argv[1:])
