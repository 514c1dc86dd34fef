"""Figures of flights: what an IMU on a gimbal measures, where it flew, how a navigator errs."""
