"""Planners, one package per kind: local, global and learned planners, and interplanners.

Other modules combine planners (`guided`, `recovering`, `switch`), run planners in other processes (`contained`, `remote`), and
serve callers: planners by name (`presets`), the call itself (`adapters`) and operations on memories (`memory`).
"""
