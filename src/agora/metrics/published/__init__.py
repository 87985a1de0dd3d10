"""Metrics that repeat the code of a single publication, if this code differs from Agora's metrics. Use these metrics only to
reproduce the publication's tables.
"""
