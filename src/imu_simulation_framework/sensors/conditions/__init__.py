"""What a sensor is exposed to in motion: warmth, supply voltage, vibration; and its own bandwidth.

All of it is off by default. Each is a frozen dataclass that checks itself and is a part of an
:class:`.ImuSpecification`.
"""

from imu_simulation_framework.sensors.conditions.supply import SupplyVoltage
from imu_simulation_framework.sensors.conditions.temperature import TemperatureProfile
from imu_simulation_framework.sensors.conditions.vibration import Vibration

__all__ = ["SupplyVoltage", "TemperatureProfile", "Vibration"]
