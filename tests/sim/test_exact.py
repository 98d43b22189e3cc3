"""A loop whose timers do not wait for whole milliseconds."""

import asyncio
import os
import resource

from sim.exact import exact_loop

LATE_S = 0.0004


def test_short_waits_do_not_last_a_whole_millisecond() -> None:
    async def wait() -> list[float]:
        loop = asyncio.get_running_loop()
        late = []
        for _ in range(200):
            begun = loop.time()
            await asyncio.sleep(0.0002)
            late.append(loop.time() - begun - 0.0002)
        return sorted(late)

    with asyncio.Runner(loop_factory=exact_loop) as runner:
        late = runner.run(wait())
    assert late[0] < LATE_S  # the best of many: a busy machine is late, too


def test_descriptors_above_1023_are_heard_while_a_timer_runs() -> None:
    async def hear(end: int, far: int) -> bytes:
        heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(end, lambda: heard.set_result(os.read(end, 8)))
        asyncio.get_running_loop().call_later(0.01, os.write, far, b"here")
        async with asyncio.timeout(10):
            return await heard

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (max(2048, resource.getrlimit(resource.RLIMIT_NOFILE)[0]), most)
    )
    near, far = os.pipe()
    high = 1500
    os.dup2(near, high)
    try:
        with asyncio.Runner(loop_factory=exact_loop) as runner:
            assert runner.run(hear(high, far)) == b"here"
    finally:
        for end in (near, far, high):
            os.close(end)
