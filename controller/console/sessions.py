"""Who is logged in, without asking the database for every request.

People's calls cost time (a PIN is slow to check on purpose) and block: they run where `run` runs
them. What was found out is trusted for a few seconds, but for whom this console itself let go.
"""

from collections.abc import Callable, Sequence
from typing import Final

from controller.console.people import NotAllowed, People, Person
from controller.console.seen import Run
from controller.faults import Language
from controller.messages import Role

TRUSTED_MS: Final = 5_000
"""Another process may remove somebody, as `dealtable console --invite` changes a role."""
MOST_CHECKING: Final = 16
"""PINs that wait to be checked: others who need the database are not kept waiting by more."""
MOST_OF_ONE: Final = 4
"""Of them from one address: who guesses leaves room for the others."""
_MOST: Final = 4_096
_LONGEST: Final = 200


class Sessions:
    """The people of a console, and their sessions, off the loop. Raises NotAllowed as People."""

    def __init__(self, people: People, run: Run, now_ms: Callable[[], int]) -> None:
        self._people, self._run, self._now_ms = people, run, now_ms
        self._known: dict[str, tuple[int, Person]] = {}
        self._changes = 0
        self._checking: list[str] = []

    async def whose(self, token: str) -> Person | None:
        """Return whose session a token is; None where it is over, or he may no longer."""
        if not token or len(token) > _LONGEST:
            return None
        until_ms, known = self._known.get(token, (0, None))
        if known is not None and self._now_ms() < until_ms:
            return known
        changes = self._changes
        person = await self._run(lambda: self._people.whose(token))
        if len(self._known) >= _MOST:
            self._known.clear()
        if person is None:
            self._known.pop(token, None)
        elif changes == self._changes:  # else somebody may be out since
            self._known[token] = self._now_ms() + TRUSTED_MS, person
        return person

    async def log_in(self, name: str, pin: str, host: str = "") -> tuple[Person, str]:
        """Return who has that name and PIN, and what his browser shall show.

        `host`: the address that he comes from; "" where it is not counted.
        """
        of_one = sum(one == host != "" for one in self._checking)
        if len(self._checking) >= MOST_CHECKING or of_one >= MOST_OF_ONE:
            raise NotAllowed("too many log in at once: try again", "登录人数过多，请稍后再试")
        self._checking.append(host)
        try:
            return await self._run(lambda: self._people.log_in(name, pin))
        finally:
            self._checking.remove(host)

    async def log_out(self, token: str) -> None:
        """End a session."""
        await self._run(lambda: self._people.log_out(token))
        self._forget()

    async def speak(self, name: str, language: Language) -> None:
        """Remember in which language somebody reads."""
        await self._run(lambda: self._people.speak(name, language))
        self._forget()

    async def invite(self, person: Person) -> str:
        """Write a new person down; return the code with which he sets his PIN."""
        code = await self._run(lambda: self._people.invite(person))
        self._forget()
        return code

    async def invite_first(self, first: Sequence[tuple[str, Role]]) -> list[tuple[str, str]]:
        """Invite these where nobody can log in yet; return each name with its code."""

        def invited() -> list[tuple[str, str]]:
            if self._people.has_anybody():
                return []
            return [
                (name, self._people.invite(Person(name=name, role=role))) for name, role in first
            ]

        return await self._run(invited)

    async def accept(self, code: str, pin: str) -> Person:
        """Let the invited set his PIN; the code is used up, his older sessions are over."""
        person = await self._run(lambda: self._people.accept(code, pin))
        self._forget()
        return person

    async def remove(self, name: str) -> bool:
        """Let a person in no more, and end his sessions; tell whether there was one."""
        gone = await self._run(lambda: self._people.remove(name))
        self._forget()
        return gone

    async def all(self) -> list[Person]:
        """Return everybody who may log in or is invited, by name."""
        return await self._run(self._people.all)

    def _forget(self) -> None:
        self._changes += 1
        self._known.clear()
