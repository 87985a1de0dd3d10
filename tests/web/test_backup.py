"""A backup holds all, and is restored into any kind of database; one that is not whole restores nothing."""

from __future__ import annotations

import io
import os
import tarfile

import pytest
from sqlalchemy.orm import Session

from agora.errors import InputError
from agora.web._runs.queue import RunQueue
from agora.web._tables import Run, now
from agora.web.backup import LAST, back_up, restore
from agora.web.database import open_database
from agora.web.settings import Settings

WORDS = "two lines\nand «quotes», 人, <b>"


@pytest.fixture
def kept(settings):
    """A server with runs, files of odd names, and what a killed process has left."""
    with open_database(settings.url) as engine:
        queue = RunQueue(engine)
        queue.put(WORDS, {"suite": "demo", "planners": ["orca"], "none": None})
        queue.cancel(queue.put("cancelled", {}).id)
        queue.take("a worker")
    (settings.runs / "one").mkdir()
    (settings.runs / "one" / "rows.jsonl").write_bytes(b'{"key": 1}\n{"key"')
    (settings.runs / "one" / ".rows.jsonl.12.part").write_bytes(b"half")
    settings.scenarios.mkdir()
    (settings.scenarios / "ä b.json").write_text("{}", encoding="utf-8")
    (settings.folder / "link").symlink_to("/etc/passwd")
    os.utime(settings.scenarios / "ä b.json", (1.5e9, 1.5e9))
    return settings


def rows(url):
    with open_database(url) as engine:
        return [(run.plain(), run.beat, run.worker, run.stop) for run in RunQueue(engine).runs()]


def test_all_rows_and_files_are_restored_whatever_the_kind_of_database(kept, url, tmp_path):
    before = rows(kept.url)
    held = back_up(kept, tmp_path / "backup.tar.gz", print)
    assert (held["runs"], held["files"]) == (2, 2)
    there = Settings(tmp_path / "elsewhere" / "deep", url)
    assert restore(there, tmp_path / "backup.tar.gz", print) == held
    assert rows(url) == before
    assert (there.runs / "one" / "rows.jsonl").read_bytes() == b'{"key": 1}\n{"key"'
    assert (there.scenarios / "ä b.json").stat().st_mtime == 1.5e9
    assert sorted(path.name for path in there.folder.iterdir()) == ["runs", "scenarios"]
    assert back_up(there, tmp_path / "again.tar.gz", print) == held


def test_a_backup_within_the_folder_does_not_hold_itself(kept):
    place = kept.folder / "backup.tar.gz"
    assert back_up(kept, place, print) == back_up(kept, place, print)


def test_nothing_is_restored_over_what_is_there(kept, url, tmp_path):
    back_up(kept, tmp_path / "backup.tar.gz", print)
    with pytest.raises(InputError, match="expected an empty or new folder"):
        restore(kept, tmp_path / "backup.tar.gz", print)
    with open_database(url) as engine:
        RunQueue(engine).put("mine", {})
    with pytest.raises(InputError, match="already contains rows"):
        restore(Settings(tmp_path / "new", url), tmp_path / "backup.tar.gz", print)
    assert len(rows(url)) == 1 and not (tmp_path / "new").exists()


@pytest.mark.parametrize("share", [0.0, 0.2, 0.8])
def test_a_backup_that_was_cut_off_restores_nothing(kept, tmp_path, share):
    place = tmp_path / "backup.tar.gz"
    back_up(kept, place, print)
    place.write_bytes(place.read_bytes()[: int(share * place.stat().st_size)])
    with pytest.raises(InputError, match="incomplete"):
        restore(Settings(tmp_path / "new"), place, print)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["../out", "/etc/out", "folder/../../out", "folder/agora.sqlite"])
def test_a_file_that_leads_out_is_refused(name, tmp_path):
    with tarfile.open(tmp_path / "bad.tar.gz", "w:gz") as tar:
        tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(InputError, match="does not belong in a backup"):
        restore(Settings(tmp_path / "new"), tmp_path / "bad.tar.gz", print)


def test_a_backup_of_a_newer_agora_is_refused(kept, tmp_path):
    with tarfile.open(tmp_path / "new.tar.gz", "w:gz") as tar:
        said = b'{"agora": "99.0", "revision": "9999", "counts": {"files": 0}}'
        member = tarfile.TarInfo(LAST)
        member.size = len(said)
        tar.addfile(member, io.BytesIO(said))
    with pytest.raises(InputError, match="9999"):
        restore(Settings(tmp_path / "new"), tmp_path / "new.tar.gz", print)
    assert not (tmp_path / "new").exists()


def test_a_backup_holds_what_was_acknowledged_while_others_write(kept, tmp_path):
    with open_database(kept.url) as engine, Session(engine) as session:
        session.add(Run(id="half", title="half", state="queued", form={}, created=now()))
        session.flush()
        assert back_up(kept, tmp_path / "backup.tar.gz", print)["runs"] == 2
        session.commit()
    assert back_up(kept, tmp_path / "backup.tar.gz", print)["runs"] == 3
