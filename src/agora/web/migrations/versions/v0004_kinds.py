"""Kinds of runs; existing runs become benchmark runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("kind", sa.String, nullable=False, server_default="bench"))


def downgrade() -> None:
    """Remove the column."""
    op.drop_column("runs", "kind")
