"""The part of dynamic_reconfigure that this package uses, over a service of this package."""


class DynamicReconfigureParameterException(Exception):
    """Exception for a rejected parameter."""


class DynamicReconfigureCallbackException(Exception):
    """Exception for a failure of the callback."""
