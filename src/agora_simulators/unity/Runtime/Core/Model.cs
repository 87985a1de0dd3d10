using System.Collections.Generic;

namespace Agora.Core
{
    /// <summary>The lidar of a robot: its pose on the base, m and rad, the angles of its beams, rad, and its range, m.</summary>
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

    /// <summary>A box or an upright prism of a model; frames and the order of axes are ROS's; units are metres and radians.</summary>
    public sealed class Part
    {
        /// <summary>Position in the model's frame: x, y, z.</summary>
        public double[] Position;

        /// <summary>Rotation in the model's frame: roll, pitch, yaw.</summary>
        public double[] Turn;

        /// <summary>Length, width and height of a box, centred on its position; null for a prism.</summary>
        public double[] Box;

        /// <summary>Corners (x, y) of a prism, counter-clockwise; null for a box.</summary>
        public List<double[]> Outline;

        /// <summary>Heights of a prism's lower and upper face.</summary>
        public double Bottom;

        public double Top;

        /// <summary>Whether the outline is convex.</summary>
        public bool Convex;

        /// <summary>Whether the part takes part in contacts and is seen by lidars; other parts are only visible.</summary>
        public bool Solid;

        /// <summary>Red, green and blue in [0, 1]; null if the part has no colour.</summary>
        public double[] Colour;
    }

    /// <summary>An object to spawn: a robot or a static object.</summary>
    public sealed class Model
    {
        public bool IsRobot;

        /// <summary>Mass, kg; 0 if the file does not give it.</summary>
        public double Mass;

        public Lidar Lidar;
        public readonly List<Part> Parts = new List<Part>();
    }
}
