"""Two kinds of contract for import-linter, read from pyproject.toml.

`arrows` is a closed table: a package that is not in it may import nothing of ours
but the shared modules, and what is not in its line is forbidden. `reserved` keeps
a library to a few importers. Names in either that nobody has built yet are no error.
"""

from collections.abc import Iterable
from itertools import chain
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

Breach = tuple[str, str, int | None]


class ArrowsContract(Contract):
    """Each package imports itself, the shared modules, and what its arrow names."""

    type_name = "arrows"

    shared = fields.ListField(subfield=fields.StringField())
    arrows = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find every import between the root packages that no arrow allows."""
        shared = cast(list[str], self.shared)
        table = dict(map(_arrow, cast(list[str], self.arrows))) | {
            name: tuple(shared) for name in shared
        }
        roots = self.session_options["root_packages"]
        breaches = []
        for importer, imported in _imports(graph, roots):
            own = sorted((package for package in table if _within(importer, package)), key=len)
            allowed = [*own, *table[own[-1]]] if own else []
            if importer.startswith("controller."):
                allowed += shared
            if not any(_within(imported, name) for name in allowed):
                breaches.append(_breach(graph, importer, imported))
        return _result(breaches)

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each forbidden import with its line."""
        _render(check)


class ReservedContract(Contract):
    """A library that only the named packages import directly."""

    type_name = "reserved"

    library = fields.StringField()
    importers = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find every other importer of the library."""
        library, importers = str(self.library), cast(list[str], self.importers)
        users = (
            graph.find_modules_that_directly_import(library) if library in graph.modules else set()
        )
        return _result(
            [
                _breach(graph, user, library)
                for user in sorted(users)
                if not any(_within(user, name) for name in importers)
            ]
        )

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each forbidden import with its line."""
        _render(check)


def _arrow(line: str) -> tuple[str, tuple[str, ...]]:
    importer, _, imported = line.partition("->")
    return importer.strip(), tuple(name.strip() for name in imported.split(",") if name.strip())


def _imports(graph: ImportGraph, roots: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Every import from one of our modules to another of ours, in order."""
    ours = sorted(chain.from_iterable({root, *graph.find_descendants(root)} for root in roots))
    for importer in ours:
        for imported in sorted(graph.find_modules_directly_imported_by(importer)):
            if any(_within(imported, root) for root in roots):
                yield importer, imported


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _breach(graph: ImportGraph, importer: str, imported: str) -> Breach:
    details = graph.get_import_details(importer=importer, imported=imported)
    return importer, imported, details[0]["line_number"] if details else None


def _result(breaches: list[Breach]) -> ContractCheck:
    return ContractCheck(kept=not breaches, metadata={"breaches": breaches})


def _render(check: ContractCheck) -> None:
    for importer, imported, line in check.metadata["breaches"]:
        output.print_error(f"{importer} may not import {imported} (line {line})", bold=False)
