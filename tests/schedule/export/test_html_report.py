"""The page, read back by html.parser."""

import re
from html.parser import HTMLParser

from plans_fixed import MOVING, four_operators, plan_of_four

from xengine_gui.model.plan import Plan
from xengine_gui.schedule.export import ExportOptions, exporter

PICTURE = (
    '<?xml version="1.0"?>\n<svg viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg" '
    'xmlns:xlink="http://www.w3.org/1999/xlink"><defs><clipPath id="cut"/></defs>'
    '<g clip-path="url(#cut)"><use xlink:href="#cut"/></g></svg>\n'
)
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Headings, tables and attributes of a page whose every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables: dict[str, list[list[tuple[str, str]]]] = {}
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self._heading = ""
        self._title = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self._heading = ""
        if tag == "tr":
            self.tables.setdefault(self._heading, []).append([])
        if tag in ("td", "th"):
            self.tables[self._heading][-1].append(("", dict(attrs).get("title") or ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] == "style":
            return
        self.words.append(data)
        if self.open[-1] == "h2":
            self._heading += data
        if self.open[-1] in ("td", "th"):
            text, title = self.tables[self._heading][-1][-1]
            self.tables[self._heading][-1][-1] = (text + data, title)

    def rows(self, heading: str) -> list[list[str]]:
        """The texts of a table below its head."""
        return [[text for text, _ in row] for row in self.tables[heading][1:]]


def page_of(plan: Plan, options: ExportOptions = ExportOptions()) -> tuple[Page, str]:  # noqa: B008
    text = b"".join(exporter("report").parts(plan, options)).decode()
    return Page(text), text


def test_the_tables_of_a_plan_of_which_everything_is_known() -> None:
    page, _ = page_of(plan_of_four(), ExportOptions(unlimited_total_ns=100))
    summary = {row[0]: row[1] for row in page.rows("Summary")}
    assert summary["total"] == "110 ns"
    assert summary["overhead"] == "10.0 %"
    assert summary["recomputed"] == "1"
    assert summary["lower bound"] == "none"
    assert page.rows("Devices") == [
        ["gpu", "gpu", "270 B", "270 B", "100.0 %", "110 ns"],
        ["cpu", "cpu", "0 B", "1000 B", "0.0 %", "0 ns"],
    ]
    assert page.rows("Recomputed operators") == [
        ["f0", "Conv", "forward", "gpu", "1", "10 ns", "10 ns", "100 B", "50 B over"]
    ]
    # t0 from 0 to 30 and from 60 to 110, t2 from 30 to 110, t1 from 10 to 60, g from 70 to the end.
    assert page.rows("Largest tensors") == [
        ["t0", "f0", "gpu (2 times)", "100 B", "80 ns"],
        ["t1", "f1", "gpu", "100 B", "50 ns"],
        ["t2", "f2", "gpu", "100 B", "80 ns"],
        ["g", "b1", "gpu", "50 B", "40 ns"],
    ]
    assert "Transfers" not in page.tables
    assert "Nothing is transferred." in page.words
    assert any("verified" in word for word in page.words)


def test_transfers_are_listed() -> None:
    page, _ = page_of(plan_of_four(MOVING))
    assert page.rows("Transfers") == [
        ["t0", "gpu", "cpu", "100 B", "30 ns", "105 ns"],
        ["t0", "cpu", "gpu", "100 B", "165 ns", "105 ns"],
    ]
    assert page.tables["Transfers"][1][3] == ("100 B", "100 bytes")


def test_names_are_text_and_nothing_is_loaded_or_run() -> None:
    bad = ('<script>alert("x")</script>', "a\x00\x1b[2J", "&amp;", "' onload='x")
    page, text = page_of(plan_of_four(problem=four_operators(names=bad)), ExportOptions(pictures={"light": PICTURE}))
    tags = {tag for tag, _, _ in page.attributes}
    assert "script" not in tags
    assert bad[0] in page.rows("Recomputed operators")[0]
    made_by = {row[1] for row in page.rows("Largest tensors")}
    assert made_by == {bad[0], "a\\x00\\x1b[2J", "&amp;", "' onload='x"}
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", text)
    assert not any(name.startswith("on") for _, name, _ in page.attributes)
    for _, name, value in page.attributes:
        assert "://" not in value
        if name.endswith("href"):
            assert value.startswith("#")
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert ("meta", "content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


def test_two_pictures_do_not_share_names() -> None:
    page, _ = page_of(plan_of_four(), ExportOptions(pictures={"light": PICTURE, "dark": PICTURE}))
    identifiers = [value for _, name, value in page.attributes if name == "id"]
    assert identifiers == ["light-cut", "dark-cut"]
    assert [value for _, name, value in page.attributes if name == "clip-path"] == ["url(#light-cut)", "url(#dark-cut)"]
    assert [value for _, name, value in page.attributes if name == "xlink:href"] == ["#light-cut", "#dark-cut"]


def test_a_long_table_says_how_much_it_leaves_out() -> None:
    from problems_fixed import chain_problem  # noqa: PLC0415

    from xengine_gui.model.plan import Run  # noqa: PLC0415
    from xengine_gui.schedule.finish import finished_plan  # noqa: PLC0415

    page, _ = page_of(finished_plan(chain_problem(length=60), "test", [Run(0, o) for o in range(60)]))
    assert len(page.rows("Largest tensors")) == 50
    assert "The first 50 of 60." in page.words
