"""Map files: orientation, thresholds and modes by hand, round trips, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from agora.errors import InputError
from agora.maps.grid import Map
from agora.maps.io import occupancy, read_map, read_shapes, write_map

LETTER = ["#####..", "#......", "###....", "#......", "#...#.."]
"""An F with a dot, as it is seen: no symmetry turns or mirrors it into itself."""

YAML = "image: f.pgm\nresolution: 0.25\norigin: [-3.5, 1.25, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
GREYS = [0, 89, 90, 100, 205, 206, 254, 255]


def cells(rows):
    return np.array([[c == "#" for c in row] for row in rows])


def p2(rows, ink=0, paper=254):
    body = "\n".join(" ".join(str(ink if c == "#" else paper) for c in row) for row in rows)
    return f"P2\n# a comment\n{len(rows[0])} {len(rows)}\n255\n{body}\n".encode()


def p5(values):
    values = np.atleast_2d(np.asarray(values, np.uint8))
    return f"P5\n{values.shape[1]} {values.shape[0]}\n255\n".encode() + values.tobytes()


def write(folder, yaml=YAML, image=None, name="f.pgm"):
    (folder / name).write_bytes(p2(LETTER) if image is None else image)
    (folder / "world.yaml").write_text(yaml)
    return folder / "world.yaml"


def test_the_top_row_of_the_image_is_the_row_of_largest_y(tmp_path):
    m = read_map(write(tmp_path))
    np.testing.assert_array_equal(m.occupied, cells(LETTER[::-1]))
    assert (m.name, m.resolution, m.origin, m.unknown) == ("world", 0.25, (-3.5, 1.25), None)
    dot = m.centre_of(*np.argwhere(m.occupied)[1])
    assert dot == pytest.approx([-3.5 + 4.5 * 0.25, 1.25 + 0.5 * 0.25])


def test_binary_ascii_and_png_images_give_the_same_map(tmp_path):
    pixels = np.where(cells(LETTER), 0, 254).astype(np.uint8)
    reference = read_map(write(tmp_path)).occupied
    assert (read_map(write(tmp_path, image=p5(pixels))).occupied == reference).all()
    for mode in ("L", "RGB", "RGBA", "P", "1"):
        Image.fromarray(pixels).convert(mode).save(tmp_path / "f.png")
        (tmp_path / "world.yaml").write_text(YAML.replace("f.pgm", "f.png"))
        assert (read_map(tmp_path / "world.yaml").occupied == reference).all(), mode


def test_the_name_of_an_arena_world_is_its_folder(tmp_path):
    folder = tmp_path / "corridor" / "map"
    folder.mkdir(parents=True)
    path = write(folder).rename(folder / "map.yaml")
    path.write_text(YAML + "type: indoor\n")
    assert read_map(path).name == "corridor"


# darkness of the greys: 1, .651, .647, .608, .19608, .192, .004, 0; negated: 0, .349, .353, .392, .804, .808, .996, 1;
# scale gives 1 + 98 (darkness - .196) / .454, e.g. 1 + 98 * .451 / .454 = 98.4 and, negated, 1 + 98 * .153 / .454 = 34.0
@pytest.mark.parametrize(
    ("mode", "negate", "expected"),
    [
        ("trinary", False, [100, 100, 255, 255, 255, 0, 0, 0]),
        ("trinary", True, [0, 255, 255, 255, 100, 100, 100, 100]),
        ("scale", False, [100, 100, 98, 89, 1, 0, 0, 0]),
        ("scale", True, [0, 34, 34, 43, 100, 100, 100, 100]),
        ("raw", False, GREYS),
        ("raw", True, [255, 166, 165, 155, 50, 49, 1, 0]),
    ],
)
def test_occupancy_follows_map_servers_rules(mode, negate, expected):
    pixels = np.array(GREYS, np.uint8).reshape(1, -1, 1)
    assert occupancy(pixels, mode, negate, 0.65, 0.196).tolist() == [expected]


def test_alpha_counts_as_a_colour_in_trinary_and_as_knowledge_in_scale():
    # a pixel of half grey, opaque and transparent: trinary takes the mean of four channels
    pixels = np.array([[[120, 120, 120, 255], [120, 120, 120, 0]]], np.uint8)
    assert occupancy(pixels, "trinary", False, 0.65, 0.196).tolist() == [[255, 255]]
    assert occupancy(pixels, "trinary", False, 0.60, 0.5).tolist() == [[0, 100]]
    assert occupancy(pixels, "scale", False, 0.65, 0.196).tolist() == [[72, 255]]


@pytest.mark.parametrize(
    ("mode", "occupied", "unknown"),
    [
        ("trinary", [1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0, 0]),
        ("scale", [1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]),
        ("raw", [0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0, 1]),
    ],
)
def test_modes_decide_what_is_occupied_and_what_is_unknown(tmp_path, mode, occupied, unknown):
    image = p5(np.stack([GREYS, np.full(8, 254 if mode != "raw" else 0)]))
    m = read_map(write(tmp_path, YAML + f"mode: {mode}\n", image))
    assert m.occupied[1].tolist() == [bool(v) for v in occupied]
    assert not m.occupied[0].any()
    assert (np.zeros(8, bool) if m.unknown is None else m.unknown[1]).tolist() == [bool(v) for v in unknown]


def test_negate_turns_ink_into_paper(tmp_path):
    m = read_map(write(tmp_path, YAML.replace("negate: 0", "negate: 1"), p2(LETTER, ink=255, paper=10)))
    np.testing.assert_array_equal(m.occupied, cells(LETTER[::-1]))
    m = read_map(write(tmp_path, YAML.replace("negate: 0", "negate: true"), p2(LETTER, ink=255, paper=10)))
    np.testing.assert_array_equal(m.occupied, cells(LETTER[::-1]))


def test_what_is_written_is_read_back(tmp_path, rng):
    unknown = rng.random((9, 14)) < 0.2
    m = Map("round", 0.07, (1.5, -20.25), (rng.random((9, 14)) < 0.3) & ~unknown, unknown)
    write_map(m, tmp_path / "round.yaml")
    again = read_map(tmp_path / "round.yaml")
    np.testing.assert_array_equal(again.occupied, m.occupied)
    np.testing.assert_array_equal(again.unknown, m.unknown)
    assert (again.name, again.resolution, again.origin) == (m.name, m.resolution, m.origin)


def test_shapes_are_drawn_into_the_written_image(tmp_path):
    m = Map.from_shapes(segments=[[0.05, 0.31, 0.95, 0.31]], discs=[[0.75, 0.75, 0.12]], bounds=(0, 0, 1, 1.2), resolution=0.1)
    write_map(m, tmp_path / "drawn.yaml")
    drawn = read_map(tmp_path / "drawn.yaml").occupied
    assert drawn[3].all()
    assert not drawn[[0, 1, 2, 4, 5, 9, 10, 11]].any()
    assert drawn[6:9, 7].all()


@pytest.mark.data
def test_published_maps_are_read(data):
    m = read_map(data / "socnavbench" / "maps" / "ETH.yaml")
    assert m.shape == (378, 285)
    assert 0.01 < m.occupied.mean() < 0.9


BROKEN = [
    (YAML.replace("0.0]", "0.3]"), 3, "origin", "yaw"),
    (YAML.replace("origin: [-3.5, 1.25, 0.0]", "origin: [-3.5, 1.25]"), 3, "origin", "3 values"),
    (YAML.replace("resolution: 0.25", "resolution: 0"), 2, "resolution", "above 0"),
    (YAML.replace("resolution: 0.25", "resolution: .nan"), 2, "resolution", "finite"),
    (YAML.replace("resolution: 0.25", "resolution: fine"), 2, "resolution", "number"),
    (YAML.replace("resolution", "resolutoin"), 2, "resolutoin", "did you mean 'resolution'"),
    (YAML.replace("negate: 0", "negate: 7"), 4, "negate", "0 or 1"),
    (YAML.replace("free_thresh: 0.196", "free_thresh: 0.7"), 6, "free_thresh", "<="),
    (YAML + "mode: trinery\n", 7, "mode", "did you mean 'trinary'"),
    (YAML + "negate: 1\n", 7, "negate", ""),
    (YAML.replace("resolution: 0.25\n", ""), 1, "resolution", "missing"),
    ("- 1\n- 2\n", 1, "", "mapping"),
    ("image: [f.pgm\n", None, "", ""),
]


@pytest.mark.parametrize(("text", "line", "key", "said"), BROKEN)
def test_a_wrong_yaml_is_refused_with_file_line_and_key(tmp_path, text, line, key, said):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_map(path)
    message = str(error.value)
    assert str(path) in message
    assert line is None or f":{line}" in message
    assert key in message
    assert said in message


@pytest.mark.parametrize(
    "image", [b"", b"P5\n7 5\n255\nabc", b"P2\n7 5\n255\n1 2 3", b"no image", p5([[0]]), b"P5\n7 5\n65535\n" + bytes(70)]
)
def test_a_wrong_image_is_refused_with_both_files(tmp_path, image):
    path = write(tmp_path, image=image)
    with pytest.raises(InputError, match=r"f\.pgm") as error:
        read_map(path)
    assert "world.yaml" in str(error.value)


def test_missing_files_are_refused_by_name(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        read_map(tmp_path / "nowhere.yaml")
    path = write(tmp_path)
    (tmp_path / "f.pgm").unlink()
    with pytest.raises(InputError, match="image not found"):
        read_map(path)


SHAPES = """\
name: hall
resolution: 0.2
bounds: [-1.0, -2.0, 12.0, 7.5]
segments: [[0, 0, 10, 0], [10, 0, 10, 5]]
polygons:
  - [[3, 1], [4, 1], [3.5, 2]]
discs: [[7, 3, 0.25]]
"""


def test_shapes_are_read_from_yaml_and_json_alike(tmp_path):
    (tmp_path / "s.yaml").write_text(SHAPES)
    values = {
        "name": "hall",
        "resolution": 0.2,
        "bounds": [-1.0, -2.0, 12.0, 7.5],
        "segments": [[0, 0, 10, 0], [10, 0, 10, 5]],
        "polygons": [[[3, 1], [4, 1], [3.5, 2]]],
        "discs": [[7, 3, 0.25]],
    }
    (tmp_path / "s.json").write_text(json.dumps(values, indent="\t"))
    yaml, jason = read_shapes(tmp_path / "s.yaml"), read_shapes(tmp_path / "s.json")
    for m in (yaml, jason):
        assert (m.name, m.resolution, m.origin, m.shape) == ("hall", 0.2, (-1.0, -2.0), (48, 65))
        assert len(m.walls) == 5
    np.testing.assert_array_equal(yaml.clearance, jason.clearance)
    assert yaml.clearance_at([3.5, 1.5]) == 0


@pytest.mark.parametrize(
    ("before", "after", "line", "key"),
    [
        ("0.25]", "-0.25]", 7, "discs"),
        ("[10, 0, 10, 5]", "[10, 0, 10]", 4, "segments"),
        ("  - [[3, 1], [4, 1], [3.5, 2]]", "  - [[3, 1], [4, 1]]", 6, "polygons"),
        ("12.0", "-12.0", 3, "bounds"),
        ("segments", "segmets", 4, "segments"),
    ],
)
def test_wrong_shapes_are_refused_with_line_and_key(tmp_path, before, after, line, key):
    path = tmp_path / "s.yaml"
    path.write_text(SHAPES.replace(before, after))
    with pytest.raises(InputError, match=rf"s\.yaml:{line}.*{key}"):
        read_shapes(path)


def mutated(text):
    """The text with a few of its stretches cut, doubled or replaced by odd characters."""
    odd = st.sampled_from(
        ["", ":", "[", "]", "{", "- ", "\t", "\x00", "&a", "*a", "!!python", "1e999", ".nan", "-", "'", "\n", "2020-13-40", "é"]
    )
    edits = st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, 12), odd), min_size=1, max_size=3)

    def apply(edits):
        out = text
        for at, length, new in edits:
            out = out[:at] + new + out[at + length :]
        return out

    return edits.map(apply)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated(YAML))
def test_a_damaged_map_file_is_a_map_or_an_input_error(tmp_path, text):
    path = write(tmp_path, text.replace("\r", ""))
    try:
        m = read_map(path)
    except InputError as error:
        assert "world.yaml" in str(error)
    else:
        assert m.shape == (5, 7)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated(SHAPES))
def test_a_damaged_shapes_file_is_a_map_or_an_input_error(tmp_path, text):
    path = tmp_path / "s.yaml"
    path.write_text(text)
    try:
        assert min(read_shapes(path).shape) >= 2
    except InputError as error:
        assert "s.yaml" in str(error)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=40), st.integers(0, 30))
def test_a_damaged_image_is_a_map_or_an_input_error(tmp_path, junk, at):
    image = p5(np.where(cells(LETTER), 0, 254))
    path = write(tmp_path, image=image[:at] + junk + image[at + len(junk) :])
    try:
        read_map(path)
    except InputError as error:
        assert "world.yaml" in str(error)


@pytest.mark.parametrize(("side", "resolution", "wider"), [(10_000, 0.001, "0.0016"), (16_000, 0.1, "0.25")])
def test_a_map_of_too_many_cells_is_refused_before_it_is_drawn(tmp_path, side, resolution, wider):
    """10 x 10 m in cells of 1 mm, and 1,600 m in cells of 0.1 m: neither was ready after minutes."""
    row = np.full(-(-side // 8), 255, np.uint8).tobytes()
    image = f"P4\n{side} {side}\n".encode() + row * side
    file = write(tmp_path, YAML.replace("0.25", str(resolution), 1), image)
    expected = rf"{side} x {side} cells of {resolution} m are more than 40 million; use cells of at least {wider} m"
    with pytest.raises(InputError, match=expected):
        read_map(file)
    with pytest.raises(InputError, match=expected):
        Map.open((0.0, 0.0), (side * resolution, side * resolution), resolution=resolution)


def test_an_image_of_sixty_thousand_pixels_a_side_is_refused_by_its_header(tmp_path):
    with pytest.raises(InputError, match=r"60000 x 60000 pixels; expected 2 to 16384 per side"):
        read_map(write(tmp_path, image=b"P4\n60000 60000\n" + bytes(1000)))
