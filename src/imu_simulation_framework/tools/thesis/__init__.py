"""Figures of the thesis behind the package, made again: drives, figures, numbers, judgement."""
