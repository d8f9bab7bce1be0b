"""Ask-E as an environment of TRL's GRPOTrainer.

    aske serve env --config paper-train          # boundary solvers, grading and reward
    python examples/trl_aske.py                  # the policy; needs trl, and datasets

`AskE` is the whole client, on the standard library: other trainers (SkyRL, verl, OpenEnv) need no more of this file.
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
    """The environment that `aske serve env` serves."""

    def __init__(self, url="http://127.0.0.1:8078", tries=8, timeout=3600, token=None):
        """The token is that of the server; without one, that in ASKE_TOKEN, if any."""
        self.url, self.tries, self.timeout = url, tries, timeout
        self.token = token or os.environ.get("ASKE_TOKEN")

    def call(self, method, path, body=None):
        """One request. A lost reply, a full server or a passing failure is tried again; any request may be repeated."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        for left in reversed(range(self.tries)):
            request = urllib.request.Request(self.url + path, data, headers, method=method)
            if self.token:
                # Not sent on to where a redirect may lead.
                request.add_unredirected_header("Authorization", f"Bearer {self.token}")
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

    def play(self, pairs, generate, again=2):
        """Episodes side by side, one for each pair; None lets the environment choose one. `generate(places,
        conversations, max_tokens, temperature)` gives a text and why it ended for each conversation; the places tell
        whose they are, and the temperature is None where the policy explores. Where the infrastructure fails, another
        episode takes its place, so many times. Returns the sessions, whose reward can now be asked for."""
        episodes = [self.create(pair) for pair in pairs]
        while waiting := [place for place, episode in enumerate(episodes) if episode["need"] != "done"]:
            asked = {name: episodes[waiting[0]].get(name) for name in ("need", "max_tokens", "temperature")}
            places = [place for place in waiting if all(episodes[place].get(name) == asked[name] for name in asked)]
            wanted = [place for place in places for _ in range(episodes[place].get("draws", 1))]
            conversations = [episodes[place]["messages"] for place in wanted]
            replies = generate(wanted, conversations, asked["max_tokens"], asked["temperature"])
            for place in places:
                own = [reply for whose, reply in zip(wanted, replies) if whose == place]
                try:
                    episodes[place] |= self.answer(episodes[place], own)
                except Failure:
                    if not again:
                        raise
                    again -= 1
                    episodes[place] = self.create(pairs[place])
        return ["/v1/sessions/" + episode["session"] for episode in episodes]

    def create(self, pair):
        return self.call("POST", "/v1/sessions", {"pair": pair} if pair else {})

    def answer(self, episode, replies):
        """Brings what an episode has asked for; gives what it needs next."""
        said = [{"content": content, "finish_reason": reason} for content, reason in replies]
        if episode["need"] == "ask":
            path, body = "step", {"turn": episode["turn"]} | said[0]
        else:  # The policy is its own cross-check solver.
            path, body = "judge", {"answers": said}
        return self.call("POST", f"/v1/sessions/{episode['session']}/{path}", body)

    def reward(self, session, novelty=0.0):
        return self.call("GET", f"{session}/reward?novelty={novelty}")

    def close(self, session):
        self.call("DELETE", session)


def rollouts(environment):
    """TRL's `rollout_func`: one episode for each prompt, which is the name of a pair."""

    def rollout(prompts, trainer):
        # The policy's tokens are learnt from; those between its turns are masked.
        tokens = [{"prompt_ids": [], "completion_ids": [], "env_mask": []} for _ in prompts]

        def generate(places, conversations, max_tokens, temperature):
            replies = write(trainer, conversations, max_tokens, temperature)
            for place, (whole, said) in zip(places, replies):
                if temperature is None:  # A judge's answer is graded, not learnt from.
                    add(tokens[place], whole, said)
            decode = trainer.processing_class.decode
            ends = ["length" if len(said) >= max_tokens else "stop" for _, said in replies]
            return [(decode(said, skip_special_tokens=True), end) for (_, said), end in zip(replies, ends)]

        sessions = environment.play(prompts, generate)
        # The novelty of this worker's questions is asked for at once; without a question there is none.
        questions = [environment.reward(session)["question"] for session in sessions]
        told = iter(environment.novelty(trainer.state.global_step, [q for q in questions if q]))
        novelties = [next(told) if question else 0.0 for question in questions]
        totals = [environment.reward(*each)["total"] for each in zip(sessions, novelties)]
        for session in sessions:
            environment.close(session)
        columns = {name: [each[name] for each in tokens] for name in tokens[0]}
        return columns | {"logprobs": None, "total": totals}

    return rollout


def add(tokens, whole, said):
    """Appends a turn to an episode's tokens: `whole` is all that the policy has read, `said` what it wrote."""
    seen = tokens["prompt_ids"] + tokens["completion_ids"]
    if not seen or whole[: len(seen)] != seen:
        # The first turn; or earlier ones are written otherwise now (thinking left out), and only context.
        tokens.update(prompt_ids=whole, completion_ids=[], env_mask=[])
        seen = whole
    between = whole[len(seen) :]
    tokens["completion_ids"] += between + said
    tokens["env_mask"] += [0] * len(between) + [1] * len(said)


def write(trainer, conversations, max_tokens, temperature):
    """Replies of the policy by transformers, as the tokens that it read and those that it wrote."""
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
    parser.add_argument("--token", help="the server's token, where it requires one [default: ASKE_TOKEN]")
    parser.add_argument("--out", default="trl-aske")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--group", type=int, default=16, help="episodes on one pair")
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
