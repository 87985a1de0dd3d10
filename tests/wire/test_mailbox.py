"""Texts over sockets: their order, their length, and connections that never end."""

from __future__ import annotations

import math
import os
import socket
import threading
import time

import pytest

from agora.errors import InputError
from agora.wire.address import Address
from agora.wire.mailbox import _OPEN, LONGEST, Mailbox, deliver


@pytest.fixture
def mailbox(tmp_path):
    box = Mailbox(Address.of(str(tmp_path / "box")))
    yield box
    box.close()


def soon():
    return time.monotonic() + 20.0


def test_texts_come_in_the_order_in_which_they_were_sent(mailbox):
    texts = [f"{k} " + "äx" * (k * 997 % 5000) for k in range(300)]
    thread = threading.Thread(target=lambda: [deliver(mailbox.address, text, 5.0) for text in texts])
    thread.start()
    letters = [mailbox.wait(soon()) for _ in texts]
    thread.join()
    assert [letter.text for letter in letters] == texts
    assert {(letter.sender, letter.problem) for letter in letters} == {(os.getpid(), "")}
    assert mailbox.wait(time.monotonic()) is None


def test_a_text_in_parts_is_one_when_its_connection_is_closed_and_others_do_not_wait_for_it(mailbox):
    with mailbox.address.socket() as slow:
        slow.connect(mailbox.address.path)
        slow.sendall(b"sen")
        deliver(mailbox.address, "ready", 5.0)
        deliver(mailbox.address, "", 5.0)
        assert mailbox.wait(soon()).text == "ready"
        assert mailbox.wait(time.monotonic() + 0.05) is None and mailbox.begun == 1
        slow.sendall(b"se")
    assert mailbox.wait(soon()).text == "sense" and mailbox.begun == 0


def test_the_longest_text_is_taken_and_a_longer_one_is_not(mailbox):
    def send(length):
        try:
            deliver(mailbox.address, "x" * length, 5.0)
        except ConnectionError:
            assert length > LONGEST

    for length in (LONGEST, LONGEST + 1):
        thread = threading.Thread(target=send, args=(length,))
        thread.start()
        letter = mailbox.wait(soon())
        thread.join()
        assert len(letter.text) == (length if length == LONGEST else 0)
        assert letter.problem == ("" if length == LONGEST else f"a message is longer than {LONGEST} bytes")


def test_of_too_many_open_connections_the_oldest_is_closed_and_said(mailbox):
    open_ones = []
    for _ in range(_OPEN + 1):
        open_ones.append(mailbox.address.socket())
        open_ones[-1].connect(mailbox.address.path)
        open_ones[-1].sendall(b"half")
        mailbox.wait(time.monotonic() + 0.01) if len(open_ones) <= _OPEN else None
    assert mailbox.wait(soon()).problem == "a connection with 4 bytes was never closed"
    assert open_ones[0].recv(1) == b""
    open_ones[1].close()
    assert mailbox.wait(soon()).text == "half"
    for one in open_ones:
        one.close()


def test_visitors_are_known_before_they_say_anything(mailbox):
    with mailbox.address.socket() as visitor:
        visitor.connect(mailbox.address.path)
        assert mailbox.visitor(math.inf) == os.getpid()
    assert mailbox.visitor(time.monotonic()) is None


def test_what_is_delivered_to_the_wrong_process_is_not_sent(mailbox):
    with pytest.raises(InputError, match=f"process {os.getpid()} listens there now, expected process 1;"):
        deliver(mailbox.address, "secret", 5.0, to=1)
    assert mailbox.wait(time.monotonic() + 0.05) is None


def test_who_does_not_take_a_text_is_waited_for_only_so_long(tmp_path):
    address = Address.of(str(tmp_path / "full"))
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(address.path)
        deaf.listen(0)
        deliver(address, "one fits", 0.2)
        began = time.monotonic()
        with pytest.raises(OSError):
            deliver(address, "one does not", 0.2)
        assert time.monotonic() - began > 0.15
