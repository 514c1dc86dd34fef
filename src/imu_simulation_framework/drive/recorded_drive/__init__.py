"""Recorded drives: files, set-up, checks, paths and recorded IMUs."""
