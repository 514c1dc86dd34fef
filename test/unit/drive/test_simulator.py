"""MuJoCo simulator compared with kinematics, mechanics, and MuJoCo's sensors."""

import math

import mujoco
import numpy as np
import pytest
import yaml

from imu_simulation_framework.core.angles import unwrap, yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError, SimulatorError
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.mujoco import MujocoSimulator, SimulatorState, build_model
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.sensors.magnetism.bodies import Bar, Ellipsoid

PERIOD = 0.01
GRAVITY = 9.81
RAMP_TIME = 1.0


@pytest.fixture(scope="module")
def parameters():
    return load_robot_parameters()


@pytest.fixture
def simulator(parameters):
    return MujocoSimulator(parameters)


def _changed(parameters, folder, **sections):
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump({"like": str(parameters.path), **sections}), encoding="utf-8")
    return load_robot_parameters(path)


def _drive(simulator, left, right, duration, ramp_time=RAMP_TIME):
    """Return the states while the wheels accelerate to constant velocities."""
    start = simulator.state.wheel_velocities
    states = []
    for sample in range(round(duration / PERIOD)):
        part = min(1.0, (sample + 1) * PERIOD / ramp_time)
        simulator.command(start[0] + part * (left - start[0]), start[1] + part * (right - start[1]))
        states.append(simulator.step())
    return states


def _measure(simulator, states):
    """Return the IMU signals since the last change of the pose."""
    return simulator.measure(SimulatorState(*map(np.array, zip(*states))))


def _yaws(states):
    return unwrap(yaw_from_quaternion(np.array([state.orientation for state in states])))


def _all_bytes(states):
    return [b"".join(np.asarray(value).tobytes() for value in state) for state in states]


def test_straight_drive_distance_matches_rolled_distance(simulator, parameters):
    states = _drive(simulator, 10.0, 10.0, 6.0) + _drive(simulator, 0.0, 0.0, 2.0)
    # Acceleration and deceleration shorten the distance by one ramp time at full velocity.
    distance = parameters.drivetrain.wheel_radius * 10.0 * 6.0
    assert states[-1].position[0] == pytest.approx(distance, rel=1e-3)
    assert states[-1].position[0] == pytest.approx(
        parameters.drivetrain.wheel_radius * states[-1].wheel_positions.mean(), rel=1e-4
    )
    assert abs(states[-1].position[1]) < 1e-6
    assert abs(_yaws(states)[-1]) < 1e-6


@pytest.mark.parametrize("wheel_velocity", [0.2, 3.0, 6.0, -3.0])
def test_spot_turn_is_within_0_3_percent_of_kinematics(simulator, parameters, wheel_velocity):
    states = _drive(simulator, -wheel_velocity, wheel_velocity, 6.0)
    _, yaw_rate = parameters.drivetrain.forward(-wheel_velocity, wheel_velocity)
    assert _yaws(states)[-1] == pytest.approx(yaw_rate * (6.0 - 0.5 * RAMP_TIME), rel=3e-3)
    assert np.linalg.norm(states[-1].position[:2]) < 0.01


@pytest.mark.parametrize("left, right", [(3.0, 5.0), (5.0, 3.0), (10.0, 14.0), (-4.0, -6.0)])
def test_circle_is_within_0_3_percent_of_kinematics(simulator, parameters, left, right):
    _drive(simulator, left, right, 2.0)
    v, yaw_rate = parameters.drivetrain.forward(left, right)
    round_trip = abs(2.0 * math.pi / yaw_rate)
    states = _drive(simulator, left, right, round_trip)
    turned = _yaws(states)[-1] - _yaws(states)[0]
    assert turned == pytest.approx(yaw_rate * (len(states) - 1) * PERIOD, rel=3e-3)
    positions = np.array([state.position[:2] for state in states])
    diameter = np.ptp(positions[:, 0])
    assert diameter == pytest.approx(2.0 * abs(v / yaw_rate), rel=3e-3)
    assert states[-1].linear_velocity[0] == pytest.approx(v, rel=3e-3)
    assert states[-1].angular_velocity[2] == pytest.approx(yaw_rate, rel=3e-3)


def test_acceleration_matches_torque_limit(simulator, parameters):
    numbers = parameters.numbers
    radius, wheel_mass = numbers["wheel"]["radius"], numbers["wheel"]["mass"]
    mass = numbers["chassis"]["mass"] + numbers["imu"]["mass"]
    mass += 2.0 * wheel_mass + 2.0 * numbers["caster"]["mass"]
    # Two wheels, as homogeneous cylinders, add half of their mass each as inertia.
    mass += wheel_mass + 2.0 * parameters.motors.motor_inertia / radius**2
    acceleration = 2.0 * parameters.motors.max_wheel_torque / radius / mass
    simulator.command(15.0, 15.0)
    speeds = [simulator.step().linear_velocity[0] for _ in range(20)]
    assert (speeds[-1] - speeds[9]) / (10 * PERIOD) == pytest.approx(acceleration, rel=0.01)


def test_wheel_velocity_stays_within_limit(simulator, parameters):
    limit = parameters.drivetrain.limits.max_wheel_velocity
    states = _drive(simulator, 10.0 * limit, 10.0 * limit, 2.0)
    assert states[-1].wheel_velocities == pytest.approx([limit, limit], rel=1e-3)


def test_stationary_imu_measures_only_gravity(simulator):
    states = [simulator.step() for _ in range(200)]
    _, rate, force = _measure(simulator, states)[:3]
    assert np.abs(np.linalg.norm(force, axis=1) - GRAVITY).max() < 1e-6
    assert np.abs(force - force.mean(axis=0)).max() < 1e-6
    assert force[0, 2] == pytest.approx(GRAVITY, abs=1e-6)
    assert np.abs(rate).max() < 1e-8


def test_integrated_gyroscope_matches_true_yaw(simulator):
    states = _drive(simulator, 2.0, 5.0, 3.0) + _drive(simulator, 6.0, 1.0, 3.0)
    rate = _measure(simulator, states).angular_velocity[:, 2]
    # When the robot accelerates on level ground, it pitches by micrometres over the wheelbase.
    np.testing.assert_allclose(np.cumsum(rate) * PERIOD, _yaws(states), atol=1e-8)


def test_tilted_imu_signals_match_means_of_mujoco_sensors(parameters, tmp_path):
    mounting = {"orientation": [0.4, -0.3, 1.0], "position": [0.20, 0.10, 0.30]}
    # Without the integral, the actuator input is the command, as in a bare model.
    direct = {"velocity_integral_gain": 0.0}
    parameters = _changed(parameters, tmp_path, imu=mounting, drive=direct)
    simulator = MujocoSimulator(parameters)
    model = build_model(parameters, 1000)
    data = mujoco.MjData(model)
    imu = model.body("imu_link").id
    mujoco.mj_step(model, data, 2000)
    motion = np.empty(6)
    states = []
    for sample in range(150):
        command = 0.03 * sample, 0.05 * sample
        simulator.command(*command)
        states.append(simulator.step())
        data.ctrl[:] = command
        forces, rates = [], []
        for _ in range(10):
            # The acceleration is constant during a step; the rotation uses the velocity at its end.
            mujoco.mj_forward(model, data)
            mujoco.mj_rnePostConstraint(model, data)
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, imu, motion, 1)
            forces.append(motion[3:].copy())
            mujoco.mj_step(model, data)
            mujoco.mj_forward(model, data)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, imu, motion, 1)
            rates.append(motion[:3].copy())
    measured = _measure(simulator, states)
    np.testing.assert_allclose(measured.angular_velocity[-1], np.mean(rates, axis=0), atol=1e-8)
    # Centripetal acceleration grows by less than 1 m/s^2 per second; MuJoCo's forces are for the
    # beginning of each step, half a millisecond earlier on average.
    np.testing.assert_allclose(measured.specific_force[-1], np.mean(forces, axis=0), atol=1e-3)
    assert np.linalg.norm(measured.specific_force[-1]) > GRAVITY


def test_imu_signals_do_not_depend_on_number_of_states_per_call(parameters, tmp_path):
    mounting = {"orientation": [0.4, -0.3, 1.0], "position": [0.20, 0.10, 0.30]}
    simulator = MujocoSimulator(_changed(parameters, tmp_path, imu=mounting))
    states = _drive(simulator, 2.0, 5.0, 1.0)
    simulator.reset()
    expected = _measure(simulator, states)
    simulator.reset()
    parts = [_measure(simulator, states[:1]), _measure(simulator, states[1:])]
    assert _all_bytes([expected[:3]]) == _all_bytes(
        [[np.concatenate(signals) for signals in zip(*(part[:3] for part in parts))]]
    )


def test_iron_bodies_are_visible_and_have_no_contacts(parameters):
    bodies = [Bar((0.5, 0.0, 0.05), (0.1, 3.0, 0.1)), Ellipsoid((1.0, 0.0, 0.0), 0.3)]
    plain, among = MujocoSimulator(parameters), MujocoSimulator(parameters, bodies=bodies)
    assert _all_bytes(_drive(among, 8.0, 8.0, 2.0)) == _all_bytes(_drive(plain, 8.0, 8.0, 2.0))
    model = build_model(parameters, 1000, bodies=bodies)
    assert model.site("iron_0").size.tolist() == [0.05, 1.5, 0.05]
    assert model.site("iron_1").pos.tolist() == [1.0, 0.0, 0.0]


def test_motor_torques_match_acceleration(simulator, parameters):
    states = _drive(simulator, 5.0, 5.0, 2.0)
    pulled = np.array([state.wheel_torques for state in states])
    ramp, steady = pulled[10 : round(RAMP_TIME / PERIOD) - 10], pulled[-20:]
    assert np.all(ramp > 0.0)
    assert np.abs(steady).max() < 0.1 * ramp.mean()
    plain, weighed = MujocoSimulator(parameters), MujocoSimulator(parameters, mean_torques=True)
    states = list(_drive(weighed, 8.0, 8.0, 2.0))
    for state, other in zip(states, _drive(plain, 8.0, 8.0, 2.0)):
        np.testing.assert_array_equal(state.position, other.position)
        np.testing.assert_array_equal(state.wheel_velocities, other.wheel_velocities)
    impulse = PERIOD * np.sum([state.wheel_torques for state in states])
    # The wheels accelerate the mass of 16.2 kg at the wheel radius, and the inertia of two wheels
    # and motors, whose angular velocity is v / radius.
    inertia = 16.2 * 0.1 + 2.0 * (0.5 * 1.2 * 0.1**2 + 0.02) / 0.1
    assert impulse == pytest.approx(inertia * states[-1].linear_velocity[0], rel=0.02)


def test_identical_commands_produce_bit_identical_states(parameters):
    def states(simulator):
        generator = np.random.default_rng(3)
        for _ in range(300):
            simulator.command(*generator.uniform(-10.0, 10.0, 2))
            yield simulator.step()

    first, second = MujocoSimulator(parameters), MujocoSimulator(parameters)
    expected = _all_bytes(states(first))
    assert _all_bytes(states(second)) == expected
    first.reset()
    assert _all_bytes(states(first)) == expected


def test_set_pose_leaves_robot_stationary_without_imu_jump(simulator):
    before = _drive(simulator, 5.0, 8.0, 1.5)[-1]
    placed = simulator.set_pose(10.0, -4.0, 2.5)
    assert placed.time == before.time
    assert _all_bytes([placed]) == _all_bytes([simulator.state])
    np.testing.assert_array_equal(placed.wheel_positions, before.wheel_positions)
    states = [placed] + [simulator.step() for _ in range(50)]
    for state in states:
        assert state.position[:2] == pytest.approx([10.0, -4.0], abs=1e-6)
        assert yaw_from_quaternion(state.orientation) == pytest.approx(2.5, abs=1e-6)
        assert np.abs(state.linear_velocity).max() < 1e-6
    measured = _measure(simulator, states)
    assert np.abs(measured.angular_velocity).max() < 1e-6
    np.testing.assert_allclose(
        measured.specific_force, np.tile([0.0, 0.0, GRAVITY], (len(states), 1)), atol=1e-4
    )
    assert states[-1].time == pytest.approx(before.time + 50 * PERIOD, abs=1e-12)


def test_reset_sets_time_to_zero_and_places_robot_at_pose(simulator):
    _drive(simulator, 5.0, 8.0, 1.0)
    state = simulator.reset(1.0, 2.0, -3.0)
    assert state.time == 0.0
    assert state.position[:2] == pytest.approx([1.0, 2.0], abs=1e-12)
    assert yaw_from_quaternion(state.orientation) == pytest.approx(-3.0, abs=1e-12)
    np.testing.assert_array_equal(state.wheel_positions, 0.0)
    assert [simulator.step().time for _ in range(3)] == [0.01, 0.02, 0.03]


def test_simulated_drive_is_independent_of_start_pose(simulator):
    simulator.reset()
    states = _drive(simulator, 3.0, 6.0, 4.0)
    plain, force = states[-1], _measure(simulator, states).specific_force[-1]
    simulator.reset(100.0, 50.0, 1.0)
    states = _drive(simulator, 3.0, 6.0, 4.0)
    final_state, moved_force = states[-1], _measure(simulator, states).specific_force[-1]
    cosine, sine = math.cos(1.0), math.sin(1.0)
    x, y = plain.position[:2]
    # Friction is isotropic; the remaining difference is rounding, amplified by the contacts.
    assert final_state.position[:2] == pytest.approx(
        [100.0 + cosine * x - sine * y, 50.0 + sine * x + cosine * y], abs=1e-6
    )
    np.testing.assert_allclose(moved_force, force, atol=1e-5)


@pytest.mark.parametrize("sample_rate", [5, 20, 1000])
def test_wheel_velocities_match_commands_at_any_sample_rate(parameters, sample_rate):
    simulator = MujocoSimulator(parameters, sample_rate=sample_rate)
    simulator.command(3.0, 5.0)
    states = simulator.steps(6 * sample_rate)
    assert states.wheel_velocities[-1] == pytest.approx([3.0, 5.0], rel=1e-3)
    assert simulator.measure(states).specific_force[-1, 1] == pytest.approx(0.4 * 0.4, rel=6e-3)


def test_robot_that_does_not_settle_is_rejected(parameters, tmp_path):
    deep = _changed(parameters, tmp_path, imu={"position": [0.15, 0.0, -1e9]})
    with pytest.raises(SimulatorError, match=r"changed\.yaml: the robot does not come to rest"):
        MujocoSimulator(deep)


def test_unstable_physics_is_reported(simulator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log file there
    simulator.set_pose(1e12, 0.0, 0.0)  # farther away than MuJoCo can handle
    with pytest.raises(SimulatorError, match="unstable at 0.01 s"):
        simulator.step()
    simulator.reset()
    simulator.step()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"physics_rate": 500}, "physics rate is 500 Hz, expected at least 769 Hz"),
        ({"sample_rate": 300}, "expected a multiple of the sample rate"),
        ({"physics_rate": 100, "sample_rate": 1000}, "expected a multiple of the sample rate"),
        ({"sample_rate": 0}, "expected a multiple of the sample rate"),
        *(({"gravity": gravity}, "gravity") for gravity in (0.0, -9.81, math.nan)),
    ],
)
def test_incompatible_rates_and_invalid_gravity_are_rejected(parameters, settings, words):
    with pytest.raises(ConfigurationError, match=words):
        MujocoSimulator(parameters, **settings)


@pytest.mark.parametrize("command", [(math.nan, 1.0), (1.0, math.inf)])
def test_nonfinite_commands_and_poses_are_rejected(simulator, command):
    with pytest.raises(SimulatorError, match="wheel commands"):
        simulator.command(*command)
    with pytest.raises(SimulatorError, match="robot's pose is .*, expected finite"):
        simulator.set_pose(*command, 0.0)


@pytest.fixture(scope="module")
def four_wheels():
    return load_robot_parameters(urdf_path("robot_four_wheels.yaml"))


@pytest.mark.parametrize(("left", "right"), [(6.0, 6.0), (2.0, 6.0), (8.0, 5.0), (-3.0, 3.0)])
def test_four_wheeled_robot_turns_with_effective_track_width(four_wheels, left, right):
    states = _drive(MujocoSimulator(four_wheels), left, right, 5.0)[200:]
    v, yaw_rate = four_wheels.drivetrain.forward(left, right)
    speeds = [state.linear_velocity[0] for state in states]
    rates = [state.angular_velocity[2] for state in states]
    assert np.mean(speeds) == pytest.approx(v, rel=5e-3, abs=1e-3)
    # The effective track width is identified from simulations and varies with speed by a few per
    # cent.
    assert np.mean(rates) == pytest.approx(yaw_rate, rel=0.03, abs=1e-3)


@pytest.mark.parametrize("v", [0.3, 1.0])
def test_four_wheeled_robot_has_identified_sideslip_at_any_speed(four_wheels, v):
    drivetrain = four_wheels.drivetrain
    for yaw_rate in (0.45, -0.45):
        states = _drive(MujocoSimulator(four_wheels), *drivetrain.inverse(v, yaw_rate), 6.0)[200:]
        v_x, v_y, _ = np.mean([state.linear_velocity for state in states], axis=0)
        turning = np.mean([state.angular_velocity[2] for state in states])
        # Sideslip is half of this linear model in slow turns, and 1.6 times it in fast turns.
        assert -np.arctan2(v_y, v_x) == pytest.approx(drivetrain.sideslip(turning), rel=0.2)


def test_unequal_wheel_radii_turn_robot_on_straight_command(parameters, tmp_path):
    changed = _changed(parameters, tmp_path, wheel={"diameter_ratio": 1.02})
    states = _drive(MujocoSimulator(changed), 5.0, 5.0, 4.0)[200:]
    # With UMBmark's E_d, the mean radius is unchanged and the rim velocities differ.
    radius, track = parameters.drivetrain.wheel_radius, 2.0 * parameters.drivetrain.half_track
    yaw_rate = 5.0 * radius * 2.0 * (1.02 - 1.0) / (2.02 * track)
    assert np.mean([s.angular_velocity[2] for s in states]) == pytest.approx(yaw_rate, rel=0.01)
    assert np.mean([s.linear_velocity[0] for s in states]) == pytest.approx(5.0 * radius, rel=1e-3)


def test_command_acts_after_command_delay(parameters, tmp_path):
    changed = _changed(parameters, tmp_path, drive={"command_delay": 0.2})
    immediate, late = (
        _drive(MujocoSimulator(robot), 5.0, 5.0, 1.0) for robot in (parameters, changed)
    )
    # The robot is stationary for 20 samples; then the motion is the same.
    velocities = [np.array([s.linear_velocity[0] for s in states]) for states in (immediate, late)]
    np.testing.assert_allclose(velocities[1][20:], velocities[0][:-20], atol=1e-6)
    assert np.abs(velocities[1][:20]).max() < 1e-6


def test_parameter_file_with_key_like_contains_only_changed_parameters(parameters, tmp_path):
    changed = _changed(parameters, tmp_path, wheel={"half_track": 0.3}, caster={"radius": 0.04})
    assert changed.drivetrain.half_track == 0.3
    assert changed.numbers["caster"] == {**parameters.numbers["caster"], "radius": 0.04}
    changed_sections = {"wheel", "caster"}
    assert {k: v for k, v in changed.numbers.items() if k not in changed_sections} == {
        k: v for k, v in parameters.numbers.items() if k not in changed_sections
    }
    with pytest.raises(ConfigurationError, match="the file lacks the key imu"):
        _changed(parameters, tmp_path, imu=None)
    (tmp_path / "none.yaml").write_text("like: nothing.yaml\n")
    with pytest.raises(ConfigurationError, match="nothing.yaml: the robot file in the key like"):
        load_robot_parameters(tmp_path / "none.yaml")
