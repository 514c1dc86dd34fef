import xml.etree.ElementTree as ElementTree

from imu_simulation_framework.drive.gazebo_world import iron_sdf
from imu_simulation_framework.sensors.magnetism.bodies import Bar, Ellipsoid


def test_gazebo_shows_iron_where_it_is_and_nothing_touches_it():
    bodies = [
        Bar((1.0, 2.0, 0.1), (0.1, 3.0, 0.2), (0.0, 0.0, 0.5)),
        Ellipsoid((0.0, 0.0, 1.0), 0.4),
    ]
    link = ElementTree.fromstring(iron_sdf(bodies)).find("model/link")
    assert link.find("collision") is None
    poses = [[float(value) for value in pose.text.split()] for pose in link.iter("pose")]
    assert poses == [[1.0, 2.0, 0.1, 0.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]
    assert link.find("visual/geometry/box/size").text == "0.1 3 0.2"
    assert float(link.find("visual/geometry/sphere/radius").text) == 0.2
