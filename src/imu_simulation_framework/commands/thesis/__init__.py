"""Chapter 4 of the thesis behind the package, made again."""
