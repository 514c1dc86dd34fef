"""A local page on which heading drift is played with: what is asked, its answers, and the page."""
