"""Client that sets parameters of the fake Hector plug-in."""

import rospy
import yaml

from imu_simulation_framework.srv import SetImuParameters

from . import DynamicReconfigureParameterException


class Client:
    def __init__(self, name, timeout) -> None:
        rospy.wait_for_service(f"{name}/set_parameters", timeout)
        self._set = rospy.ServiceProxy(f"{name}/set_parameters", SetImuParameters)

    def update_configuration(self, changes):
        answer = self._set("", yaml.safe_dump(changes), 0)
        if not answer.success:
            raise DynamicReconfigureParameterException(answer.message)
        return yaml.safe_load(answer.message)

    def close(self) -> None:
        self._set.close()
