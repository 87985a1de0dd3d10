"""Alembic's entry: it runs the versions over the connection that `agora.web.database` hands it."""

from __future__ import annotations

from alembic import context

from agora.web._accounts.tables import Key

context.configure(connection=context.config.attributes["connection"], target_metadata=Key.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
