"""Number of worker deaths per run; 0 for existing runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("deaths", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    """Remove the column."""
    op.drop_column("runs", "deaths")
