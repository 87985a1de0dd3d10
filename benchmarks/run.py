"""`make bench`: prints one table of how fast Agora is compared with plain C and published packages. See README.md."""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import against_c  # noqa: E402
import against_c_potential  # noqa: E402
import against_peers  # noqa: E402
import planning  # noqa: E402
import training  # noqa: E402
import whole  # noqa: E402
from measure import Bench, Effort, Line, busy  # noqa: E402

import policies  # noqa: E402


def main() -> None:
    """Run the requested measurements; a missed target is not an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    efforts = parser.add_mutually_exclusive_group()
    efforts.add_argument("--quick", action="store_true", help="fewer repetitions: for a first look")
    efforts.add_argument("--smoke", action="store_true", help="run every line once, without timing: for the tests")
    parser.add_argument("--only", metavar="NAME", action="append", help="lines whose name contains NAME; may be repeated")
    options = parser.parse_args()
    files = (against_c, against_c_potential, against_peers, planning, policies, training, whole)
    benches = [bench for file in files for bench in file.benches()]
    chosen = [b for b in benches if not options.only or any(part in b.name for part in options.only)]
    if not chosen:
        parser.error(f"no line is called that; there are {', '.join(b.name for b in benches)}")
    if not options.smoke:
        _print_head()
    for bench in chosen:
        if options.smoke:
            bench.measure(Effort.SMOKE)
            print(bench.name, flush=True)
        else:
            others = busy()
            _print(bench, bench.measure(Effort.QUICK if options.quick else Effort.FULL), others)


def _print_head() -> None:
    """Print what the columns mean, and their names."""
    print(
        f"{_cpu()}, {os.cpu_count()} cores. Ratio: median seconds of the other / ours. Busy: cores that others used just before.\n"
    )
    print(f"{'name':22} {'against':14} {'ours':>9} {'other':>9} {'value':>9} {'spread':>17} {'target':>8}  {'':6} {'busy':>4}")


def _cpu() -> str:
    """Return the processor's name."""
    try:
        names = [
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def _print(bench: Bench, line: Line, others: float) -> None:
    target = f"{'<' if bench.most else '>'} {bench.target:g}"
    verdict = "met" if bench.met(line) else "missed"
    print(
        f"{bench.name:22} {bench.against:14} {line.ours:>9} {line.other:>9} {f'{line.value:.3g} {bench.unit}':>9} {line.spread:>17}"
        f" {target:>8}  {verdict:6} {others:4.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
