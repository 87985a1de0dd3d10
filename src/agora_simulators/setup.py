from catkin_pkg.python_setup import generate_distutils_setup
from setuptools import setup

setup(**generate_distutils_setup(packages=["agora_simulators", "agora_simulators.drivers"], package_dir={"": "src"}))
