"""Validation of crowd models against known facts about pedestrians: flows, the cases of the RiMEA guideline, recorded crowds."""
