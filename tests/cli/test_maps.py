"""The commands ``agora map`` and ``agora import``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.places import furnished

from agora.cli.app import main
from agora.maps.place import read_place, write_place
from agora.registry import Named, available
from agora.seeds import Stream
from agora.tasks.worlds.folder import Folder
from agora.tasks.worlds.generated import Generated


@pytest.fixture
def agora(monkeypatch, capsys, tmp_path):
    """Runs the command line in an empty folder, with an empty data folder; returns exit code, output and errors."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("AGORA_DATA", str(tmp_path / "data"))

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["agora", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_worlds_and_generators_are_listed_each_generator_with_what_it_makes(agora):
    code, text, _ = agora("map", "list")
    assert code == 0
    lines = dict(line.strip().split(maxsplit=1) for line in text.splitlines()[3:])
    assert set(lines) == set(available("map_generators"))
    assert all(line.endswith(".") for line in lines.values())
    assert "hospital, map_empty" in text.splitlines()[0] and text.splitlines()[1] == "imported: -"


def test_a_generated_world_is_that_of_a_suite_and_is_read_back_with_furniture_and_zones(agora):
    code, text, error = agora("map", "generate", "canteen:obstacle_num=5,x=-3.5,y=2.25", "--seed", "4", "-o", "here/mensa")
    assert (code, text, error) == (0, "here/mensa\n", "")
    named = Named.of("map_generators", "canteen", obstacle_num=5, x=-3.5, y=2.25)
    made = Generated(named, seed=4).world("canteen-0", Stream("a", 1, "task"))
    read = Folder("./here/mensa").world("mensa", Stream("a", 1, "task"))
    np.testing.assert_array_equal(read.map.occupied, made.map.occupied)
    assert (read.map.origin, read.map.resolution, read.furniture) == (made.map.origin, made.map.resolution, made.furniture)
    assert [(z.label, z.polygons[0].tolist()) for z in read.zones] == [(z.label, z.polygons[0].tolist()) for z in made.zones]
    assert len(read.furniture) >= 6 and len(read.zones) >= 6


def test_several_worlds_are_folders_of_one_folder_with_their_3d_files(agora):
    code, text, _ = agora("map", "generate", "office", "--count", "2", "-o", "offices", "--export", "sdf,mjcf,glb,obj,unity")
    assert (code, text.splitlines()) == (0, ["offices/office-0", "offices/office-1"])
    endings = {"glb", "mtl", "obj", "unity.json", "world", "xml"}
    for name in ("office-0", "office-1"):
        files = {path.name for path in Path("offices", name, "worlds").iterdir()}
        assert files == {f"{name}.{ending}" for ending in endings}
        scene = json.loads(Path("offices", name, "worlds", f"{name}.unity.json").read_text())
        assert len(scene["furniture"]) == len(read_place(Path("offices", name)).furniture) > 20
    assert Path("offices/office-0/map/map.png").read_bytes() != Path("offices/office-1/map/map.png").read_bytes()


def test_places_are_shown_whatever_names_them(agora):
    Path("den").mkdir()
    write_place(furnished(), Path("den"))
    for name, output in (("./den", "den.png"), ("hospital", "hospital.png"), ("doorway:", "doorway.png")):
        assert agora("map", "show", name) == (0, f"{output}\n", "")
        assert Path(output).read_bytes().startswith(b"\x89PNG")
    assert agora("map", "show", "corridor", "-o", "a.svg")[0] == 0 and "<svg" in Path("a.svg").read_text()


def test_a_place_is_exported_and_the_boxes_are_counted(agora):
    Path("den").mkdir()
    write_place(furnished(), Path("den"))
    code, text, _ = agora("map", "export", "./den", "-o", "out", "--export", "obj,sdf", "--height", "1.9")
    assert code == 0
    assert text.splitlines()[0] == "den: 8 boxes of cells (252 if merged along one axis), 0 shapes, 5 pieces of furniture"
    assert text.splitlines()[1:] == ["out/den.obj", "out/den.mtl", "out/den.world"]
    assert "\nv -3.2 1.9 " in Path("out/den.obj").read_text()


def test_a_world_is_validated_with_exit_code_2_where_something_is_wrong(agora):
    Path("den").mkdir()
    write_place(furnished(), Path("den"))
    code, text, error = agora("map", "validate", "./den")
    assert (code, error) == (0, "") and "for a robot of radius 0.3 m, the map has" in text
    code, _, error = agora("map", "validate", "./den", "--radius", "5")
    assert (code, error) == (2, "error: den: a robot of radius 5 m fits nowhere\n")


def test_what_is_there_stays_and_nothing_is_half_written(agora, monkeypatch):
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine")
    code, _, error = agora("map", "generate", "barn", "-o", "full")
    assert code == 2 and "exists and is not an empty folder; nothing was written" in error
    assert [str(p) for p in Path().rglob("*")] == ["full", "full/mine.txt"]

    def fails(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr("agora.maps.place.write_zones", fails)
    code, _, error = agora("map", "generate", "canteen", "-o", "new")
    assert code == 2 and "cannot be written: disk full" in error
    assert [p.name for p in Path().iterdir()] == ["full"]
    strangers = [Path("new.part"), Path(f".new.{os.getpid()}.part")]
    for stranger in strangers:
        stranger.mkdir()
        (stranger / "theirs.txt").write_text("theirs")
    code, _, error = agora("map", "generate", "barn", "-o", "new")
    assert code == 2 and "cannot be written" in error
    assert all((stranger / "theirs.txt").read_text() == "theirs" for stranger in strangers) and not Path("new").exists()


def test_an_arena_that_is_imported_is_reported(agora, tmp_path):
    source = tmp_path / "arena"
    (source / "entities").mkdir(parents=True)
    (source / "worlds" / "den").mkdir(parents=True)
    write_place(furnished(), source / "worlds" / "den")
    (source / "worlds" / "ruin").mkdir()
    code, text, error = agora("import", "arena", source)
    assert (code, error) == (0, "")
    lines = text.splitlines()
    assert lines[0].startswith("skipped  world ruin: ") and "there is no such file" in lines[0]
    kinds = ("scenarios", "robots", "obstacles", "suites", "contests")
    assert lines[1:] == ["worlds: 1 (den)", *(f"{kind}: 0" for kind in kinds), str(tmp_path / "data")]
    assert agora("map", "list")[1].splitlines()[1] == "imported: den"
    assert agora("map", "validate", "den")[0] == 0
    assert agora("import", "arena", source, "-o", "mine")[0] == 0 and Path("mine/worlds/den/map/map.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("map generate ofice -o x", "no map generator called 'ofice'; did you mean 'office'?"),
        ("map generate canteen:obstacle_nu=3 -o x", "obstacle_nu: unknown key; did you mean 'obstacle_num'?"),
        ("map generate canteen --export gbl -o x", "no kind of 3-D file called 'gbl'; did you mean 'glb'?"),
        ("map generate canteen:width=2 -o x", "counter 1: a counter of 2 m"),
        ("map show hopital", "no world or map generator called 'hopital'; did you mean 'hospital'?"),
        ("map show ./nowhere", "there is no folder ./nowhere"),
        ("map show hospital -o a.gif", "a.gif: expected a file name with one of the extensions .png, .pdf, .svg"),
        ("map show hospital -o no/where/a.png", "no/where/a.png: cannot be written: No such file or directory"),
        ("map validate hopital", "Import Arena worlds with: agora import arena FOLDER"),
        ("map export hospital -o x --export sfd", "no kind of 3-D file called 'sfd'; did you mean 'sdf'?"),
        ("map export hospital -o x --export ,", "--export: expected one or more of sdf, mjcf, glb, obj, unity, got nothing"),
        ("map export hospital -o x --height 0", "height: expected a number above 0"),
        ("import arena nowhere", "nowhere: expected the folder of an Arena installation"),
    ],
)
def test_what_cannot_be_done_is_refused_with_exit_code_2_and_nothing_is_written(agora, arguments, message):
    code, out, error = agora(*arguments.split())
    assert code == 2
    assert message in " ".join(error.split())
    assert "Traceback" not in error and out == ""
    assert list(Path().iterdir()) == []


def test_a_path_that_is_no_world_folder_is_told_for_what_it_is(agora):
    Path("rooms").mkdir()
    for name in ("office.yaml", "office.pgm", "people.xml"):
        Path(name).write_text("image: office.pgm")
    told = {
        name: agora("map", "show", name)[::2] for name in ("./office.yaml", "./office.pgm", "./people.xml", "office.yaml", "./none")
    }
    assert {code for code, _ in told.values()} == {2}
    assert (
        "is a file, not a folder" in told["./office.yaml"][1]
        and "into a folder office/map, as map.yaml" in told["./office.yaml"][1]
    )
    assert "expected the folder of a world, which contains map/map.yaml" in told["./office.pgm"][1]
    assert "agora import pedsim" in told["./people.xml"][1]
    assert "for a path, write ./office.yaml" in told["office.yaml"][1]
    assert told["./none"][1] == "error: there is no folder ./none\n"


def test_a_scenario_of_pedsim_ros_is_brought_in(agora):
    Path("hall.xml").write_text(
        '<scenario><obstacle x1="1" y1="-2" x2="9" y2="-2"/><agent x="3" y="1" n="2" dx="2" dy="1"/></scenario>'
    )
    code, said, _ = agora("import", "pedsim", "hall.xml", "--output", "hall")
    assert (code, said) == (0, "people 2, robots 0, obstacles 1\nhall\n")
    assert agora("map", "validate", "./hall")[0] == 0


def test_a_map_without_a_known_cell_says_so(agora):
    Path("grey/map").mkdir(parents=True)
    Path("grey/map/map.pgm").write_bytes(b"P5 80 60 255\n" + bytes([205]) * 4800)
    Path("grey/map/map.yaml").write_text("image: map.pgm\nresolution: 0.1\norigin: [1.0, -2.0, 0.0]\n")
    code, _, error = agora("map", "validate", "./grey")
    assert code == 2 and "map.yaml: all cells are unknown: no pixel is darker than occupied_thresh" in error
