"""The catalogue of data sets; finds their folders and imports them.

The environment variable ``AGORA_DATA`` names the data folder; the default is ``~/.local/share/agora``. Each data set is a subfolder
of the data folder.
"""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agora.errors import InputError, UnknownNameError
from agora.share import data_home


@dataclass(frozen=True)
class DataSet:
    """A data set that Agora can read but does not ship.

    Attributes:
        name: name of the folder and of the module in `agora.datasets`; the module provides ``check(folder)``.
        title: one-line description.
        origin: origin and terms of use of the data.
        files: expected files, relative to the folder of the data set.
        elsewhere: folders of the original distribution in which `import_folder` also looks for files, by the corresponding folder
            in Agora's data set.
    """

    name: str
    title: str
    origin: str
    files: tuple[str, ...]
    elsewhere: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DataStatus:
    """The state of a data set on this machine.

    Attributes:
        name: name of the data set.
        folder: folder in which the data set is expected.
        state: whether all, some or none of the files exist.
        missing: missing files.
    """

    name: str
    folder: Path
    state: Literal["complete", "incomplete", "absent"]
    missing: tuple[str, ...]


def _in_folders(**files: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for folder, names in files.items() for name in names.split())


CATALOGUE = {
    data.name: data
    for data in (
        DataSet(
            "eth_ucy",
            "ETH and UCY: annotated pedestrians of six scenes",
            "github.com/crowdbotp/OpenTraj (97ec1d5e), datasets/ETH and datasets/UCY; terms of the authors: credit them",
            _in_folders(
                eth="obsmat.txt H.txt groups.txt destinations.txt map.png map.xml",
                hotel="obsmat.txt H.txt groups.txt destinations.txt map.png map.xml",
                zara01="obsmat.txt annotation.vsp H.txt groups.txt destinations.txt map.xml",
                zara02="obsmat.txt annotation.vsp H.txt groups.txt destinations.txt map.xml",
                students001="students001.txt annotation.vsp",
                students003="students003.txt obsmat.txt annotation.vsp H.txt groups.txt",
            ),
            {
                "eth": "ETH/seq_eth",
                "hotel": "ETH/seq_hotel",
                "zara01": "UCY/zara01",
                "zara02": "UCY/zara02",
                "students001": "UCY/students01",
                "students003": "UCY/students03",
            },
        ),
        DataSet(
            "socnavbench",
            "SocNavBench: 33 curated episodes with recorded pedestrians and maps",
            "facts of github.com/CMU-TBD/SocNavBench (2724ea85, MIT); maps digitised from its figures",
            (
                "episodes.json",
                *_in_folders(pedestrians="eth.csv hotel.csv univ.csv zara01.csv zara02.csv"),
                *(
                    f"maps/{name}.{kind}"
                    for name in ("ETH", "Univ", "Zara", "DoubleHotel", "HotelSmall")
                    for kind in ("yaml", "pgm")
                ),
            ),
        ),
        DataSet(
            "barn",
            "BARN: static worlds of cylinders for ground navigation",
            "worlds and paths of github.com/Daffan/the-barn-challenge (bf5a226f, MIT), reduced to grids",
            ("grids.txt", "paths.json", "metrics.csv", "dwa_reference_runs.csv"),
        ),
        DataSet(
            "dynabarn",
            "DynaBARN: worlds of moving cylinders",
            "obstacle plugins of github.com/Daffan/the-barn-challenge (bf5a226f, MIT) and "
            "Kun-777/ROS-Jackal-Data_Collection-Local (5890c0c2), reduced to key frames",
            ("worlds.json",),
        ),
    )
}


def data_set(name: str) -> DataSet:
    """Return the entry of a data set.

    Raises:
        UnknownNameError: no data set has this name.
    """
    if name not in CATALOGUE:
        raise UnknownNameError("data set", name, CATALOGUE)
    return CATALOGUE[name]


def status(name: str) -> DataStatus:
    """Return the state of a data set on this machine, without opening any file.

    Raises:
        UnknownNameError: no data set has this name.
    """
    data, folder = data_set(name), data_home() / name
    missing = tuple(file for file in data.files if not (folder / file).is_file())
    state: Literal["complete", "incomplete", "absent"] = "complete"
    if missing:
        state = "absent" if len(missing) == len(data.files) else "incomplete"
    return DataStatus(name, folder, state, missing)


def missing(name: str) -> str:
    """Return a one-line message that a data set is missing or incomplete and how to get it; empty if the data set is complete.

    Raises:
        UnknownNameError: no data set has this name.
    """
    found = status(name)
    if found.state == "complete":
        return ""
    what = "is missing from" if found.state == "absent" else f"lacks {_some(found.missing)} in"
    return (
        f"the data set {name!r} {what} {found.folder}; get it from {data_set(name).origin}, "
        f"then: agora data import {name} FOLDER (set AGORA_DATA to use another data folder)"
    )


def data_folder(name: str) -> Path:
    """Return the folder of a data set.

    Raises:
        UnknownNameError: no data set has this name.
        InputError: the data set is missing or incomplete; the message says how to get it.
    """
    if lacking := missing(name):
        raise InputError(lacking)
    return data_home() / name


def import_folder(name: str, source: str | Path) -> Path:
    """Check a data set and copy it to the data folder. An interrupted copy is continued by the next call.

    Args:
        name: name of the data set.
        source: folder that contains the files, arranged as in the data folder or as in the original distribution.

    Returns:
        The folder of the data set.

    Raises:
        InputError: files are missing or do not belong to this data set (in both cases the data folder is unchanged), or the folder
            cannot be written.
    """
    data, source = data_set(name), Path(source)
    if not source.is_dir():
        raise InputError(f"{source}: expected the folder of the data set {name!r}")
    found = {file: _find(source, file, data.elsewhere) for file in data.files}
    missing = tuple(file for file, path in found.items() if path is None)
    if missing:
        raise InputError(f"{source}: not the data set {name!r}: it lacks {_some(missing)}")
    target = data_home() / name
    part = target.with_name(f".{name}.part")
    try:
        for file, path in found.items():
            if path is not None:
                _copy(path, part / file)
        try:
            check(name, part)
        except InputError as error:
            shutil.rmtree(part)
            raise InputError(_of_source(str(error), part, found)) from error
        for file in data.files:
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            os.replace(part / file, target / file)
        shutil.rmtree(part)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error}") from error
    return target


def _of_source(message: str, part: Path, found: Mapping[str, Path | None]) -> str:
    """Return a message in which the paths of temporary copies are replaced by the paths of the original files."""
    for file, path in found.items():
        message = message.replace(str(part / file), str(path))
    return message


def check(name: str, folder: Path) -> None:
    """Check a data set by reading all its files once.

    Raises:
        InputError: a file is invalid; the message gives file and line.
    """
    importlib.import_module(f"agora.datasets.{data_set(name).name}").check(folder)


def _find(source: Path, file: str, elsewhere: Mapping[str, str]) -> Path | None:
    folder, _, rest = file.partition("/")
    places = [source / file]
    if folder in elsewhere:
        places += [source / elsewhere[folder] / rest, source / "datasets" / elsewhere[folder] / rest]
    return next((place for place in places if place.is_file()), None)


def _copy(path: Path, target: Path) -> None:
    """Copy a file atomically, unless an identical copy exists."""
    if target.is_file() and target.stat().st_size == path.stat().st_size and target.read_bytes() == path.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    shutil.copyfile(path, part)
    os.replace(part, target)


def _some(files: tuple[str, ...]) -> str:
    return ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
