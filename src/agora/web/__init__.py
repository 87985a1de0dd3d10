"""Agora in a browser: a web server with a database, a queue of runs, and live episodes (requires the ``web`` extra)."""
