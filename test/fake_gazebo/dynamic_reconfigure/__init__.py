"""Substitute for the part of dynamic_reconfigure that this package uses, with a fake service."""


class DynamicReconfigureParameterException(Exception):
    """Exception for a rejected parameter."""


class DynamicReconfigureCallbackException(Exception):
    """Exception for a failure of the callback."""
