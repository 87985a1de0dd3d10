using System.Collections.Generic;

namespace Agora.Core
{
    /// <summary>The lidar of a robot: its place on the base, m and rad, the angles of its beams, rad, and its range, m.</summary>
    public sealed class Lidar
    {
        public double X;
        public double Y;
        public double Z;
        public double Heading;
        public double Lowest;
        public double Step;
        public double Range;
        public int Beams;
    }

    /// <summary>A box or an upright prism of a model; frames and order of axes are ROS's, metres and radians.</summary>
    public sealed class Part
    {
        /// <summary>Where it is in the model's frame: x, y, z.</summary>
        public double[] Position;

        /// <summary>How it is turned: roll, pitch, yaw.</summary>
        public double[] Turn;

        /// <summary>Length, width and height of a box about its middle; null for a prism.</summary>
        public double[] Box;

        /// <summary>Corners (x, y) of a prism, counter-clockwise; null for a box.</summary>
        public List<double[]> Outline;

        /// <summary>Heights of a prism's faces.</summary>
        public double Bottom;

        public double Top;

        /// <summary>Whether the outline is convex.</summary>
        public bool Convex;

        /// <summary>Whether it is touched and seen by lidars; others are only looked at.</summary>
        public bool Solid;

        /// <summary>Red, green and blue in [0, 1]; null where it has no colour.</summary>
        public double[] Colour;
    }

    /// <summary>What is spawned: a robot, or something that stands.</summary>
    public sealed class Model
    {
        public bool IsRobot;

        /// <summary>kg; 0 where the file has none.</summary>
        public double Mass;

        public Lidar Lidar;
        public readonly List<Part> Parts = new List<Part>();
    }
}
