"""Simulation of IMU errors on ideal IMU signals from a topic, a bag or a table."""
