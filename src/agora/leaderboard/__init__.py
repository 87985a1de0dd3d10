"""The leaderboard: entries made from runs, their verification, and the page that ranks them."""
