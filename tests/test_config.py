"""The strict loader: what it accepts, what it says, and that nothing but InputError ever comes out of it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agora import config
from agora.errors import InputError


@dataclass(frozen=True)
class Static:
    kind: Literal["static"] = "static"
    radius: float = 0.5


@dataclass(frozen=True)
class Moving:
    kind: Literal["moving"]
    speed: float
    route: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        if self.speed <= 0:
            raise ValueError(f"speed must be above 0, not {self.speed}")


@dataclass(frozen=True)
class World:
    name: str
    seed: int
    size: tuple[float, float]
    friction: Annotated[float, "share of the weight"] = 0.5
    closed: bool = False
    weather: Literal["dry", "rain", "snow"] = "dry"
    things: list[Static | Moving] = field(default_factory=list)
    start: Static | None = None
    speeds: dict[str, float] = field(default_factory=dict)
    amount: int | tuple[int, int] = 1
    extra: dict[str, Any] = field(default_factory=dict)
    log: Path | None = None
    derived: float = field(init=False, default=0.0)


GOOD = """# a world
name: crooked
seed: 7
size: [3, 4.5]
weather: rain
things:
- kind: static
  radius: 1
- {kind: moving, speed: 1e-1, route: [[0, 1], [2.5, -3]]}
start: {radius: 0.25}
speeds: {slow: 1, fast: 2.5}
amount: [2, 5]
extra: {a: [1, {b: true}], c: null}
log: some/file.txt
"""
WORLD = World(
    name="crooked",
    seed=7,
    size=(3.0, 4.5),
    weather="rain",
    things=[Static(radius=1.0), Moving("moving", 0.1, ((0.0, 1.0), (2.5, -3.0)))],
    start=Static(radius=0.25),
    speeds={"slow": 1.0, "fast": 2.5},
    amount=(2, 5),
    extra={"a": [1, {"b": True}], "c": None},
    log=Path("some/file.txt"),
)


def message(text, kind=World, **options):
    with pytest.raises(InputError) as caught:
        config.parse(text, kind, "w.yaml", **options)
    return str(caught.value)


def test_a_file_becomes_the_dataclasses_that_code_would_build(tmp_path):
    path = tmp_path / "w.yaml"
    path.write_text(GOOD)
    world = config.load(path, World)
    assert world == WORLD
    assert type(world.size[0]) is float


def test_what_is_dumped_is_read_back_the_same_and_the_text_does_not_change():
    text = config.dump(WORLD)
    assert config.parse(text, World) == WORLD
    assert config.dump(config.parse(text, World)) == text
    assert list(config.plain(WORLD))[:3] == ["name", "seed", "size"], "keys keep the order of the fields"


def test_text_that_looks_like_something_else_survives_the_way_through_a_file():
    for text in (
        "yes",
        "null",
        "3",
        "1e3",
        "0x1f",
        "2001-01-01",
        "~",
        "",
        " a ",
        "a: b",
        "- x",
        "#",
        "é😀",
        "\n",
        "\t",
        "'",
        '"',
        "<<",
        "=",
    ):
        assert config.parse(config.dump({"v": text}), dict[str, str]) == {"v": text}


def test_numpy_numbers_and_arrays_are_dumped_as_plain_ones():
    assert config.plain({"a": np.float32(0.5), "b": np.arange(3), "c": np.bool_(True)}) == {"a": 0.5, "b": [0, 1, 2], "c": True}


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {1, 2}])
def test_what_a_file_cannot_hold_is_not_dumped(value):
    with pytest.raises(InputError, match="a file cannot contain"):
        config.dump({"v": value})


def test_every_problem_of_a_file_is_reported_with_its_line_and_key():
    text = GOOD.replace("seed: 7", "sead: 7").replace("rain", "rian").replace("radius: 1", "radius: wide").replace("[0, 1]", "[0]")
    assert message(text).splitlines() == [
        "w.yaml:3: sead: unknown key; did you mean 'seed'?",
        "w.yaml:2: seed: expected an integer, got nothing: the key is missing",
        "w.yaml:5: weather: expected one of dry, rain, snow, got 'rian'; did you mean 'rain'?",
        "w.yaml:8: things[0].radius: expected a number, got 'wide'",
        "w.yaml:9: things[1].route[0]: expected a list of 2 values, got 1",
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("seed: 7", "seed: 7.0", "w.yaml:3: seed: expected an integer, got 7.0"),
        ("seed: 7", "seed: true", "w.yaml:3: seed: expected an integer, got true"),
        ("seed: 7", "seed: '7'", "w.yaml:3: seed: expected an integer, got '7'; remove the quotes"),
        ("size: [3, 4.5]", "size: [3, nan]", "w.yaml:4: size[1]: expected a number, got 'nan'"),
        ("seed: 7", "seed: 7\nclosed: 1", "w.yaml:4: closed: expected true or false, got 1"),
        ("seed: 7", "seed: 7\nclosed: yes", "w.yaml:4: closed: expected true or false, got 'yes'"),
        ("seed: 7", "seed: 7\nseed: 8", "w.yaml:4: seed: this key occurs twice; the first is on line 3"),
        ("seed: 7", "seed: 7\nderived: 1", "w.yaml:4: derived: unknown key; known names"),
        ("size: [3, 4.5]", "size: [3, .nan]", "w.yaml:4: size[1]: expected a finite number, got nan"),
        ("size: [3, 4.5]", "size: [3, -.inf]", "w.yaml:4: size[1]: expected a finite number, got -inf"),
        ("size: [3, 4.5]", "size: [3, 1e999]", "w.yaml:4: size[1]: expected a finite number, got inf"),
        ("size: [3, 4.5]", f"size: [3, {10**400}]", "w.yaml:4: size[1]: expected a finite number, got an integer beyond 10^18"),
        ("size: [3, 4.5]", "size: 3", "w.yaml:4: size: expected a list, got 3"),
        ("name: crooked", "name: ", "w.yaml:2: name: expected a string, got nothing"),
        ("speed: 1e-1", "speed: -1", "w.yaml:9: things[1]: speed must be above 0, not -1.0"),
        (
            "kind: static",
            "kind: statc",
            "w.yaml:7: things[0].kind: expected one of static, moving, got 'statc'; did",
        ),
        (
            "- kind: static\n  radius",
            "- radius",
            "w.yaml:7: things[0]: expected the key 'kind' with one of static, moving, got none",
        ),
        ("{radius: 0.25}", "[1]", "w.yaml:10: start: expected a mapping or nothing, got a list of 1"),
        ("{radius: 0.25}", "{radis: 0.25}", "w.yaml:10: start.radis: unknown key; did you mean 'radius'?"),
        ("amount: [2, 5]", "amount: many", "w.yaml:12: amount: expected an integer or a list, got 'many'"),
        ("{b: true}", "{b: .inf}", "w.yaml:13: extra.a[1].b: expected a finite number, got inf"),
        ("slow: 1", "slow: [1]", "w.yaml:11: speeds.slow: expected a number, got a list of 1"),
        ("seed: 7", "seed: !!python/tuple 7", "w.yaml:3: expected plain YAML, got the tag"),
        ("seed: 7", "seed: !!int seven", "w.yaml:3: expected a int, got 'seven'"),
        ("seed: 7", "seed: [7", "w.yaml:4: not valid YAML"),
        ("seed: 7", "\tseed: 7", "w.yaml:3: not valid YAML"),
        ("extra: {", "extra: &x {self: *x, ", "w.yaml:13: the aliases of this file refer to themselves"),
        ("extra: {", "extra: {[1]: 2, ", "w.yaml:13: expected a name as key"),
        ("seed: 7", "seed: *nowhere", "w.yaml:3: not valid YAML: found undefined alias"),
    ],
)
def test_a_wrong_value_is_an_error_that_says_where_what_was_expected_and_what_came(old, new, expected):
    assert old in GOOD
    assert message(GOOD.replace(old, new)).startswith(expected)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "3", "- 1\n", "a: 1\n---\nb: 2\n", "[" * 5000, "%YAML 9.9\n--- 1\n"])
def test_a_document_that_is_no_mapping_is_an_error_with_a_line(text):
    assert message(text).startswith("w.yaml:")


def test_aliases_that_blow_up_are_refused_before_they_fill_the_memory():
    lines = ["extra:", "  a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert "too many values" in message("\n".join(lines))


def test_an_alias_is_as_good_as_the_value_it_stands_for():
    assert config.parse("a: &x {v: 1}\nb: *x", dict[str, dict[str, int]]) == {"a": {"v": 1}, "b": {"v": 1}}


def test_json_is_read_with_lines_tabs_and_escapes():
    text = '{\n\t"name": "\\ud83d\\ude00\\/",\n\t"seed":1,\n\t"size": [1E0, -2.5e-1]}'
    world = config.parse(text, World, is_json=True)
    assert (world.name, world.seed, world.size) == ("😀/", 1, (1.0, -0.25))
    assert message(text.replace('"seed":1', '"seed":"1"'), is_json=True).startswith("w.yaml:3: seed: expected an integer")


@pytest.mark.parametrize(
    "text", ["name: x", '{"name": NaN}', "{'name': 1}", '{"a": 1,}', '{"a": 1} {', "[" * 100000, '{"a": "\\ud800"}']
)
def test_what_is_not_json_is_refused_in_a_json_file(text):
    assert message(text, is_json=True).startswith("w.yaml:1: ")


def test_numbers_of_yaml_1_2_are_not_those_of_yaml_1_1():
    assert config.parse("[010, 0x10, 0o10, 1_000, -3, +4]", list[int]) == [10, 16, 8, 1000, -3, 4]
    assert config.parse("[yes, no, on, 1:30, 2001-01-01]", list[str]) == ["yes", "no", "on", "1:30", "2001-01-01"]


def test_files_that_cannot_be_read_say_why(tmp_path):
    (tmp_path / "jackal.yaml").write_bytes(b"name: x\nseed: \xff\xfe\n")
    with pytest.raises(InputError, match=r"jackal\.yaml:2: expected UTF-8 text, got the byte 0xff"):
        config.load(tmp_path / "jackal.yaml", World)
    with pytest.raises(InputError, match="no such file; did you mean 'jackal.yaml'"):
        config.load(tmp_path / "jackel.yaml", World)
    with pytest.raises(InputError, match="expected a file, got a folder"):
        config.load(tmp_path, World)
    with pytest.raises(InputError, match="no such file"):
        config.load(tmp_path / "no" / "folder.yaml", World)
    with pytest.raises(InputError, match="no such file|cannot be read"):
        config.load("a\0b.yaml", World)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "w.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert config.load(tmp_path / "w.yaml", World) == WORLD


def test_plain_data_is_built_by_the_same_rules():
    assert config.build(config.plain(WORLD), World) == WORLD
    with pytest.raises(InputError, match="^flags: seed: expected an integer, got 1.5"):
        config.build({"name": "x", "seed": 1.5, "size": (1, 2)}, World, "flags")
    with pytest.raises(InputError, match="expected names as keys, got 3"):
        config.build({3: 1}, World)
    with pytest.raises(InputError, match="seed: expected plain data, got object"):
        config.build({"seed": object()}, World)
    assert config.build({"v": np.float64(2.0)}, dict[str, float]) == {"v": 2.0}


def test_a_union_of_dataclasses_without_a_key_that_tells_them_apart_is_the_programmers_mistake():
    with pytest.raises(TypeError, match="no Literal field"):
        config.parse("{a: 1}", World | Other)


@dataclass(frozen=True)
class Other:
    a: int


@dataclass(frozen=True)
class Named:
    a: int
    kind: Literal["named"] = "named"


def test_of_a_union_the_key_names_a_dataclass_and_without_it_the_one_that_has_no_name_is_built():
    assert config.parse("{a: 1}", Other | Named) == Other(1)
    assert config.parse("{a: 1, kind: named}", Other | Named) == Named(1)
    assert config.build(config.plain(Named(3)), Other | Named) == Named(3)
    with pytest.raises(InputError, match="kind: expected one of named, got 'names'; did you mean 'named'"):
        config.parse("{a: 1, kind: names}", Other | Named)


def loads_or_input_error(text, **options):
    try:
        config.parse(text, World, **options)
    except InputError as error:
        assert str(error).startswith("text")


PIECES = [*"{}[]:,-&*!|>'\"%@`#?\n\t 0123456789.eE+~", "\n  ", ": ", "- ", "<<: ", "!!", "!!set ", "!!binary ", "&a ", "*a"]
PIECES += ["---\n", "...\n", "%YAML 1.1\n", "%TAG ! x\n", ".nan", "null", "0x", "0o9", "1:30", "\\", "\\ud800", "\x00", "\x85"]
PIECES += ["\u2028", "\ufeff", "😀", "seed", "'7'"]
pieces = st.sampled_from(PIECES)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(start=st.integers(0, len(GOOD)), length=st.integers(0, 12), new=st.lists(pieces, max_size=6))
def test_a_mutated_file_either_loads_or_is_an_input_error(start, length, new):
    loads_or_input_error(GOOD[:start] + "".join(new) + GOOD[start + length :])


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.one_of(st.text(max_size=60), st.lists(pieces, max_size=25).map("".join)), is_json=st.booleans())
def test_any_text_either_loads_or_is_an_input_error(text, is_json):
    loads_or_input_error(text, is_json=is_json)


short = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain_values = st.recursive(
    st.none() | st.booleans() | numbers | short,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(short, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(values=st.dictionaries(st.sampled_from([*World.__dataclass_fields__, "sead"]), plain_values))
def test_plain_data_of_any_shape_either_builds_or_is_an_input_error(values):
    try:
        config.build(values, World)
    except InputError as error:
        assert str(error).startswith("configuration: ")


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(values=st.dictionaries(short, plain_values, max_size=4))
def test_plain_data_of_any_shape_survives_the_way_through_a_file(values):
    assert config.parse(config.dump(values), dict[str, Any]) == values


def test_a_folded_text_is_one_line_and_a_literal_one_keeps_its_lines():
    text = "name: >-\n  one\n  two\nradius: |\n  three\n  four\n"
    assert config.parse(text, dict) == {"name": "one two", "radius": "three\nfour\n"}


@pytest.mark.parametrize("is_json", [False, True])
def test_a_megabyte_is_refused_in_seconds_with_its_line(is_json):
    lines = ",\n".join(f'{{"x": {k}.5, "y": -{k}e-3, "name": "w{k}"}}' for k in range(25_000))
    began = time.process_time()
    with pytest.raises(InputError) as raised:
        config.parse(f'[{lines},\n{{"x": "far"}}]', list[dict[str, float]], "w.yaml", is_json=is_json)
    assert time.process_time() - began < 10.0  # about 2 s
    first, *_, last = str(raised.value).splitlines()
    assert first == "w.yaml:1: [0].name: expected a number, got 'w0'"
    assert last == "there may be more problems"


def test_what_is_too_large_for_lines_is_refused_at_once():
    long = "[" + f'"{"x" * 1000}", ' * 6_000 + '"x"]'
    with pytest.raises(InputError, match="too large; YAML should have at most 6 MB"):
        config.parse(long, list[str], "w.yaml")
    with pytest.raises(InputError, match=r"w.json: invalid, and too large to locate the error"):
        config.parse(long, list[int], "w.json", is_json=True)


def test_surrogates_of_json_are_one_letter_and_backslashes_before_them_are_none():
    assert config.parse(r'["\ud83d\ude00", "a\\\ud83d\ude00", "\\ud83d\\ude00"]', list[str], is_json=True) == [
        "😀",
        "a\\😀",
        r"\ud83d\ude00",
    ]


def test_a_parameter_that_is_a_component_has_parameters_in_brackets():
    planner = config.parse_component("planners", "mppi:samples=64,prediction=crowd_rollout(model=helbing, walls=false)").part
    predictor = planner.prediction
    assert (planner.samples, predictor.name, predictor.part.model.name, predictor.part.walls) == (
        64,
        "crowd_rollout",
        "helbing",
        False,
    )
    with pytest.raises(InputError, match="prediction.model: no crowd model called 'helbig'; did you mean 'helbing'"):
        config.parse_component("planners", "mppi(prediction=crowd_rollout(model=helbig,step=0.1))")
