"""Metrics as computed by the code of one publication, if this differs from Agora's metrics. Use them only to reproduce its
published tables.
"""
