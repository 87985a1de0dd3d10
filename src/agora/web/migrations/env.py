"""Alembic's entry point, which runs the migrations over the connection from `agora.web.database`."""

from __future__ import annotations

from alembic import context

from agora.web._accounts.tables import Key

context.configure(connection=context.config.attributes["connection"], target_metadata=Key.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
