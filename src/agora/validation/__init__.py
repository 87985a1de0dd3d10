"""Crowd models against known facts about pedestrians: flows, the RiMEA guideline's cases, recorded crowds."""
