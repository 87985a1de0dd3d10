using System;

namespace Agora.Core
{
    /// <summary>A pose on the floor, in the map frame: metres, and radians counter-clockwise from the x axis.</summary>
    public struct Pose
    {
        public readonly double X;
        public readonly double Y;
        public readonly double Heading;

        public Pose(double x, double y, double heading)
        {
            X = x;
            Y = y;
            Heading = heading;
        }
    }

    /// <summary>A velocity in the robot's frame: forward and left in m/s, counter-clockwise in rad/s.</summary>
    public struct Twist
    {
        public readonly double Vx;
        public readonly double Vy;
        public readonly double Omega;

        public Twist(double vx, double vy, double omega)
        {
            Vx = vx;
            Vy = vy;
            Omega = omega;
        }

        public bool IsFinite
        {
            get
            {
                double sum = Vx + Vy + Omega;
                return !double.IsNaN(sum) && !double.IsInfinity(sum);
            }
        }

        /// <summary>The twist that leads from one pose to another in a time, s, in the frame halfway between the poses.</summary>
        public static Twist Between(Pose from, Pose to, double seconds)
        {
            double turn = Math.IEEERemainder(to.Heading - from.Heading, 2 * Math.PI);
            double middle = from.Heading + turn / 2;
            double c = Math.Cos(middle), s = Math.Sin(middle), dx = to.X - from.X, dy = to.Y - from.Y;
            return new Twist((c * dx + s * dy) / seconds, (c * dy - s * dx) / seconds, turn / seconds);
        }
    }
}
