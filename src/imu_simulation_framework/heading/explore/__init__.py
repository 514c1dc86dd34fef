"""Local web page on heading drift: questions, answers, and the page itself."""
