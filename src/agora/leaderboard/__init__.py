"""The leaderboard: entries created from runs, their verification, and the page that ranks them."""
