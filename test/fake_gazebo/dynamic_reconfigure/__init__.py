"""The part of dynamic_reconfigure that this package uses, as calls of a fake service."""


class DynamicReconfigureParameterException(Exception):
    """Exception for a rejected parameter."""


class DynamicReconfigureCallbackException(Exception):
    """Exception for a failure of the callback."""
