"""From recordings of an IMU at rest to its parameters: the command line, its text and files."""
