"""Components by name."""

from __future__ import annotations

import dataclasses
import re
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from agora import registry
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Metric


@dataclasses.dataclass(frozen=True)
class Snail:
    """A stranger's planner.

    Attributes:
        speed: m/s.
    """

    speed: float = 0.013

    def __post_init__(self) -> None:
        if self.speed <= 0:
            raise ValueError(f"speed must be above 0, got {self.speed}")


@pytest.fixture
def strangers(monkeypatch):
    """The components of other distributions: a list of ``(name, value)``; registered before the test, forgotten after it."""

    def register(*points: tuple[str, str]) -> None:
        found = EntryPoints(EntryPoint(name, value, f"agora.{kind}") for kind in registry.KINDS for name, value in points)
        monkeypatch.setattr(registry, "_points", lambda: found)
        registry.available.cache_clear()

    yield register
    registry.available.cache_clear()


@pytest.mark.parametrize("kind", registry.KINDS)
def test_everything_registered_can_be_imported_and_is_frozen_data(kind):
    for name in registry.available(kind):
        component = registry.load(kind, name)
        if kind == "metrics":
            assert isinstance(component, Metric) and component.name == name
        else:
            assert dataclasses.is_dataclass(component) and component.__dataclass_params__.frozen


@pytest.mark.parametrize("kind", [kind for kind in registry.KINDS if kind not in ("metrics", "cards")])
def test_the_docstring_of_a_component_names_every_parameter(kind):
    for name in registry.available(kind):
        component = registry.load(kind, name)
        described = "".join(parent.__doc__ or "" for parent in component.__mro__[:-1])
        for field in dataclasses.fields(component):
            assert not field.init or field.name in described, f"{kind} {name}: {field.name}"


def test_a_strangers_component_is_built_like_ours(strangers):
    strangers(("snail", f"{__name__}:Snail"))
    made = registry.make("planners", "snail", speed=0.02)
    assert type(made).__name__ == "Snail" and made.speed == 0.02


def test_nothing_is_imported_before_it_is_asked_for(strangers):
    strangers(("broken", "a_package_that_is_not_there:Planner"), ("snail", f"{__name__}:Snail"))
    assert list(registry.available("planners")) == ["broken", "snail"]
    assert registry.make("planners", "snail").speed == 0.013
    with pytest.raises(InputError):
        registry.load("planners", "broken")


def test_the_name_of_a_component_is_found_where_a_package_exports_what_a_module_of_it_defines(strangers, tmp_path, monkeypatch):
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "__init__.py").write_text("from slow._worm import Worm as Worm\n")
    (tmp_path / "slow" / "_worm.py").write_text("class Worm:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    strangers(("snail", f"{__name__}:Snail"), ("worm", "slow:Worm"))
    assert registry.name_of("planners", registry.load("planners", "worm")()) == "worm"
    assert registry.name_of("planners", Snail()) == "snail"
    with pytest.raises(InputError, match="local planner dict is not registered"):
        registry.name_of("planners", {})


def test_an_unknown_name_gets_the_nearest_one(strangers):
    strangers(("snail", f"{__name__}:Snail"), ("pelican", f"{__name__}:Snail"))
    with pytest.raises(UnknownNameError, match="no local planner called 'snall'; did you mean 'snail'"):
        registry.make("planners", "snall")
    with pytest.raises(UnknownNameError, match="known names: pelican, snail"):
        registry.load("planners", "zzz")


def test_an_unknown_kind_gets_the_nearest_one():
    with pytest.raises(UnknownNameError, match="did you mean 'planners'"):
        registry.available("planers")


def test_an_unknown_parameter_gets_the_nearest_one(strangers):
    strangers(("snail", f"{__name__}:Snail"))
    with pytest.raises(InputError, match="local planner 'snail' has no parameter 'sped'; did you mean 'speed'"):
        registry.make("planners", "snail", sped=1.0)


def test_a_value_that_a_component_refuses_is_an_input_error(strangers):
    strangers(("snail", f"{__name__}:Snail"))
    with pytest.raises(InputError, match="local planner 'snail': speed must be above 0, got -1"):
        registry.make("planners", "snail", speed=-1)


def test_two_distributions_cannot_register_one_name(strangers):
    strangers(("snail", f"{__name__}:Snail"), ("snail", "elsewhere:Snail"))
    with pytest.raises(InputError, match="two planners are called 'snail'"):
        registry.available("planners")


@pytest.mark.parametrize(
    ("text", "attribute", "words"),
    [
        ("import os\nx = (os.name[0]\n", "X", r"SyntaxError: '\(' was never closed \({file}, line 2\)\n    x = \(os.name\[0\]$"),
        ("def f():\nreturn 1\n", "X", r"IndentationError: .* \({file}, line 2\)\n    return 1$"),
        ("x = 1\nimport no_such_module\n", "X", r"ModuleNotFoundError: .*'no_such_module' \({file}, line 2, in <module>\)$"),
        ("def f():\n    1 / 0\nf()\n", "X", r"ZeroDivisionError: division by zero \({file}, line 2, in f\)$"),
        ("raise SystemExit(3)\n", "X", r"SystemExit: 3 \({file}, line 1, in <module>\)$"),
        ("x = 1\n", "Snial", r"AttributeError: module '\w+' has no attribute 'Snial'$"),
        (None, "X", r"ModuleNotFoundError: No module named '\w+'$"),
    ],
)
def test_what_cannot_be_imported_is_told_with_file_and_line(strangers, tmp_path, monkeypatch, request, text, attribute, words):
    module = f"stranger_{abs(hash(request.node.name))}"
    file = tmp_path / f"{module}.py"
    if text is not None:
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    strangers(("snail", f"{module}:{attribute}"))
    expected = f"^local planner 'snail', {module}:{attribute}, cannot be imported: " + words.replace("{file}", re.escape(str(file)))
    for ask in (registry.load, registry.make, registry.summary):
        with pytest.raises(InputError, match=expected):
            ask("planners", "snail")


def test_a_component_whose_making_raises_is_told_with_its_line(strangers, tmp_path, monkeypatch):
    head = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Slug:\n"
    (tmp_path / "slug_without_shell.py").write_text(f"{head}    def __post_init__(self):\n        {{}}['shell']\n")
    monkeypatch.syspath_prepend(tmp_path)
    strangers(("slug", "slug_without_shell:Slug"))
    with pytest.raises(
        InputError, match=r"local planner 'slug': KeyError: 'shell' \(.*slug_without_shell\.py, line 5, in __post_init__\)"
    ):
        registry.make("planners", "slug")


def test_a_component_says_in_a_sentence_what_it_is(strangers):
    assert registry.summary("metrics", "success") == registry.load("metrics", "success").formula
    strangers(("snail", f"{__name__}:Snail"))
    assert registry.summary("planners", "snail") == "A stranger's planner."
