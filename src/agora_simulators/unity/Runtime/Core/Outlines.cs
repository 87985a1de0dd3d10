using System;
using System.Collections.Generic;

namespace Agora.Core
{
    /// <summary>Polygons in the plane.</summary>
    public static class Outlines
    {
        const double Finest = 0.0005; // m, maximum deviation from a circle
        const int Fewest = 12, Most = 64; // sides; Unity's convex hulls have 255 faces

        /// <summary>A circle around the origin, counter-clockwise.</summary>
        public static List<double[]> Circle(double radius)
        {
            List<double[]> corners = new List<double[]>();
            double needed = Math.PI / Math.Acos(1 - Math.Min(Finest / radius, 1));
            int sides = Math.Min(Math.Max((int)Math.Ceiling(needed), Fewest), Most);
            for (int i = 0; i < sides; i++)
            {
                double angle = 2 * Math.PI * i / sides;
                corners.Add(new[] { radius * Math.Cos(angle), radius * Math.Sin(angle) });
            }
            return corners;
        }

        /// <summary>Twice the area; negative if the corners are in clockwise order.</summary>
        public static double TwiceArea(List<double[]> corners)
        {
            double sum = 0;
            for (int i = 0; i < corners.Count; i++)
            {
                double[] a = corners[i], b = corners[(i + 1) % corners.Count];
                sum += a[0] * b[1] - a[1] * b[0];
            }
            return sum;
        }

        /// <summary>Triangles that fill a polygon without holes, as indices of corners, found by ear clipping.</summary>
        /// <param name="corners">Corners of the polygon, counter-clockwise.</param>
        public static List<int> Triangles(List<double[]> corners)
        {
            List<int> left = new List<int>(), triangles = new List<int>();
            for (int i = 0; i < corners.Count; i++)
            {
                left.Add(i);
            }
            while (left.Count > 2)
            {
                int ear = Ear(corners, left);
                int count = left.Count;
                triangles.Add(left[(ear + count - 1) % count]);
                triangles.Add(left[ear]);
                triangles.Add(left[(ear + 1) % count]);
                left.RemoveAt(ear);
            }
            return triangles;
        }

        /// <summary>An ear, i.e. a corner that can be cut off; the first corner if there is no ear because corners coincide or edges cross.</summary>
        static int Ear(List<double[]> corners, List<int> left)
        {
            int count = left.Count;
            for (int k = 0; k < count; k++)
            {
                double[] a = corners[left[(k + count - 1) % count]], b = corners[left[k]], c = corners[left[(k + 1) % count]];
                if (Side(a, b, c) > 0 && !left.Exists(i => Inside(corners[i], a, b, c)))
                {
                    return k;
                }
            }
            return 0;
        }

        static double Side(double[] a, double[] b, double[] c)
        {
            return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        }

        static bool Inside(double[] p, double[] a, double[] b, double[] c)
        {
            bool corner = Same(p, a) || Same(p, b) || Same(p, c);
            return !corner && Side(a, b, p) >= 0 && Side(b, c, p) >= 0 && Side(c, a, p) >= 0;
        }

        static bool Same(double[] p, double[] q)
        {
            return p[0] == q[0] && p[1] == q[1];
        }
    }
}
