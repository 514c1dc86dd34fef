"""A gimbal that holds an attitude or points at a place: targets, the loop, and what remains."""
