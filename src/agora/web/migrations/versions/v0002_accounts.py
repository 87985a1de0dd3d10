"""The tables of accounts, and the owners of runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables; existing runs have no owner."""
    op.add_column("runs", sa.Column("owner", sa.String, nullable=False, server_default=""))
    op.create_table(
        "users",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("key", sa.String, nullable=False, unique=True),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("password", sa.String, nullable=False),
        sa.Column("blocked", sa.Boolean, nullable=False),
        sa.Column("quotas", sa.JSON, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
    )
    op.create_table(
        "keys",
        sa.Column("hash", sa.String, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("user", sa.String, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("label", sa.String, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
        sa.Column("used", sa.DateTime),
    )
    op.create_index("keys_by_user", "keys", ["user", "kind"])
    op.create_table(
        "owned",
        sa.Column("kind", sa.String, primary_key=True),
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("owner", sa.String, nullable=False),
    )
    op.create_index("owned_by_owner", "owned", ["owner"])


def downgrade() -> None:
    """Remove the tables and the owners of runs."""
    for table in ("owned", "keys", "users"):
        op.drop_table(table)
    op.drop_column("runs", "owner")
