"""Mathematics of what others recorded: its frames, its columns, whether it can be true."""
