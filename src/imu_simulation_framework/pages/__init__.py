"""Reports as web pages, each one file with all it needs.

:mod:`.page` says what a page consists of, :mod:`.page_text` writes it, :mod:`.charts` makes its
figures; none of them knows what is reported. The other modules do, one for each kind of report.
"""
