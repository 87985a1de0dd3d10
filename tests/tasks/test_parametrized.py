"""Parametrized files: Arena's XML in all its forms, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agora.errors import InputError
from agora.tasks.parametrized import read_parametrized

SECTIONS = """<?xml version="1.0" ?>
<random>
  <static>
    <obstacle name="shelf"><min>2</min><max>7</max><type>shelf</type><model>shelf</model></obstacle>
  </static>
  <interactive><obstacle name="seat" min="0" max="1" model="chair"/></interactive>
  <dynamic>
    <obstacle name="actor1">
      <min>1</min>
      <max> 3 </max>
      <type>human/elder</type>
      <model>actor1</model>
    </obstacle>
  </dynamic>
</random>
"""
UNDER_ONE = """<random><static>
  <obstacle name="shelf" min="2" max="7" type="shelf" model="shelf"/>
  <interactive name="seat"><min>0</min><max>1</max><model>chair</model></interactive>
  <dynamic name="actor1" type="human/elder" model="actor1" min="1"><max>3</max></dynamic>
</static></random>
"""


def read(tmp_path, text):
    path = tmp_path / "some.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_parametrized(path)


def test_both_nestings_and_both_ways_to_write_a_value_say_the_same(tmp_path):
    one, other = read(tmp_path, SECTIONS), read(tmp_path, UNDER_ONE)
    numbers = [("static", "shelf", 2, 7), ("interactive", "chair", 0, 1), ("dynamic", "actor1", 1, 3)]
    for entries in (one, other):
        assert [(e.kind, e.model, e.min, e.max) for e in entries] == numbers
        assert entries[2].type == "human/elder"


ENTRY = '<random>\n<static>\n<obstacle min="1" max="2" model="shelf"/>\n</static>\n</random>'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("random", "randon", ":1: <randon>: expected the root element <random>"),
        ("<static>", "<statik>", ":2: <statik>: unknown element; did you mean 'static'?"),
        ("<obstacle", "<obstackle", ":3: <obstackle>: unknown element; did you mean 'obstacle'?"),
        ('min="1"', "", ":3: <obstacle>: expected min"),
        ('min="1"', 'min="3"', ":3: <obstacle>: min must be at most max = 2, got 3"),
        ('min="1"', 'min="nan"', ":3: <obstacle>: min must be an integer in"),
        ('min="1"', 'min="-1"', ":3: <obstacle>: min must be an integer in"),
        ('min="1"', 'min="1.5"', "got '1.5'"),
        ('max="2"', 'max="10001"', ":3: <obstacle>: max must be an integer in"),
        ('model="shelf"', 'model="shelff"', ":3: <obstacle>: no furniture model called 'shelff'; did you mean 'shelf'?"),
        ('model="shelf"', "", ":3: <obstacle>: expected model"),
        ('model="shelf"', 'modell="shelf"', "unknown attribute 'modell'; did you mean 'model'?"),
        ('model="shelf"', 'model="shelf" min="1"', ":3: not valid XML"),
        ("/>", "><min>1</min></obstacle>", "min occurs twice"),
        ("/>", "><min><max/></min></obstacle>", "min occurs twice"),
        ("/>", "><typo>1</typo></obstacle>", "<typo>: unknown element; did you mean 'type'?"),
        ("/>", ">two</obstacle>", "expected elements, got the text 'two'"),
        ("</random>", "", "not valid XML"),
        ("<random>", "<!DOCTYPE random [<!ENTITY a 'aa'>]><random>", ":1: expected no document type"),
        ("<random>", "<random><random>", "<random>: unknown element"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_element(tmp_path, old, new, message):
    assert old in ENTRY
    text = ENTRY.replace(old, new, 1)
    text = text.replace("</static>", "</statik>") if "statik" in new else text
    text = text.replace("</random>", "</randon>") if new == "randon" else text
    text = text.replace("</random>", "</random></random>") if new == "<random><random>" else text
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value), str(caught.value)
    assert "some.xml:" in str(caught.value)


def test_all_problems_are_reported_together(tmp_path):
    text = SECTIONS.replace("<max>7</max>", "<max>1</max>").replace('model="chair"', 'model="chare"').replace("elder", "older")
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    lines = str(caught.value).splitlines()
    assert [line.split(":")[1] for line in lines] == ["4", "6", "11"]


def test_a_pedestrian_may_look_like_anything_and_furniture_may_not(tmp_path):
    assert read(tmp_path, ENTRY.replace("static", "dynamic").replace("shelf", "big_forklift"))[0].model == "big_forklift"


PIECES = [b"", b"<", b">", b"/", b'"', b"&", b"&#0;", b"<min>", b"9", b"-", b"nan", b"\xff", b"\0", b"]]>", b"<!--", b"1e9", b"\n"]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1), length=st.integers(0, 12), new=st.lists(st.sampled_from(PIECES), max_size=3), one=st.booleans())
def test_a_damaged_file_is_read_or_refused(tmp_path, place, length, new, one):
    content = (SECTIONS if one else UNDER_ONE).encode()
    at = int(place * len(content))
    try:
        read(tmp_path, content[:at] + b"".join(new) + content[at + length :])
    except InputError as error:
        assert "some.xml" in str(error)
