"""The documentation is true: its programs run, its links lead somewhere, the reference of options is current."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import spry
from spry.common.options import find_option, reference

ROOT = Path(spry.__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """The code blocks of a page, with the number of their first line."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: match.start()].count("\n") + 1, match[1]) for match in found]


WITH_PROGRAMS = [page for page in PAGES if blocks(page, "python")]


def test_the_reference_of_options_is_current() -> None:
    current = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert current.strip() == reference().strip(), "run: spry options > docs/configuration.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^    .*$|`[^`\n]*`(?!\])", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose)
    assert [t for t in targets if "://" not in t and not (page.parent / t).exists()] == []


def test_drawings_are_shown_and_can_be_read_on_any_background() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for path in sorted((ROOT / "docs" / "images").iterdir()):
        assert f"(images/{path.name})" in text, f"{path.name} is on no page"
        root = ElementTree.parse(path).getroot()
        background = next(element for element in root if element.tag.endswith("rect"))
        assert background.get("fill") == "#ffffff", path.name
        assert any(element.tag.endswith("title") and element.text for element in root), path.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_that_are_named_exist(page: Path) -> None:
    keys = re.findall(
        r"`((?:spry|pipeline|execution|python|parallelism|state|queryable-state)(?:\.[a-z0-9-]+)+)(?:=[^`]*)?`",
        page.read_text(encoding="utf-8"),
    )
    modules = {
        key for key in keys if key.startswith("spry.") and (ROOT / key.replace(".", "/")).with_suffix("").exists()
    }
    ignored = {*modules, "spry.common.errors.JobExecutionError"}
    assert [key for key in keys if key not in ignored and find_option(key) is None] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_are_named_exist(page: Path) -> None:
    names = re.findall(
        r"`((?:runtime|jobmanager|graph|cluster|datastream)(?:\.[a-z_]+)+)`", page.read_text(encoding="utf-8")
    )
    missing = []
    for name in names:
        place = ROOT / "spry" / name.replace(".", "/")
        if not place.is_dir() and not place.with_suffix(".py").is_file():
            missing.append(name)
    assert missing == []


@pytest.mark.spark
@pytest.mark.parametrize("page", WITH_PROGRAMS, ids=lambda page: page.name)
def test_programs_run(page: Path, spark_context: Any) -> None:
    """The blocks of a page are one program."""
    namespace: dict[str, Any] = {"__name__": "spry_docs_page"}
    for line, source in blocks(page, "python"):
        exec(compile("\n" * line + source, str(page), "exec", dont_inherit=True), namespace)


@pytest.mark.spark
def test_the_first_program_prints_what_it_says(spark_context: Any, capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "README.md"
    [(_, source)] = blocks(page, "python")
    [(_, output)] = blocks(page, "text")
    exec(compile(source, str(page), "exec"), {"__name__": "spry_docs_page"})
    printed = capsys.readouterr().out.splitlines()
    assert sorted(printed) == sorted(output.splitlines())
