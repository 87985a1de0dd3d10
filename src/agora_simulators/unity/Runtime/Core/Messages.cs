namespace Agora.Core
{
    /// <summary>The messages that the player sends, written field by field in the order of their definitions.</summary>
    public static class Messages
    {
        static readonly double[] NoCovariance = new double[36];

        /// <summary>rosgraph_msgs/Clock.</summary>
        public static byte[] Clock(long nanoseconds)
        {
            return new Writer().Time(nanoseconds).Bytes();
        }

        /// <summary>nav_msgs/Odometry of a robot: its pose in the map frame, and its twist in the robot's frame.</summary>
        public static byte[] Odometry(long nanoseconds, string robot, Pose pose, Twist twist)
        {
            Writer message = new Writer().Header(nanoseconds, robot + "/odom").Text(robot + "/base_link");
            return message.Pose(pose).Doubles(NoCovariance).Twist(twist).Doubles(NoCovariance).Bytes();
        }

        /// <summary>sensor_msgs/LaserScan of a robot.</summary>
        public static byte[] LaserScan(long nanoseconds, string robot, Lidar lidar, float[] ranges)
        {
            double highest = lidar.Lowest + lidar.Step * (lidar.Beams - 1);
            Writer message = new Writer().Header(nanoseconds, robot + "/laser").Float(lidar.Lowest).Float(highest).Float(lidar.Step);
            message.Float(0.0).Float(0.0).Float(0.0).Float(lidar.Range);
            return message.Floats(ranges).Floats(new float[0]).Bytes();
        }

        /// <summary>sensor_msgs/Image, with rows from the top and without padding.</summary>
        public static byte[] Image(long nanoseconds, string frame, int width, int height, string encoding, byte[] pixels)
        {
            Writer message = new Writer().Header(nanoseconds, frame).UInt((uint)height).UInt((uint)width).Text(encoding);
            return message.Bool(false).UInt((uint)(pixels.Length / height)).Raw(pixels).Bytes();
        }

        /// <summary>sensor_msgs/CameraInfo of a pinhole camera without distortion.</summary>
        public static byte[] CameraInfo(long nanoseconds, string frame, int width, int height, double focal)
        {
            double cx = width / 2.0, cy = height / 2.0;
            Writer message = new Writer().Header(nanoseconds, frame).UInt((uint)height).UInt((uint)width).Text("plumb_bob");
            message.UInt(5).Doubles(0, 0, 0, 0, 0);
            message.Doubles(focal, 0, cx, 0, focal, cy, 0, 0, 1);
            message.Doubles(1, 0, 0, 0, 1, 0, 0, 0, 1);
            message.Doubles(focal, 0, cx, 0, 0, focal, cy, 0, 0, 0, 1, 0);
            message.UInt(0).UInt(0);
            return message.UInt(0).UInt(0).UInt(0).UInt(0).Bool(false).Bytes();
        }

        /// <summary>The response of every service of the player: whether the request succeeded, and the reason if not.</summary>
        public static byte[] Answer(string refusal)
        {
            return new Writer().Bool(refusal == "").Text(refusal).Bytes();
        }
    }
}
