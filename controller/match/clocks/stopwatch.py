"""A stopwatch that can be paused, as the history of its pauses."""

import msgspec


class WatchPause(msgspec.Struct, frozen=True, gc=False):
    """It stood still from `from_ms` to `to_ms`; None: it still does."""

    from_ms: int
    to_ms: int | None = None


class Stopwatch(msgspec.Struct, frozen=True, gc=False):
    """It runs from `starts_ms`, which may lie ahead, but for its pauses, first one first."""

    starts_ms: int
    pauses: tuple[WatchPause, ...] = ()

    @property
    def is_paused(self) -> bool:
        """Tell whether it is paused."""
        return bool(self.pauses) and self.pauses[-1].to_ms is None


def pause(watch: Stopwatch, at_ms: int) -> Stopwatch:
    """Return the stopwatch standing still from `at_ms`; unchanged if it did already."""
    if watch.is_paused:
        return watch
    ended_ms = (watch.pauses[-1].to_ms or 0) if watch.pauses else at_ms
    return _replace_pauses(watch, (*watch.pauses, WatchPause(max(at_ms, ended_ms))))


def resume(watch: Stopwatch, at_ms: int) -> Stopwatch:
    """Return the stopwatch running again from `at_ms`; unchanged if it did already."""
    if not watch.is_paused:
        return watch
    *before, last = watch.pauses
    return _replace_pauses(watch, (*before, WatchPause(last.from_ms, max(at_ms, last.from_ms))))


def elapsed_ms(stopwatch: Stopwatch, at_ms: int) -> int:
    """Return how long it has run at `at_ms`, without its pauses; 0 before its start."""
    stood = 0
    for pause in stopwatch.pauses:
        from_ms = max(pause.from_ms, stopwatch.starts_ms)
        to_ms = at_ms if pause.to_ms is None else min(pause.to_ms, at_ms)
        stood += max(0, to_ms - from_ms)
    return max(0, at_ms - stopwatch.starts_ms - stood)


def moment_of_elapsed(watch: Stopwatch, duration_ms: int) -> int | None:
    """Return when it has run `run_ms`; None: it is paused before it comes so far."""
    moment = watch.starts_ms + duration_ms
    for pause in watch.pauses:
        from_ms = max(pause.from_ms, watch.starts_ms)
        if from_ms >= moment:
            break
        if pause.to_ms is None:
            return None
        moment += max(0, pause.to_ms - from_ms)
    return moment


def _replace_pauses(watch: Stopwatch, pauses: tuple[WatchPause, ...]) -> Stopwatch:
    return msgspec.structs.replace(watch, pauses=pauses)
