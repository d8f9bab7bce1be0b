"""`aske serve models` through the real `openai` client: chat, streams, stop strings, usage, many at once, hanging up.

    python crates/serve/tests/openai_client.py PROGRAM [MODEL [OPTION…]]

`scripts/clients` runs it on the nano world; with a model and options (`--config local`) it asks any other.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request

import openai

PROGRAM, MODEL, OPTIONS = sys.argv[1], (sys.argv[2:3] or ["nano-1m"])[0], sys.argv[3:]
# A question that no other model hesitates over: llama.cpp rounds otherwise when a prompt was read among others, and a near
# tie may then fall the other way.
QUESTION = "What is 12 + 7?" if MODEL.startswith("nano-") else "Write the numbers from 1 to 30, with commas."
ASKED = [{"role": "user", "content": QUESTION}]
LONG = {"ignore_eos": True}


def words(client, **more):
    """A streamed reply: its text, why it ended, and what the last part says was used."""
    text, end, used = "", None, None
    for part in client.chat.completions.create(
        model=MODEL, messages=ASKED, stream=True, stream_options={"include_usage": True}, **more
    ):
        for choice in part.choices:
            text += choice.delta.content or ""
            end = choice.finish_reason or end
        used = part.usage or used
    return text, end, used


def chat(client):
    assert MODEL in [model.id for model in client.models.list()]
    assert client.models.retrieve(MODEL).id == MODEL
    ask = lambda **more: client.chat.completions.create(model=MODEL, messages=ASKED, **more)
    whole = ask(seed=3, max_tokens=40)
    reply, used = whole.choices[0], whole.usage
    assert reply.message.role == "assistant" and reply.message.content, whole
    assert used.total_tokens == used.prompt_tokens + used.completion_tokens, used
    assert 0 < used.completion_tokens <= 40 and used.prompt_tokens > 5, used
    longer = ASKED + [{"role": "assistant", "content": "It is 19. " * 8}] + ASKED
    ask = lambda **more: client.chat.completions.create(model=MODEL, messages=longer, **more)
    ask(max_tokens=1)
    again = ask(max_tokens=1)
    assert again.usage.prompt_tokens_details.cached_tokens > 0, "the prompt was read before"
    several = client.chat.completions.create(model=MODEL, messages=ASKED, n=3, max_tokens=40)
    assert [choice.index for choice in several.choices] == [0, 1, 2]
    assert several.usage.prompt_tokens == used.prompt_tokens, "one prompt counts once"


def streams(client):
    for seed in range(4):
        whole = client.chat.completions.create(model=MODEL, messages=ASKED, seed=seed, max_tokens=40, temperature=0)
        text, end, used = words(client, seed=seed, max_tokens=40, temperature=0)
        assert (text, end) == (whole.choices[0].message.content, whole.choices[0].finish_reason)
        assert used.completion_tokens == whole.usage.completion_tokens
    cut = client.chat.completions.create(model=MODEL, messages=ASKED, max_tokens=5, extra_body=LONG)
    assert cut.choices[0].finish_reason == "length" and cut.usage.completion_tokens == 5


def stops(client):
    text, _, _ = words(client, max_tokens=40, temperature=0)
    stop = text[len(text) // 2 :][:3]
    before = text[: text.index(stop)]
    for given in (stop, [stop, "never there"]):
        said, end, _ = words(client, max_tokens=40, temperature=0, stop=given)
        assert (said, end) == (before, "stop"), (text, stop, said, end)
        whole = client.chat.completions.create(
            model=MODEL, messages=ASKED, max_tokens=40, temperature=0, stop=given
        )
        assert whole.choices[0].message.content == before


def errors(client):
    ask = client.chat.completions.create
    for kind, name, more in [
        (openai.NotFoundError, None, {"model": "no-such-model"}),
        (openai.BadRequestError, "temperature", {"temperature": -1}),
        (openai.BadRequestError, "tools", {"tools": [{"type": "function", "function": {"name": "f"}}]}),
        (openai.BadRequestError, None, {"messages": [{"role": "user", "content": "word " * 200_000}]}),
    ]:
        for stream in (False, True):
            try:
                ask(**({"model": MODEL, "messages": ASKED, "stream": stream} | more))
                raise SystemExit(f"{more} was answered")
            except kind as error:
                assert error.param == name and error.body["message"], error


async def crowd(url, tokens):
    """Sixty-four clients at once, each with a connection of its own."""

    async def one(index):
        async with openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=0) as client:
            text, used = "", None
            parts = await client.chat.completions.create(
                model=MODEL, messages=ASKED, seed=index, max_tokens=tokens, stream=True,
                stream_options={"include_usage": True}, extra_body=LONG,
            )
            async for part in parts:
                text += part.choices[0].delta.content or "" if part.choices else ""
                used = part.usage or used
            assert text and used.completion_tokens == tokens, used

    await asyncio.gather(*(one(index) for index in range(64)))


async def hang_up(url, tokens, streamed):
    """Sixty-four clients that leave: streams after the first words, others while they wait."""

    async def one(index):
        client = openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=0)
        ask = client.chat.completions.create(
            model=MODEL, messages=ASKED, seed=index, max_tokens=tokens, stream=streamed, extra_body=LONG
        )
        if streamed:
            parts = await ask
            await anext(aiter(parts))
            await parts.close()
        else:
            try:
                await asyncio.wait_for(ask, 0.2)
            except asyncio.TimeoutError:
                pass
        await client.close()

    await asyncio.gather(*(one(index) for index in range(64)))


def open_replies(url):
    with urllib.request.urlopen(url.removesuffix("/v1") + "/healthz") as answer:
        return json.load(answer)["open"]


def leaving(client, url, tokens):
    begun = time.monotonic()
    asyncio.run(crowd(url, tokens))
    whole = time.monotonic() - begun
    print(f"64 clients at once, {tokens} tokens each: {whole:.1f} s")
    for streamed in (True, False):
        asyncio.run(hang_up(url, tokens, streamed))
        begun = time.monotonic()
        while open_replies(url):
            assert time.monotonic() - begun < whole / 2, "places are still taken"
            time.sleep(0.02)
        client.chat.completions.create(model=MODEL, messages=ASKED, max_tokens=2)
        took = time.monotonic() - begun
        assert took < whole / 2, f"the next one waited {took:.1f} s"
        kind = "streams" if streamed else "requests"
        print(f"64 {kind} hung up: the next one was answered after {took:.2f} s")


def tokens():
    """With ASKE_TOKEN set, the token is the key, and nothing is served without it."""
    token = "0123456789abcdef0123456789abcdef"
    server = subprocess.Popen(
        [PROGRAM, "serve", "models", MODEL, *OPTIONS, "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"ASKE_TOKEN": token},
    )
    try:
        url = server.stdout.readline().strip()
        for key, allowed in [(token, True), ("any", False), (token[:-1], False), (token + "0", False)]:
            with openai.OpenAI(base_url=url, api_key=key, max_retries=0) as client:
                for stream in (False, True):
                    try:
                        client.chat.completions.create(model=MODEL, messages=ASKED, max_tokens=2, stream=stream)
                        assert allowed, f"{key} was let in"
                        assert MODEL in [model.id for model in client.models.list()]
                    except openai.AuthenticationError as error:
                        assert not allowed and error.code == "invalid_api_key" and key not in str(error), error
        assert open_replies(url) >= 0, "whether it is up is no secret"
    finally:
        server.terminate()
        assert server.wait(20) == 0, "the server ends politely"
    assert token not in server.stderr.read(), "a token that was given is not printed"
    print("tokens: as it should be")


def main():
    server = subprocess.Popen(
        [PROGRAM, "serve", "models", MODEL, *OPTIONS, "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        url = server.stdout.readline().strip()
        with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
            for check in (chat, streams, stops, errors):
                check(client)
                print(f"{check.__name__}: as it should be")
            leaving(client, url, 400 if MODEL.startswith("nano") else 32)
    finally:
        server.terminate()
        assert server.wait(20) == 0, "the server ends politely"


main()
tokens()
