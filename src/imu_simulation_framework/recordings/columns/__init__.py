"""Tables whose columns have names, units and meanings of their own."""
