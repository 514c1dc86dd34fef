"""Identification of a model of the yaw error from drives, by maximum likelihood."""
