"""The addresses that pages and programs ask, a file for each part of them."""
