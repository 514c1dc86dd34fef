"""Files that are refused, for tests."""

import pytest

from imu_simulation_framework.core.errors import ConfigurationError, RecordingError


def refusal(read, path, **options):
    """The sentence with which a recording is refused, which names its file."""
    with pytest.raises(RecordingError) as caught:
        read(path, **options)
    sentence = str(caught.value)
    assert str(path) in sentence and "\n" not in sentence
    return sentence


def require_refused(read, path, text, words):
    """A file of this text is refused in one sentence, which names it and has these words."""
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=words) as caught:
        read(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
