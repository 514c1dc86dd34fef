"""Installation of the Python package with pip, colcon or catkin.

pip installs the modules, the libraries that do not need ROS and, in share/, the files that the
library reads at run time. catkin reads the arguments of setup() and installs these files in the
same place. The version ranges of the libraries are below; requirements.txt contains the versions
used by the tests. With ROS 2, this file lists everything that colcon installs.
"""

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent
SHARE = "share/imu_simulation_framework"
READ_AT_RUN_TIME = [
    "config.ini",
    "package.xml",
    "config/**/*",
    # Drives that are generated when they are first used are not part of the source.
    "data/drive_a_???.csv.gz",
    "urdf/**/*",
]

LAUNCHED_BY_ROS2 = ("experiment", "gz_robot", "imu_corrector", "realistic_imu")
PROGRAMS_OF_ROS2 = (
    "error_publisher",
    "external_robot",
    "imu_corrector",
    "imu_yaw_publisher",
    "mujoco_simulator",
    "path_follower",
    "realistic_imu",
    "result_comparison",
    "run_experiment",
)

manifest = ElementTree.parse(ROOT / "package.xml").getroot()


def shared_files():
    """Return the files of each installation folder."""
    folders = {}
    for pattern in READ_AT_RUN_TIME:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file():
                place = path.relative_to(ROOT)
                folders.setdefault(str(Path(SHARE) / place.parent), []).append(str(place))
    if os.environ.get("ROS_VERSION") == "2":
        marker = "share/ament_index/resource_index/packages"
        folders[marker] = ["resource/imu_simulation_framework"]
        folders["lib/imu_simulation_framework"] = [
            f"scripts/{name}.py" for name in PROGRAMS_OF_ROS2
        ]
        launched = [f"launch/{name}.launch.py" for name in LAUNCHED_BY_ROS2]
        # run_experiment.py reads its list of arguments from experiment.launch.
        folders[f"{SHARE}/launch"] = ["launch/experiment.launch", *launched]
        folders[f"{SHARE}/worlds"] = ["worlds/gz_robot.sdf"]
    return sorted(folders.items())


setup(
    name=manifest.findtext("name"),
    version=manifest.findtext("version"),
    description="Simulate an IMU on a mobile robot and judge how far its heading drifts.",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license=manifest.findtext("license"),
    packages=find_packages("src"),
    package_dir={"": "src"},
    package_data={
        "": ["__init__.pyi"],
        manifest.findtext("name"): ["py.typed"],
        manifest.findtext("name") + ".heading.explore": ["assets/*"],
        manifest.findtext("name") + ".report": ["page.css", "page.html", "page.js"],
    },
    data_files=shared_files(),
    python_requires=">=3.8",
    install_requires=[
        "defusedxml>=0.7",
        "lazy_loader>=0.3",
        "lz4>=3.1",
        "matplotlib>=3.5",
        "mcap>=1.1",
        "numpy>=1.21,<3",
        "pandas>=1.5,<3",
        "ppigrf>=2.0,<3",
        "pymap3d>=2.9",
        "pyyaml>=5.3",
        # 0.11 requires Python 3.10; the interface of 0.10.* is different and not supported.
        "rosbags>=0.9.23,!=0.10.*,<0.12",
        # 1.17 rejects read-only arrays, such as broadcast arrays and arrays from bytes or pandas.
        "scipy>=1.8,!=1.17.*,<2",
        "tqdm>=4.50",
        "statsmodels>=0.14,<0.15",
        "vqf>=2.0",
        "zstandard>=0.18",
    ],
    extras_require={
        # An extra, because allantools requires Sphinx, numpydoc and pytest.
        "allan": ["allantools>=2024.6,<2025"],
        "cluster": ["dask[distributed]>=2023.5"],
        # The page looks different with version 4.
        "explore": ["dash>=3.0,<4"],
        "formats": ["h5py>=3.8,<4", "pyarrow>=14", "python_calamine>=0.2,<1"],
        "flight": ["jsbsim>=1.2.2,<2"],
        "report": ["jinja2>=3.1", "plotly>=6.0,<7"],
        "simulator": ["mujoco>=3.2,!=3.2.4,!=3.2.5,!=3.2.6,!=3.2.7,<4", "xacro>=2.0"],
    },
)
