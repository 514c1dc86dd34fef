"""What an experiment asks of a simulator, and an implementation for each."""
