"""Random numbers of a seed, a run and a quantity."""

import numpy as np
import pytest

from imu_simulation_framework.sensors.noise.streams import (
    BLOCK,
    NormalStreams,
    child_seed,
    run_seed,
)


def test_a_run_has_the_seed_that_the_documentation_names():
    expected = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(3, 1))).standard_normal(5)
    streams = NormalStreams(run_seed(7, 3), [False, True])
    np.testing.assert_array_equal(streams.take(5)[:, 1], expected)


def test_a_child_does_not_change_its_parent():
    parent = np.random.SeedSequence(1)
    assert child_seed(run_seed(parent, 2), 4).spawn_key == (2, 4)
    assert parent.n_children_spawned == 0


@pytest.mark.parametrize("ones", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1])
def test_numbers_one_by_one_are_those_taken_at_once(ones):
    active = [True, False, True]
    expected = NormalStreams(5, active).take(3 * BLOCK)
    streams = NormalStreams(5, active)
    first = [streams.next() for _ in range(ones)]
    rest = streams.take(3 * BLOCK - ones)
    np.testing.assert_array_equal(np.array([*first, *rest]), expected)
    assert not expected[:, 1].any()


def test_a_stream_does_not_depend_on_the_others():
    alone = NormalStreams(5, [False, False, True]).take(20)
    among = NormalStreams(5, [True, True, True]).take(20)
    np.testing.assert_array_equal(alone[:, 2], among[:, 2])
