"""Agora in a browser: a server, its database, the queue of its runs, and live episodes (extra ``web``)."""
