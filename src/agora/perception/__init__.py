"""What can be told of people from where they are and how they move."""
