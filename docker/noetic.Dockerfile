# Noetic's released simulators and planners, and the messages with which they share a roscore with Agora.
FROM ros:noetic-ros-base

RUN apt-get update --quiet=2 \
    && apt-get install --yes --quiet=2 --no-install-recommends \
        ros-noetic-gazebo-ros-pkgs \
        ros-noetic-move-base-flex \
        ros-noetic-dwa-local-planner \
        ros-noetic-global-planner \
        ros-noetic-teb-local-planner \
        ros-noetic-map-server \
        ros-noetic-amcl \
        ros-noetic-xacro \
    && rm -rf /var/lib/apt/lists/*
COPY src/agora_msgs /workspace/src/agora_msgs
COPY src/interop /workspace/src/interop
WORKDIR /workspace
RUN . /opt/ros/noetic/setup.sh && src/interop/step_back && catkin_make

ENTRYPOINT ["bash", "-c", ". /workspace/devel/setup.bash && exec \"$@\"", "noetic"]
CMD ["gzserver", "--help"]
