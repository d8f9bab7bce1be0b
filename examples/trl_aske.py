"""Ask-E as an environment of TRL's GRPOTrainer.

    aske serve env --config paper-train          # boundary solvers, grading and reward
    python examples/trl_aske.py                  # the policy; needs trl with vLLM, and datasets

`AskE` is the whole client, on the standard library: other trainers (SkyRL, verl, OpenEnv) need no more of this file.
"""

import http.client
import json
import time
import urllib.error
import urllib.request
import uuid


class Failure(Exception):
    """The infrastructure failed: the episode has no score and must be dropped."""


class AskE:
    """The environment that `aske serve env` serves."""

    def __init__(self, url="http://127.0.0.1:8078", tries=8, timeout=3600):
        self.url, self.tries, self.timeout = url, tries, timeout

    def call(self, method, path, body=None):
        """One request. A lost reply, a full server or a passing failure is tried again; any request may be repeated."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        for left in reversed(range(self.tries)):
            request = urllib.request.Request(self.url + path, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as reply:
                    return json.loads(reply.read() or "null")
            except urllib.error.HTTPError as error:
                said = json.loads(error.read() or "{}")
                if error.code not in (429, 503) or not left:
                    kind = Failure if said.get("failure") else RuntimeError
                    raise kind(f"{said.get('error')} ({said.get('hint')})") from None
                time.sleep(float(error.headers.get("Retry-After", 1)))
            except (OSError, http.client.HTTPException) as error:
                if not left:
                    raise Failure(str(error)) from error
                time.sleep(1)

    def pairs(self):
        return self.call("GET", "/v1/pairs")["pairs"]

    def novelty(self, step, questions):
        """How new these questions are, against those of all workers so far. The key makes a repeated call harmless."""
        body = {"step": step, "key": uuid.uuid4().hex, "questions": questions}
        return self.call("POST", "/v1/diversity", body)["novelty"]

    def play(self, pair, generate):
        """One episode. `generate(messages, max_tokens, temperature)` gives a text and why it ended; the temperature is
        None where the policy explores. Returns the session, whose reward can now be asked for."""
        next_ = self.call("POST", "/v1/sessions", {"pair": pair} if pair else {})
        session = "/v1/sessions/" + next_["session"]
        while next_["need"] != "done":
            asked = (next_["messages"], next_["max_tokens"], next_.get("temperature"))
            if next_["need"] == "ask":
                content, reason = generate(*asked)
                body = {"turn": next_["turn"], "content": content, "finish_reason": reason}
                next_ = self.call("POST", session + "/step", body)
            else:
                # The policy is its own cross-check solver.
                replies = [generate(*asked) for _ in range(next_["draws"])]
                answers = [{"content": content, "finish_reason": reason} for content, reason in replies]
                next_ = self.call("POST", session + "/judge", {"answers": answers})
        return session

    def reward(self, session, novelty=0.0):
        return self.call("GET", f"{session}/reward?novelty={novelty}")

    def close(self, session):
        self.call("DELETE", session)


def rollouts(environment):
    """TRL's `rollout_func`: one episode for each prompt, which is the name of a pair."""
    from trl.experimental.openenv import generate_rollout_completions

    def episode(pair, trainer):
        # The policy's tokens are learnt from; those between its turns are masked.
        tokens = {"prompt_ids": [], "completion_ids": [], "logprobs": [], "env_mask": []}
        tokenizer = trainer.processing_class

        def generate(messages, max_tokens, temperature):
            text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
            over = {"max_tokens": max_tokens} | ({} if temperature is None else {"temperature": temperature})
            out = generate_rollout_completions(trainer, [text], generation_overrides=over)[0]
            whole, said = list(out["prompt_ids"]), list(out["completion_ids"])
            if temperature is None:  # A judge's answer is graded, not learnt from.
                seen = tokens["prompt_ids"] + tokens["completion_ids"]
                if not seen or whole[: len(seen)] != seen:
                    # The first turn; or earlier ones are written otherwise now (thinking left out), and only context.
                    tokens.update(prompt_ids=whole, completion_ids=[], logprobs=[], env_mask=[])
                    seen = whole
                between = whole[len(seen) :]
                tokens["completion_ids"] += between + said
                tokens["logprobs"] += [0.0] * len(between) + list(out["logprobs"])
                tokens["env_mask"] += [0] * len(between) + [1] * len(said)
            reason = "length" if len(said) >= max_tokens else "stop"
            return tokenizer.decode(said, skip_special_tokens=True), reason

        return environment.play(pair, generate), tokens

    def rollout(prompts, trainer):
        episodes = []
        for pair in prompts:
            for left in (2, 1, 0):
                try:
                    episodes.append(episode(pair, trainer))
                    break
                except Failure:  # Not a score: another episode takes its place.
                    if not left:
                        raise
        # The novelty of this worker's questions is asked for at once; without a question there is none.
        questions = [environment.reward(session)["question"] for session, _ in episodes]
        told = iter(environment.novelty(trainer.state.global_step, [q for q in questions if q]))
        totals = []
        for (session, _), question in zip(episodes, questions):
            totals.append(environment.reward(session, next(told) if question else 0.0)["total"])
            environment.close(session)
        return {name: [tokens[name] for _, tokens in episodes] for name in episodes[0][1]} | {"total": totals}

    return rollout


def main():
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    environment = AskE()
    trainer = GRPOTrainer(
        model="Qwen/Qwen3-4B-Instruct-2507",
        args=GRPOConfig(output_dir="trl-aske", use_vllm=True, vllm_mode="colocate", num_generations=8, temperature=1.0),
        train_dataset=Dataset.from_dict({"prompt": environment.pairs()}),
        reward_funcs=lambda completions, total, **_: total,
        rollout_func=rollouts(environment),
    )
    trainer.train()


if __name__ == "__main__":
    main()
