"""The list of threads by part of the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.inprocess import Here
from tests.observe.web.pages import Site, elements, words

if TYPE_CHECKING:
    from tests.conftest import Machine


def test_the_list_is_filtered_by_area(machine: Machine) -> None:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "tokens", "--title", "Expiry", "--file", "src/api/tokens.py")
    repo.ok("new", "form", "--title", "Layout", "--file", "src/ui/form.py")
    assert 'name="area"' not in Site(repo.path, machine.env).get("threads")
    repo.ok("config", "set", "areas.api", "src/api/**")
    repo.ok("config", "set", "areas.<b>", "docs")
    site = Site(repo.path, machine.env)
    page = site.get("threads?area=api")
    inputs = [fields for tag, fields in elements(page) if tag == "input"]
    values = {fields.get("name"): fields.get("value") for fields in inputs}
    assert values["area"] == "api"
    assert "<b>" not in page.partition("<form")[2].partition("</form>")[0]
    shown = words(page)
    assert "Expiry" in shown
    assert "Layout" not in shown
    both = words(site.get("threads?area=api&file=src%2Fui%2Fform.py"))
    assert "No thread matches." in both
    assert "Layout" in words(site.get("threads?area="))
