"""What every reader and writer of files needs."""
