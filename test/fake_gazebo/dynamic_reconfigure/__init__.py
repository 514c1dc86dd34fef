"""As much of dynamic_reconfigure as this package uses, over a service of this package."""


class DynamicReconfigureParameterException(Exception):
    """A parameter was refused."""


class DynamicReconfigureCallbackException(Exception):
    """A parameter was not taken."""
