"""Planners, a package for each kind: local, global and learned planners, and interplanners.

Beside them stand planners made of other planners (`guided`, `recovering`, `switch`), planners in other processes (`contained`,
`remote`), and what callers need: planners by name (`presets`), the call itself (`adapters`) and operations on memories (`memory`).
"""
