using UnityEngine;
using Pose = Agora.Core.Pose;

namespace Agora.Scene
{
    /// <summary>
    /// Converts ROS's frame (x forward, y left, z up, right-handed) to Unity's (z forward, y up, left-handed): (x, y, z) becomes
    /// (-y, z, x), as in the scenes of agora map export, and counter-clockwise rotations change sign about y.
    /// </summary>
    public static class Frames
    {
        public static Vector3 Point(double x, double y, double z)
        {
            return new Vector3((float)-y, (float)z, (float)x);
        }

        /// <summary>The unit vector of a heading, rad.</summary>
        public static Vector3 Direction(double heading)
        {
            return Point(System.Math.Cos(heading), System.Math.Sin(heading), 0);
        }

        public static Quaternion Turn(double heading)
        {
            return Turn(0, 0, heading);
        }

        /// <summary>The rotation of roll, pitch and yaw, rad.</summary>
        public static Quaternion Turn(double roll, double pitch, double yaw)
        {
            Quaternion about = Quaternion.AngleAxis(Degrees(-yaw), Vector3.up);
            return about * Quaternion.AngleAxis(Degrees(pitch), Vector3.right) * Quaternion.AngleAxis(Degrees(-roll), Vector3.forward);
        }

        /// <summary>Moves an object to a pose on the floor.</summary>
        public static void Put(Transform what, Pose pose)
        {
            what.SetPositionAndRotation(Point(pose.X, pose.Y, 0), Turn(pose.Heading));
        }

        /// <summary>The pose of an object on the floor.</summary>
        public static Pose PoseOf(Transform what)
        {
            Vector3 place = what.position, ahead = what.rotation * Vector3.forward;
            return new Pose(place.z, -place.x, System.Math.Atan2(-ahead.x, ahead.z));
        }

        static float Degrees(double radians)
        {
            return (float)(radians * 180 / System.Math.PI);
        }
    }
}
