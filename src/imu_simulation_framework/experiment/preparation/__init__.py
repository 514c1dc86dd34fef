"""From a recording to a drive that can be driven, and the check whether it can give an answer."""
