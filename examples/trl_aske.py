"""Ask-E as an environment for TRL's GRPOTrainer.

    aske serve env --config paper-train          # boundary solvers, grading and reward
    python examples/trl_aske.py                  # the policy; needs trl, and datasets

`AskE` is a complete client that needs only the standard library; other trainers (SkyRL, verl, OpenEnv) can reuse it.
"""

import argparse
import http.client
import json
import os
import time
import urllib.error
import urllib.request
import uuid


class Failure(Exception):
    """The infrastructure failed: the episode has no score and must be dropped."""


class AskE:
    """Client of `aske serve env`."""

    def __init__(self, url="http://127.0.0.1:8078", tries=8, timeout=3600, token=None):
        """`token` is the token of the server; by default ASKE_TOKEN, if set."""
        self.url, self.tries, self.timeout = url, tries, timeout
        self.token = token or os.environ.get("ASKE_TOKEN")

    def call(self, method, path, body=None):
        """Sends a request. Retries lost replies, full servers and transient failures; every request may be repeated."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        for left in reversed(range(self.tries)):
            request = urllib.request.Request(self.url + path, data, headers, method=method)
            if self.token:
                # Not sent to the target of a redirect.
                request.add_unredirected_header("Authorization", f"Bearer {self.token}")
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as reply:
                    return json.loads(reply.read() or "null")
            except urllib.error.HTTPError as error:
                body = json.loads(error.read() or "{}")
                if error.code not in (429, 503) or not left:
                    kind = Failure if body.get("failure") else RuntimeError
                    raise kind(f"{body.get('error')} ({body.get('hint')})") from None
                time.sleep(float(error.headers.get("Retry-After", 1)))
            except (OSError, http.client.HTTPException) as error:
                if not left:
                    raise Failure(str(error)) from error
                time.sleep(1)

    def pairs(self):
        return self.call("GET", "/v1/pairs")["pairs"]

    def novelty(self, step, questions):
        """Novelty of these questions against those of all workers so far. The key makes retries idempotent."""
        body = {"step": step, "key": uuid.uuid4().hex, "questions": questions}
        return self.call("POST", "/v1/diversity", body)["novelty"]

    def play(self, pairs, generate, again=2):
        """Plays one episode per pair in parallel; None lets the environment choose a pair. `generate(indices,
        conversations, max_tokens, temperature)` returns a text and a finish reason for each conversation; `indices` are
        those of the episodes, and `temperature` is None for turns that are trained on. Episodes that fail because of the
        infrastructure are started again, at most `again` times. Returns the sessions, whose rewards are then available."""
        episodes = [self.create(pair) for pair in pairs]
        while waiting := [i for i, episode in enumerate(episodes) if episode["need"] != "done"]:
            request = {name: episodes[waiting[0]].get(name) for name in ("need", "max_tokens", "temperature")}
            batch = [i for i in waiting if all(episodes[i].get(name) == request[name] for name in request)]
            indices = [i for i in batch for _ in range(episodes[i].get("draws", 1))]
            conversations = [episodes[i]["messages"] for i in indices]
            replies = generate(indices, conversations, request["max_tokens"], request["temperature"])
            for i in batch:
                own = [reply for index, reply in zip(indices, replies) if index == i]
                try:
                    episodes[i] |= self.answer(episodes[i], own)
                except Failure:
                    if not again:
                        raise
                    again -= 1
                    episodes[i] = self.create(pairs[i])
        return ["/v1/sessions/" + episode["session"] for episode in episodes]

    def create(self, pair):
        return self.call("POST", "/v1/sessions", {"pair": pair} if pair else {})

    def answer(self, episode, replies):
        """Sends the replies that an episode needs; returns what it needs next."""
        answers = [{"content": content, "finish_reason": reason} for content, reason in replies]
        if episode["need"] == "ask":
            path, body = "step", {"turn": episode["turn"]} | answers[0]
        else:  # The policy is its own cross-check solver.
            path, body = "judge", {"answers": answers}
        return self.call("POST", f"/v1/sessions/{episode['session']}/{path}", body)

    def reward(self, session, novelty=0.0):
        return self.call("GET", f"{session}/reward?novelty={novelty}")

    def close(self, session):
        self.call("DELETE", session)


def rollouts(environment):
    """TRL's `rollout_func`: one episode per prompt, which is the name of a pair."""

    def rollout(prompts, trainer):
        # Only tokens of the policy are trained on; those between its turns are masked.
        tokens = [{"prompt_ids": [], "completion_ids": [], "env_mask": []} for _ in prompts]

        def generate(indices, conversations, max_tokens, temperature):
            replies = sample(trainer, conversations, max_tokens, temperature)
            for i, (prompt, completion) in zip(indices, replies):
                if temperature is None:  # Answers as cross-check solver are not trained on.
                    add(tokens[i], prompt, completion)
            decode = trainer.processing_class.decode
            ends = ["length" if len(completion) >= max_tokens else "stop" for _, completion in replies]
            texts = [decode(completion, skip_special_tokens=True) for _, completion in replies]
            return list(zip(texts, ends))

        sessions = environment.play(prompts, generate)
        # One request for the novelty of all questions; episodes without a question have none.
        questions = [environment.reward(session)["question"] for session in sessions]
        novelty = iter(environment.novelty(trainer.state.global_step, [q for q in questions if q]))
        novelties = [next(novelty) if question else 0.0 for question in questions]
        totals = [environment.reward(*each)["total"] for each in zip(sessions, novelties)]
        for session in sessions:
            environment.close(session)
        columns = {name: [each[name] for each in tokens] for name in tokens[0]}
        return columns | {"logprobs": None, "total": totals}

    return rollout


def add(tokens, prompt, completion):
    """Appends a turn to the tokens of an episode: `prompt` is all the policy has read, `completion` what it generated."""
    seen = tokens["prompt_ids"] + tokens["completion_ids"]
    if not seen or prompt[: len(seen)] != seen:
        # The first turn, or the template renders earlier turns differently (without thinking): they are context only.
        tokens.update(prompt_ids=prompt, completion_ids=[], env_mask=[])
        seen = prompt
    between = prompt[len(seen) :]
    tokens["completion_ids"] += between + completion
    tokens["env_mask"] += [0] * len(between) + [1] * len(completion)


def sample(trainer, conversations, max_tokens, temperature):
    """Samples replies of the policy with transformers; returns prompt and completion tokens."""
    import torch
    from trl.models import unwrap_model_for_generation

    tokenizer = trainer.processing_class
    texts = tokenizer.apply_chat_template(conversations, add_generation_prompt=True, tokenize=False)
    batch = tokenizer(texts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False)
    how = {"do_sample": False} if temperature == 0 else {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    with torch.no_grad(), unwrap_model_for_generation(trainer.model_wrapped, trainer.accelerator) as model:
        out = model.generate(**batch.to(model.device), max_new_tokens=max_tokens, **how)
    written = out[:, batch["input_ids"].shape[1] :].tolist()
    ends = torch.as_tensor(model.generation_config.eos_token_id).flatten().tolist()
    read = [ids[mask.bool()].tolist() for ids, mask in zip(batch["input_ids"], batch["attention_mask"])]
    until = [next((at + 1 for at, token in enumerate(row) if token in ends), len(row)) for row in written]
    return [(ids, row[:end]) for ids, row, end in zip(read, written, until)]


def main():
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="Qwen/Qwen3-4B-Instruct-2507", help="a name on the hub, or a folder")
    parser.add_argument("--url", default="http://127.0.0.1:8078")
    parser.add_argument("--token", help="the server's token, if it requires one [default: ASKE_TOKEN]")
    parser.add_argument("--out", default="trl-aske")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--group", type=int, default=16, help="episodes per pair")
    parser.add_argument("--rate", type=float, default=1e-6)
    options = parser.parse_args()
    environment = AskE(options.url, token=options.token)
    config = GRPOConfig(
        output_dir=options.out,
        max_steps=options.steps,
        num_generations=options.group,
        per_device_train_batch_size=options.group,
        learning_rate=options.rate,
        temperature=1.0,
        beta=0.0,
        bf16=torch.cuda.is_available(),
        logging_steps=1,
        report_to="none",
    )
    trainer = GRPOTrainer(
        model=options.model,
        args=config,
        train_dataset=Dataset.from_dict({"prompt": environment.pairs()}),
        reward_funcs=lambda completions, total, **_: total,
        rollout_func=rollouts(environment),
    )
    trainer.train()


if __name__ == "__main__":
    main()
