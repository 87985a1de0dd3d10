"""Worlds, scenarios and suites that users store on a server; they are edited or drawn on the pages, or imported from files."""
