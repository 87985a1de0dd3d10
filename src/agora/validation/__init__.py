"""Crowd models against what is known of pedestrians: flows, the RiMEA guideline's cases, recorded crowds."""
