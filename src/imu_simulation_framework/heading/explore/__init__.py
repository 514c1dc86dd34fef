"""Local web page on heading drift: inputs, computed results, and the page itself."""
