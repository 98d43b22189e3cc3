from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

from tests.architecture.contracts import ArrowsContract, ReservedContract
from tests.rows import each_row

SESSION = {"root_packages": ["controller", "drivers", "sim"]}


def test_packages_import_along_the_arrows(
    pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    status = lint_imports(
        config_filename=str(pytestconfig.rootpath / "pyproject.toml"), no_cache=True, no_logo=True
    )
    assert status == 0, capsys.readouterr().out


def test_every_package_of_the_house_has_an_arrow_or_is_shared(pytestconfig: pytest.Config) -> None:
    text = (pytestconfig.rootpath / "pyproject.toml").read_text("utf-8")
    for package in (pytestconfig.rootpath / "controller").iterdir():
        if (package / "__init__.py").exists():
            name = f'"controller.{package.name}'
            assert f"{name} ->" in text or f'{name}",' in text


@each_row(
    ("importer", "imported", "kept"),
    [
        ("controller.deal.hands_lock", "controller.rules", True),
        ("controller.deal.hands_lock", "controller.deal", True),
        ("controller.deal.hands_lock", "controller.cards", True),
        ("controller.deal.hands_lock", "controller.vault.vault", False),
        ("controller.cards", "controller.deal", False),
        ("controller.cards", "controller.faults", True),
        ("controller.journal.verify", "controller.deal", True),
        ("controller.journal.verify", "controller.journal", True),
        ("controller.journal.store", "controller.deal", False),
        ("controller.brand_new", "controller.deal", False),
        ("drivers.typed_boards", "controller.cards", False),
        ("drivers.typed_boards", "drivers.link", True),
        ("sim.simulated_board", "drivers.link.serial_port", True),
        ("sim.simulated_board", "drivers.typed_boards", False),
        ("sim.simulated_board", "controller.cards", False),
    ],
)
def test_an_arrow_allows_what_it_says_and_nothing_else(
    importer: str, imported: str, kept: bool
) -> None:
    contract = ArrowsContract(
        name="arrows",
        session_options=SESSION,
        contract_options={
            "shared": ["controller.cards", "controller.faults"],
            "arrows": [
                "controller.deal -> controller.rules",
                "controller.journal ->",
                "controller.journal.verify -> controller.deal, controller.rules",
                "drivers ->",
                "sim -> drivers.link, drivers.firmware",
            ],
        },
    )
    assert contract.check(graph_of(importer, imported), verbose=False).kept is kept


@pytest.mark.parametrize(
    ("importer", "kept"),
    [("controller.client.connection", True), ("controller.machine.machine", False)],
)
def test_a_reserved_library_is_imported_by_those_it_is_reserved_for(
    importer: str, kept: bool
) -> None:
    contract = ReservedContract(
        name="reserved",
        session_options=SESSION,
        contract_options={"library": "zmq", "importers": ["controller.client"]},
    )
    assert contract.check(graph_of(importer, "zmq"), verbose=False).kept is kept


def graph_of(importer: str, imported: str) -> grimp.ImportGraph:
    graph = grimp.ImportGraph()
    for module in {*SESSION["root_packages"], importer, imported}:
        graph.add_module(module)
    graph.add_import(importer=importer, imported=imported, line_number=1, line_contents="")
    return graph


def test_the_boards_files_keep_to_their_own_package(pytestconfig: pytest.Config) -> None:
    folder: Path = pytestconfig.rootpath / "drivers" / "firmware"
    for file in folder.glob("*.py"):
        for line in file.read_text("utf-8").splitlines():
            assert not line.startswith(("from drivers", "import drivers")), f"{file.name}: {line}"
