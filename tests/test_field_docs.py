from __future__ import annotations

import dataclasses

from agora.field_docs import introduction, meanings


def test_meanings_are_found_however_they_are_laid_out():
    @dataclasses.dataclass
    class Snail:
        """Slow.

        Attributes:
            speed, patience: m/s and s.
            shell: of it. slime: how
                much, one: two, of it.
            horn_left: m.
        """

        speed: float
        patience: float
        shell: float
        slime: float
        horn_left: float

    found = meanings(Snail, [field.name for field in dataclasses.fields(Snail)])
    assert found == {
        "speed": "m/s and s.",
        "patience": "m/s and s.",
        "shell": "of it.",
        "slime": "how much, one: two, of it.",
        "horn_left": "m.",
    }


def test_a_parents_words_hold_where_a_component_says_nothing_itself():
    @dataclasses.dataclass
    class Parent:
        """Slow.

        Attributes:
            speed: m/s.
            age: years.
        """

        speed: float
        age: float

    class Child(Parent):
        """Slower than `Parent`.

        It has two lines.

        Attributes:
            speed: cm/s.
        """

    assert meanings(Child, ["speed", "age"]) == {"speed": "cm/s.", "age": "years."}
    assert introduction(Child) == "Slower than `Parent`.\n\nIt has two lines."
