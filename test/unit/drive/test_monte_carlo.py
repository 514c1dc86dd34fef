"""Ensembles in chunks: identical results after interruptions, and detection of damaged chunks."""

import hashlib
import io
import json
import math

import numpy as np
import pytest
from earth_flights import flight

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import (
    ConfigurationError,
    EnsembleError,
    MotionError,
    ResultError,
)
from imu_simulation_framework.drive.ensembles import samplers
from imu_simulation_framework.drive.ensembles.monte_carlo import Computers, monte_carlo
from imu_simulation_framework.motion import earth_motion as earth_sources
from imu_simulation_framework.motion import sources
from imu_simulation_framework.sensors.simulation import imu_truth

GYROSCOPE = isf.TriadSpecification(white_noise=(1e-4,) * 3, turn_on_bias_sigma=(1e-3,) * 3)
SENSOR = isf.ImuSpecification(name="sensor", gyroscope=GYROSCOPE)


class RandomWalkSampler(samplers.Drawing):
    """Sampler of random walks that records its calls."""

    chunk = 8
    time = np.arange(50.0)

    def __init__(self, seed=1):
        self.seed = seed
        self.drawn = []

    def errors(self, first_run, runs):
        self.drawn.append((first_run, runs))
        numbers = [np.random.default_rng([self.seed, first_run + run]) for run in range(runs)]
        return np.array([np.cumsum(generator.standard_normal(50)) for generator in numbers]) * 1e-3

    def identity(self):
        return {"what": "walks", "seed": self.seed}


def equal(first, second):
    return all(np.array_equal(first.arrays()[key], second.arrays()[key]) for key in first.arrays())


def test_finished_job_is_not_simulated_again(tmp_path):
    first, again = RandomWalkSampler(), RandomWalkSampler()
    whole = monte_carlo(first, 30, tmp_path)
    finished_runs = []
    assert equal(monte_carlo(again, 30, tmp_path, on_runs=finished_runs.append), whole)
    assert first.drawn == [(0, 8), (8, 8), (16, 8), (24, 6)] and again.drawn == []
    assert sum(finished_runs) == 30


def test_interrupted_job_continues_from_its_chunks(tmp_path):
    whole = monte_carlo(RandomWalkSampler(), 40)

    def interrupt(_):
        if len(interrupted.drawn) == 3:
            raise KeyboardInterrupt

    interrupted = RandomWalkSampler()
    with pytest.raises(KeyboardInterrupt):
        monte_carlo(interrupted, 40, tmp_path, on_runs=interrupt)
    again = RandomWalkSampler()
    assert equal(monte_carlo(again, 40, tmp_path), whole)
    assert again.drawn == [(24, 8), (32, 8)]


def test_additional_runs_reuse_existing_chunks(tmp_path):
    monte_carlo(RandomWalkSampler(), 12, tmp_path)
    more = RandomWalkSampler()
    assert equal(monte_carlo(more, 24, tmp_path), monte_carlo(RandomWalkSampler(), 24))
    # The last chunk was incomplete.
    assert more.drawn == [(8, 8), (16, 8)]


def test_ensemble_keeps_error_curves_of_requested_number_of_runs():
    ensemble = monte_carlo(RandomWalkSampler(), 30, keep=11)
    np.testing.assert_array_equal(
        ensemble.curves, RandomWalkSampler().errors(0, 11).astype(np.float32)
    )


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "text"])
def test_damaged_chunk_is_reported_and_simulated_again(tmp_path, damage):
    whole = monte_carlo(RandomWalkSampler(), 24, tmp_path)
    path = tmp_path / "chunks" / "runs_000000008.chunk"
    content = path.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    damaged = {"flipped": flipped, "cut": content[:-10], "empty": b"", "text": b"hello\n"}
    path.write_bytes(damaged[damage])
    again, remarks = RandomWalkSampler(), []
    assert equal(monte_carlo(again, 24, tmp_path, on_remark=remarks.append), whole)
    assert again.drawn == [(8, 8)]
    (remark,) = remarks
    assert str(path) in remark and "simulated again" in remark
    assert path.read_bytes() == content


def with_hash(content):
    checksum = hashlib.sha256(content).hexdigest().encode()
    return b"imu_simulation_framework ensemble 1 " + checksum + b"\n" + content


def forged(path, change):
    """Return the content of a chunk file with changed arrays and a valid hash."""
    body = io.BytesIO()
    with np.load(io.BytesIO(path.read_bytes().partition(b"\n")[2])) as file:
        np.savez_compressed(body, **{**file, **change(file)})
    return with_hash(body.getvalue())


@pytest.mark.parametrize(
    "change", [{"curves": np.array([{}], dtype=object)}, {"first_run": np.array([8, 8])}]
)
def test_chunk_with_valid_hash_and_unusable_arrays_is_simulated_again(tmp_path, change):
    expected = monte_carlo(RandomWalkSampler(), 20, tmp_path)
    path = tmp_path / "chunks" / "runs_000000008.chunk"
    remarks = []
    for content in (forged(path, lambda _: change), with_hash(b"no archive")):
        path.write_bytes(content)
        assert equal(
            monte_carlo(RandomWalkSampler(), 20, tmp_path, on_remark=remarks.append), expected
        )
    assert len(remarks) == 2 and all(
        "does not contain the arrays" in sentence for sentence in remarks
    )


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("names", lambda names: names[:-1]),
        ("statistics", lambda values: values * np.nan),
        ("mean", lambda values: values.astype(complex)),
        ("squares", lambda values: values - 1e6),
        ("counts", lambda values: -values.astype(int)),
        ("runs", lambda values: values + 1),
        ("frequency", lambda values: values * 2.0),
        ("density", lambda values: np.append(values, 1.0)),
    ],
)
def test_chunk_with_valid_hash_and_unexpected_arrays_is_rejected_with_file_name(
    tmp_path, name, change
):
    monte_carlo(RandomWalkSampler(), 20, tmp_path)
    path = tmp_path / "chunks" / "runs_000000008.chunk"
    path.write_bytes(forged(path, lambda arrays: {name: change(arrays[name])}))
    with pytest.raises(ResultError, match=f"{path}: the arrays do not belong to an ensemble"):
        monte_carlo(RandomWalkSampler(), 20, tmp_path)


def test_folder_or_chunk_of_another_job_is_rejected(tmp_path):
    monte_carlo(RandomWalkSampler(), 8, tmp_path)
    with pytest.raises(ResultError, match="differs in seed"):
        monte_carlo(RandomWalkSampler(seed=2), 8, tmp_path)
    with pytest.raises(ResultError, match="differs in kept as curves"):
        monte_carlo(RandomWalkSampler(), 8, tmp_path, keep=3)
    # A different library version is rejected, too.
    job = json.loads((tmp_path / "job.json").read_text())
    job["versions"]["numpy"] = "1.0"
    (tmp_path / "job.json").write_text(json.dumps(job))
    with pytest.raises(ResultError, match="differs in versions"):
        monte_carlo(RandomWalkSampler(), 8, tmp_path)
    monte_carlo(RandomWalkSampler(), 8, tmp_path / "one")
    monte_carlo(RandomWalkSampler(seed=2), 8, tmp_path / "other")
    name = "runs_000000000.chunk"
    path = tmp_path / "one" / "chunks" / name
    path.write_bytes((tmp_path / "other" / "chunks" / name).read_bytes())
    with pytest.raises(ResultError, match="of another ensemble"):
        monte_carlo(RandomWalkSampler(), 8, tmp_path / "one")


def test_damaged_job_description_is_rejected(tmp_path):
    monte_carlo(RandomWalkSampler(), 8, tmp_path)
    for text in ("", "[]", "{", 100_000 * "["):
        (tmp_path / "job.json").write_text(text)
        with pytest.raises(ResultError, match=r"job\.json"):
            monte_carlo(RandomWalkSampler(), 8, tmp_path)
    (tmp_path / "job.json").unlink()
    with pytest.raises(ResultError, match="is missing"):
        monte_carlo(RandomWalkSampler(), 8, tmp_path)


def test_zero_runs_or_workers_are_rejected():
    with pytest.raises(EnsembleError, match="0 runs"):
        monte_carlo(RandomWalkSampler(), 0)
    with pytest.raises(ConfigurationError, match="workers is 0"):
        monte_carlo(RandomWalkSampler(), 5, computers=Computers(0))


def test_sensor_sampler_matches_simulate_imu():
    motion = sources.rounds(2, 5.0)
    for imu in (SENSOR, isf.HectorParameters(yaw_offset=0.1), isf.GenericParameters()):
        drawing = samplers.SensorDrawing(motion, imu, seed=7)
        errors = drawing.errors(3, 2)
        for row, run in zip(errors, (3, 4)):
            expected = isf.yaw_error(isf.simulate_imu(motion, imu, seed=7, run=run), motion)
            np.testing.assert_allclose(row, expected.to_numpy()[::100], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(drawing.time, np.arange(63.0))


def test_sensor_sampler_in_flight_matches_simulate_imu_with_earth_rotation():
    motion = flight(rate=20.0, duration=30.0)
    output = isf.OutputSpecification(rate=20.0)
    imu = isf.ImuSpecification(name="sensor", gyroscope=GYROSCOPE, output=output)
    errors = samplers.SensorDrawing(motion, imu, seed=7).errors(3, 1)
    expected = isf.yaw_error(isf.simulate_imu(motion, imu, seed=7, run=3), motion)
    np.testing.assert_allclose(errors[0], expected.to_numpy()[::20], rtol=0, atol=1e-12)

    standing = earth_sources.standing(200.0, 50.0, rate=20.0)
    quiet = isf.ImuSpecification(name="quiet", output=output)
    ensemble = monte_carlo(samplers.SensorDrawing(standing, quiet), 2)
    turned = 7.292115e-5 * math.sin(math.radians(50.0)) * 200.0
    np.testing.assert_allclose(ensemble.curves[:, -1], -turned, rtol=1e-3)


def test_sensor_with_lower_rate_than_motion_is_evaluated_at_its_own_samples():
    motion = sources.straight(20.0)
    output = isf.OutputSpecification(rate=20.0, start_offset=0.03)
    drawing = samplers.SensorDrawing(
        motion, isf.ImuSpecification(gyroscope=GYROSCOPE, output=output), period=0.5
    )
    np.testing.assert_allclose(drawing.time, 0.03 + 0.5 * np.arange(40))
    with pytest.raises(ConfigurationError, match="a multiple of"):
        samplers.SensorDrawing(motion, isf.ImuSpecification(output=output), period=0.13)
    with pytest.raises(MotionError, match="at least one period"):
        samplers.SensorDrawing(sources.straight(0.5), SENSOR)


def test_sensor_ensemble_standard_deviation_matches_linear_model():
    motion = sources.straight(20.0)
    model = isf.yaw_error_model(SENSOR, motion)
    runs = 256
    sensor = monte_carlo(samplers.SensorDrawing(motion, SENSOR), runs)
    linear = monte_carlo(samplers.LinearDrawing(model), runs)
    expected = math.sqrt(model.variance()[-1])
    for ensemble in (sensor, linear):
        # The standard deviation of n normal samples has a relative standard error of 1 / sqrt(2 n).
        assert abs(ensemble.error.std[-1] / expected - 1.0) < 4.0 / math.sqrt(2.0 * runs)
    assert (sensor.runs, len(sensor.time)) == (runs, 21)


def test_different_motion_imu_or_seed_is_a_different_job():
    base = samplers.SensorDrawing(sources.straight(20.0), SENSOR).identity()
    others = [
        samplers.SensorDrawing(sources.straight(20.0, speed=2.0), SENSOR),
        samplers.SensorDrawing(sources.rounds(1, 5.0), SENSOR),
        samplers.SensorDrawing(sources.straight(20.0), isf.ImuSpecification()),
        samplers.SensorDrawing(sources.straight(20.0), SENSOR, seed=2),
        samplers.SensorDrawing(sources.straight(20.0), SENSOR, period=2.0),
    ]
    identities = [json.dumps(drawing.identity()) for drawing in others]
    # Level motion on a straight line has the same signals at any speed.
    assert json.dumps(base) == identities[0]
    assert len({json.dumps(base), *identities[1:]}) == 5
    # Only the signals in use are hashed, so that jobs of other versions can be resumed.
    motion = sources.straight(20.0)
    assert base["motion"] == samplers.digest(motion.period, *imu_truth(motion)[:3])


def test_experiments_in_ensemble_have_different_errors_and_are_reproducible():
    overrides = {
        "trajectory": {"stop": 5.0},
        "imu": {"model": "hector"},
        "terrain": {"kind": "uneven"},
    }
    drawing = samplers.ExperimentDrawing(isf.load_configuration(overrides=overrides), seed=3)
    errors = drawing.errors(0, 3)
    assert errors.shape == (3, len(drawing.time)) and np.all(np.isfinite(errors))
    assert len({row.tobytes() for row in errors}) == 3
    np.testing.assert_array_equal(drawing.errors(2, 1), errors[2:])


def test_magnetic_heading_is_sampled_in_magnetic_environment():
    imu = isf.ImuSpecification(
        magnetometer=isf.MagnetometerSpecification(),
        output=isf.OutputSpecification(rate=20.0, magnetic_heading=True),
    )
    motion = sources.at_rest(10.0, rate=20.0)
    places = (isf.MagneticEnvironment(earth=(x, y, -45e-6)) for x, y in ((0.0, 2e-5), (-2e-5, 0.0)))
    drawn = [samplers.SensorDrawing(motion, imu, magnetic_environment=place) for place in places]
    errors = [drawing.errors(0, 2) for drawing in drawn]
    # Magnetic north is 90 degrees further to the left than the sensor assumes.
    np.testing.assert_allclose(
        np.exp(1j * (errors[1] - errors[0])), np.full(errors[0].shape, 1j), atol=1e-9
    )
    assert drawn[0].identity() != drawn[1].identity()
    with pytest.raises(ConfigurationError, match="magnetic_heading is true"):
        samplers.SensorDrawing(motion, imu).errors(0, 1)
