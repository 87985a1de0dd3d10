"""Draws potential.png: the potential that comes with Agora and its force, over those of the simulation from which it was
learned.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agora.learning.potential import recovery_error
from agora.pedestrians.shared.potential import load_potential
from agora.viewer.figures import save, style

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Draw the picture, and print the difference between the two."""
    b, learned, true = np.linspace(0.0, 2.2, 221), load_potential("deep_social_force"), load_potential("helbing_1995")
    with style():
        figure = Figure((8.8, 3.3), layout="constrained")
        axes = figure.subplots(1, 2)
        for place, label, of in ((axes[0], "V (m²/s²)", "value"), (axes[1], "-dV/db (m/s²)", "slope")):
            sign = 1.0 if of == "value" else -1.0
            place.axvspan(0.2, 2.0, color="0.945")
            place.plot(b, sign * getattr(true, of)(b), lw=2.0, label="2.1 exp(-b / 0.3 m)")
            place.plot(b, sign * getattr(learned, of)(b), lw=2.0, ls="--", label="learned from simulated")
            place.set(xlabel="b (m)", ylabel=label)
        axes[0].legend(frameon=False)
    save(figure, HERE / "potential.png", dpi=100)
    print(f"rms difference over the grey range: {100 * recovery_error(learned, true):.2f} %")


if __name__ == "__main__":
    main()
