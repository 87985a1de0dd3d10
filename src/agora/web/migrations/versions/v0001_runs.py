"""The table of runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "runs",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("title", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("form", sa.JSON, nullable=False),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("message", sa.String, nullable=False),
        sa.Column("stop", sa.Boolean, nullable=False),
        sa.Column("worker", sa.String, nullable=False),
        sa.Column("beat", sa.DateTime),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("started", sa.DateTime),
        sa.Column("ended", sa.DateTime),
    )
    op.create_index("runs_by_state", "runs", ["state", "created"])


def downgrade() -> None:
    """Remove the table."""
    op.drop_table("runs")
