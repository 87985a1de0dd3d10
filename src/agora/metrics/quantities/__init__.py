"""Parts that metrics are computed from: samples of a recording, arithmetic, outlines, lines of sight, zones and groups."""
