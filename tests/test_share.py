"""The files that travel with the library."""

from __future__ import annotations

import pytest

from agora import share
from agora.errors import InputError


def test_a_checkout_has_its_folders_beside_src():
    assert (share.folder("configs") / "robots" / "jackal.yaml").is_file()


def test_a_wheel_has_them_inside_the_package_and_they_win(monkeypatch, tmp_path):
    package = tmp_path / "lib" / "site-packages" / "agora"
    (package / "_share" / "configs").mkdir(parents=True)
    monkeypatch.setattr(share, "_PACKAGE", package)
    assert share.folder("configs") == package / "_share" / "configs"


def test_a_folder_that_merely_lies_near_the_package_is_not_taken(monkeypatch, tmp_path):
    package = tmp_path / "site-packages" / "agora"
    package.mkdir(parents=True)
    (tmp_path / "configs").mkdir()
    monkeypatch.setattr(share, "_PACKAGE", package)
    with pytest.raises(InputError, match="_share.configs is missing; the installation is incomplete"):
        share.folder("configs")
