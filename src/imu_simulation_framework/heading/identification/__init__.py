"""From observed yaw errors to a model of them, by maximum likelihood."""
