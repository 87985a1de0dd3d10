"""The folders of data sets, and their import."""

from __future__ import annotations

import pytest

from agora.datasets import catalogue
from agora.errors import InputError, UnknownNameError


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    monkeypatch.setenv("AGORA_DATA", str(folder))
    return folder


@pytest.fixture
def barn_source(small_barn):
    def make(folder):
        small_barn(folder)
        (folder / "metrics.csv").write_text("world\n")
        (folder / "dwa_reference_runs.csv").write_text("world\n")
        return folder

    return make


def test_the_folder_is_the_one_that_is_named_or_the_users_own(home, monkeypatch):
    assert catalogue.data_home() == home
    monkeypatch.delenv("AGORA_DATA")
    monkeypatch.setenv("HOME", "/somewhere")
    assert str(catalogue.data_home()) == "/somewhere/.local/share/agora"


def test_a_data_set_that_is_not_there_says_how_to_get_it(barn_source, home):
    with pytest.raises(InputError, match="'barn' is missing from .*home/barn; get it from .*agora data import barn FOLDER"):
        catalogue.data_folder("barn")
    assert catalogue.status("barn").state == "absent"
    barn_source(home / "barn")
    (home / "barn" / "paths.json").unlink()
    assert catalogue.status("barn").missing == ("paths.json",)
    with pytest.raises(InputError, match=r"'barn' lacks paths\.json in"):
        catalogue.data_folder("barn")
    with pytest.raises(UnknownNameError, match="did you mean 'barn'"):
        catalogue.data_folder("bran")


def test_an_import_copies_what_belongs_to_the_data_set_and_nothing_else(barn_source, home, tmp_path):
    source = barn_source(tmp_path / "source")
    (source / "secret.txt").write_text("no")
    assert catalogue.import_folder("barn", source) == home / "barn"
    assert catalogue.status("barn").state == "complete"
    assert sorted(path.name for path in (home / "barn").iterdir()) == sorted(catalogue.CATALOGUE["barn"].files)
    assert [path.name for path in home.iterdir()] == ["barn"]
    assert catalogue.import_folder("barn", source) == home / "barn", "once more does no harm"


def test_an_import_that_lacks_a_file_or_does_not_read_leaves_the_data_folder_as_it_was(small_dynabarn, home, tmp_path):
    source = small_dynabarn(tmp_path / "source", loop=False)
    with pytest.raises(InputError, match="loop: expected one of True"):
        catalogue.import_folder("dynabarn", source)
    assert not list(home.glob("*"))
    with pytest.raises(InputError, match="it lacks grids.txt, paths.json, metrics.csv and 1 more"):
        catalogue.import_folder("barn", source)
    with pytest.raises(InputError, match="expected the folder of the data set"):
        catalogue.import_folder("barn", tmp_path / "nowhere")
    assert not list(home.glob("*"))


def test_an_import_that_was_interrupted_goes_on(barn_source, home, tmp_path, monkeypatch):
    source = barn_source(tmp_path / "source")
    real, copied = catalogue.shutil.copyfile, []

    def breaks(path, target):
        if len(copied) == 2:
            raise OSError("the disk is gone")
        copied.append(path.name)
        return real(path, target)

    monkeypatch.setattr(catalogue.shutil, "copyfile", breaks)
    with pytest.raises(InputError, match="cannot be written: the disk is gone"):
        catalogue.import_folder("barn", source)
    assert catalogue.status("barn").state == "absent"
    monkeypatch.setattr(catalogue.shutil, "copyfile", lambda path, target: (copied.append(path.name), real(path, target)))
    catalogue.import_folder("barn", source)
    assert sorted(copied) == sorted(catalogue.CATALOGUE["barn"].files), "no file is copied twice"


def test_a_data_folder_that_cannot_be_written_is_an_input_error(barn_source, home, tmp_path):
    home.write_text("a file in the way")
    with pytest.raises(InputError, match="cannot be written"):
        catalogue.import_folder("barn", barn_source(tmp_path / "source"))


@pytest.mark.data
def test_the_layout_of_the_original_distribution_is_understood(data, home, tmp_path):
    for ours, theirs in catalogue.CATALOGUE["eth_ucy"].elsewhere.items():
        place = tmp_path / "OpenTraj" / "datasets" / theirs
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(data / "eth_ucy" / ours)
    catalogue.import_folder("eth_ucy", tmp_path / "OpenTraj")
    assert catalogue.status("eth_ucy").state == "complete"


@pytest.mark.data
def test_every_data_set_that_is_here_is_complete_and_reads(data, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(data))
    for name in catalogue.CATALOGUE:
        assert catalogue.status(name).missing == ()
    catalogue.check("socnavbench", catalogue.data_folder("socnavbench"))
