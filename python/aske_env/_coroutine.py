"""Turns the futures of the native module into coroutines, and runs coroutines to their end."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


async def run(start: Callable[[], Awaitable[T]]) -> T:
    """Starts an awaitable in the running loop, and waits for it."""
    return await start()


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; works within a running loop too, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
