"""How a figure, a table and a page look; nothing here knows what they show."""
