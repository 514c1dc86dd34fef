"""Recordings of real IMU plug-ins, beside the models of them."""
