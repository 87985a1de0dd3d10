"""Agora in a browser: a server with its database, its queue of runs, and live episodes (extra ``web``)."""
