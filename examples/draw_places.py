"""Draw a place of every map generator, and count what stands in one of them."""

from collections import Counter
from pathlib import Path

from agora.registry import available, make
from agora.seeds import Stream
from agora.viewer.figures import save
from agora.viewer.places import place_figure

places = [make("map_generators", name).generate(Stream("example", 1, name)) for name in available("map_generators")]
picture = save(place_figure(places, width=12.0), Path("generators.png"), dpi=100)
office = next(place for place in places if place.map.name == "office")
print(f"{picture}; the office has {dict(Counter(piece.model for piece in office.furniture))}")
