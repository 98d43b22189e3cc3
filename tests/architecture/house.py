"""Figures of the source: hard phrases, class names, importers, circles, lengths of files."""

import ast
import io
import re
import subprocess
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("controller", "drivers", "sim", "hil_tests")

ODD_PHRASES: Mapping[str, str] = {
    r"\b(stands?|stood)\b(?! for)": "is, are",
    r"\blies?\b(?! (in|within) (the|a) (range|interval))": "is, is stored",
    r"\b(told|tells?)\b": "reported, published, returns",
    r"\b(said|says?)\b": "reported, states, contains",
    r"\b(heard|hears?)\b": "received, receives",
    r"\bbehind (it|them|this|that|one|the (last|first))\b": "after",
    r"(^|[.:;] )(Who|Whoever|What|Whatever) [a-z]+s? ": "begin with the subject",
    r"\b(whom|whoever|whosoever)\b": "the person who, the caller",
    r"\b([Nn]obody|no one)\b": "a passive verb",
    r"\bof (its|their|one's) own accord|by itself\b": "automatically",
    r"\blets? (it |them )?(go|out)\b": "releases",
    r"\b(takes?|taken|took) up\b": "resumes",
    r"\b(goes|go|went|going) on\b(?! to)": "continues",
    r"\bis no matter\b|\bis nothing of\b|\bnothing is asked\b": "is ignored, is not required",
    r"\b(a|the|its|board's|boards') words? (of|that|is|are|comes?)\b": "message",
    r"\b(he|his|him|himself)\b": "they, their",
    r"\b(aside|lasting|foursome|hearsay|lookers|deeds|wish)\b": "the usual word",
    r"[,;:] where (it|they|that|there|one|nothing|he)\b": "if",
    r", as (it|they|that|there|nothing)\b": "because",
    r"\bbut for\b": "except",
    r"\banew\b|\bonce more\b": "again",
    r"\b(is|are|be) had\b": "is available",
}
"""Patterns that a reader whose second language is English stumbles on, with plain words."""


@cache
def tracked_files(*suffixes: str) -> tuple[Path, ...]:
    """Return the files of the repository that end with one of the suffixes."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    names = [line for line in listed.splitlines() if line.endswith(suffixes)]
    return tuple(ROOT / name for name in names if (ROOT / name).exists())


@cache
def product_modules() -> Mapping[str, Path]:
    """Return the modules of the product by name; a package has the name of its folder."""
    return {
        _module_name(path): path
        for path in tracked_files(".py")
        if path.relative_to(ROOT).parts[0] in PRODUCT
    }


def english_documents() -> list[Path]:
    """Return the documents in English."""
    return [path for path in tracked_files(".md") if "zh" not in path.name]


def prose_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line numbers and lines of docstrings and comments, or of a whole document."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(source.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
        elif token.type == tokenize.STRING and token.string.lstrip("rR").startswith('"""'):
            yield from enumerate(token.string.splitlines(), token.start[0])


def odd_phrases(path: Path) -> list[str]:
    """Return the places of a file where a phrase is hard to read, with the plain words."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]} ({plain})"
        for number, line in prose_lines(path)
        for pattern, plain in ODD_PHRASES.items()
        if re.search(pattern, line)
    ]


def count_words(path: Path) -> int:
    """Return the number of words of prose in a file."""
    return sum(len(line.split()) for _, line in prose_lines(path))


def clashing_classes() -> dict[str, list[str]]:
    """Return public class names that exist in more than one module, one of them in controller."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module, path in product_modules().items():
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    return {
        name: modules
        for name, modules in homes.items()
        if len(modules) > 1 and any(module.startswith("controller") for module in modules)
    }


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """Return for each module the modules of the product that it imports."""
    modules = product_modules()
    found: dict[str, frozenset[str]] = {}
    for module, path in modules.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        targets: set[str] = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom):
                base = _absolute(node, package)
                targets |= {
                    full if (full := f"{base}.{alias.name}") in modules else base
                    for alias in node.names
                }
            elif isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
        found[module] = frozenset((targets & modules.keys()) - {module})
    return found


def modules_with_one_importer() -> list[str]:
    """Return the modules that exactly one other module imports; packages do not count."""
    importers: dict[str, set[str]] = defaultdict(set)
    for module, targets in imports().items():
        for target in targets:
            importers[target].add(module)
    return [
        module
        for module, path in product_modules().items()
        if len(importers[module]) == 1 and path.name != "__init__.py"
    ]


def import_circles() -> list[list[str]]:
    """Return the groups of modules that import each other in a loop."""
    reach = {module: _reachable(module) for module in imports()}
    circles: list[list[str]] = []
    for module, reached in reach.items():
        if module in reached and not any(module in circle for circle in circles):
            circles.append(sorted(other for other in reached if module in reach[other]))
    return circles


def _reachable(module: str) -> set[str]:
    reached: set[str] = set()
    rest = list(imports()[module])
    while rest:
        target = rest.pop()
        if target not in reached:
            reached.add(target)
            rest.extend(imports()[target])
    return reached


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])
