import pytest
from column_tables import Car


@pytest.fixture(scope="session")
def car():
    return Car()
