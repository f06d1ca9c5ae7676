"""The desktop entry and the MIME types, as a desktop reads them."""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from plans_fixed import plan_of_four
from problems_fixed import chain_problem

from xengine_gui.model.plan_file import write_plan
from xengine_gui.model.problem_file import write_problem
from xengine_gui.paths import resources
from xengine_gui.session import SUFFIX, Session, write_session

FOLDER = resources() / "desktop"
ASK = """
import sys
from PySide6.QtCore import QMimeDatabase
for name in sys.argv[1:]:
    print(QMimeDatabase().mimeTypeForFile(name).name())
"""


def entry() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(FOLDER / "xengine-planner.desktop", encoding="utf-8")
    return parser


def types() -> set[str]:
    tree = ET.parse(FOLDER / "xengine-planner.xml")  # noqa: S314 - a file of the project
    return {kind.attrib["type"] for kind in tree.getroot()}


def test_the_entry_starts_a_command_that_is_installed() -> None:
    parser = entry()
    project = tomllib.loads((resources().parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    commands = {*project["scripts"], *project["gui-scripts"]}
    for section in parser.sections():
        assert shlex.split(parser[section]["Exec"])[0] in commands
    assert parser["Desktop Entry"]["TryExec"] in commands


def test_the_entry_is_the_one_that_the_application_names() -> None:
    source = (resources().parent / "xengine_gui" / "ui" / "application.py").read_text(encoding="utf-8")
    assert re.search(r'setDesktopFileName\("([^"]+)"\)', source).group(1) == "xengine-planner"  # type: ignore[union-attr]


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="desktop-file-utils is not installed")
def test_the_entry_is_valid() -> None:
    path = FOLDER / "xengine-planner.desktop"
    told = subprocess.run(["desktop-file-validate", str(path)], capture_output=True, text=True, check=False)
    assert told.stdout + told.stderr == ""


def test_every_type_of_the_entry_is_described() -> None:
    named = set(filter(None, entry()["Desktop Entry"]["MimeType"].split(";")))
    assert named == types()


@pytest.mark.skipif(sys.platform != "linux", reason="shared MIME information is what Linux desktops have")
def test_a_desktop_recognises_the_files(tmp_path: Path) -> None:
    packages = tmp_path / "share" / "mime" / "packages"
    packages.mkdir(parents=True)
    for source in (FOLDER / "xengine-planner.xml", Path("/usr/share/mime/packages/freedesktop.org.xml")):
        if source.is_file():
            shutil.copy(source, packages)
    session, plan, problem = (tmp_path / name for name in (f"a{SUFFIX}", "a.plan.json", "a.problem.json"))
    write_session(Session(problem), session)
    write_plan(plan_of_four(), plan)
    write_problem(chain_problem(), problem)
    network = tmp_path / "net.onnx"
    network.write_bytes(b"\x08\x09")
    names = [str(p) for p in (session, plan, problem, network)]
    told = subprocess.run(
        [sys.executable, "-c", ASK, *names],
        env={**os.environ, "XDG_DATA_DIRS": str(tmp_path / "share"), "XDG_DATA_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert told == [
        "application/x-xengine-session+json",
        "application/x-xengine-plan+json",
        "application/x-xengine-problem+json",
        "application/x-onnx",
    ]
