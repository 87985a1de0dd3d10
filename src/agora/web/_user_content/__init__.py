"""Worlds, scenarios and suites that users store on a server: edited on pages, drawn, or imported from files."""
