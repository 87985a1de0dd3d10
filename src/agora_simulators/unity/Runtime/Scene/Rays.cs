using Agora.Core;
using UnityEngine;
using Pose = Agora.Core.Pose;

namespace Agora.Scene
{
    /// <summary>Measures distances with rays that ignore the robot from which they start. People are triggers, and are seen.</summary>
    public static class Rays
    {
        const float Skin = 0.001f; // m, distance behind a face of its own robot at which a ray continues

        /// <summary>The distance to the first object that a ray hits, m; infinite if nothing is in range.</summary>
        public static float Distance(Vector3 from, Vector3 direction, float range, Transform own)
        {
            float gone = 0;
            RaycastHit hit;
            while (gone < range && Physics.Raycast(from + gone * direction, direction, out hit, range - gone, Physics.AllLayers,
                QueryTriggerInteraction.Collide))
            {
                if (!hit.collider.transform.IsChildOf(own))
                {
                    return gone + hit.distance;
                }
                gone += hit.distance + Skin;
            }
            return float.PositiveInfinity;
        }

        /// <summary>The ranges of a robot's lidar, beam by beam.</summary>
        public static float[] Scan(Transform robot, Lidar lidar)
        {
            Pose pose = Frames.PoseOf(robot);
            double c = System.Math.Cos(pose.Heading), s = System.Math.Sin(pose.Heading);
            Vector3 from = Frames.Point(pose.X + c * lidar.X - s * lidar.Y, pose.Y + s * lidar.X + c * lidar.Y, lidar.Z);
            float[] ranges = new float[lidar.Beams];
            for (int i = 0; i < ranges.Length; i++)
            {
                double angle = pose.Heading + lidar.Heading + lidar.Lowest + lidar.Step * i;
                ranges[i] = Distance(from, Frames.Direction(angle), (float)lidar.Range, robot);
            }
            return ranges;
        }
    }
}
