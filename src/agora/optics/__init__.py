"""Geometry of lidars and cameras: casting rays to obstacles, and projecting pixels to points. The sensors themselves are in
`agora.channels`.
"""
