"""The table of workers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table("workers", sa.Column("worker", sa.String, primary_key=True), sa.Column("beat", sa.DateTime, nullable=False))


def downgrade() -> None:
    """Remove the table."""
    op.drop_table("workers")
