"""Assertions that a file is rejected with a message that contains its name."""

import pytest

from imu_simulation_framework.core.errors import ConfigurationError, RecordingError


def refusal(read, path, **options):
    """Return the message of a rejected recording; assert that it contains the file name."""
    with pytest.raises(RecordingError) as caught:
        read(path, **options)
    sentence = str(caught.value)
    assert str(path) in sentence and "\n" not in sentence
    return sentence


def require_refused(read, path, text, words):
    """Assert that a text is rejected by a one-line message with the path and all words."""
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=words) as caught:
        read(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
