"""How many commands a key may send."""

from hypothesis import given
from hypothesis import strategies as st

from controller.gateway.admission import RateLimiter


def taken(rates: RateLimiter, key: str, times: int, now_s: float) -> int:
    return sum(rates.try_take(key, now_s) for _ in range(times))


def test_a_burst_goes_through_and_then_as_many_a_second_as_the_rate_says() -> None:
    rates = RateLimiter(per_s=10, burst=30)
    assert taken(rates, "a", 100, 0.0) == 30
    assert taken(rates, "a", 100, 0.5) == 5
    assert taken(rates, "a", 100, 1.5) == 10


def test_a_quiet_time_gives_the_burst_back_and_no_more() -> None:
    rates = RateLimiter(per_s=10, burst=30)
    taken(rates, "a", 30, 0.0)
    assert taken(rates, "a", 100, 3600.0) == 30


def test_one_key_costs_another_nothing() -> None:
    rates = RateLimiter(per_s=10, burst=30)
    taken(rates, "a", 1000, 0.0)
    assert taken(rates, "b", 100, 0.0) == 30


@given(st.lists(st.floats(0, 2), min_size=1, max_size=200))
def test_no_key_gets_more_than_burst_and_rate_together(pauses: list[float]) -> None:
    rates, now_s, got = RateLimiter(per_s=10, burst=30), 0.0, 0
    for pause in pauses:
        now_s += pause
        got += taken(rates, "a", 7, now_s)
    assert got <= 30 + 10 * now_s + 1e-6


def test_no_number_of_keys_fills_the_memory() -> None:
    rates = RateLimiter()
    for number in range(5000):
        rates.try_take(str(number), 0.0)
    assert len(rates._left) <= 1000
