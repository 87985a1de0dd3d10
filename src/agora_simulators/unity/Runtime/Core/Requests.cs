using System.Collections.Generic;

namespace Agora.Core
{
    /// <summary>gazebo_msgs/SpawnModel: a robot as URDF, or a static object as SDF.</summary>
    public sealed class SpawnRequest
    {
        public readonly string Name;
        public readonly string Xml;
        public readonly Pose Pose;

        public SpawnRequest(byte[] message)
        {
            Reader read = new Reader(message);
            Name = read.Text();
            Xml = read.Text();
            read.Text();
            Pose = read.Pose();
        }
    }

    /// <summary>gazebo_msgs/SetModelState, of which only name and pose are used.</summary>
    public sealed class PlaceRequest
    {
        public readonly string Name;
        public readonly Pose Pose;

        public PlaceRequest(byte[] message)
        {
            Reader read = new Reader(message);
            Name = read.Text();
            Pose = read.Pose();
        }
    }

    /// <summary>A pedestrian who is present; units are metres.</summary>
    public struct Person
    {
        public readonly int Id;
        public readonly Pose Pose;
        public readonly double Radius;

        public Person(int id, Pose pose, double radius)
        {
            Id = id;
            Pose = pose;
            Radius = radius;
        }

        /// <summary>Reads an agora_msgs/Pedestrians; empty slots are left out.</summary>
        public static List<Person> Read(byte[] message)
        {
            Reader read = new Reader(message);
            read.Header();
            read.UInt();
            byte[] present = read.Bytes();
            int[] id = read.Ints();
            float[] x = read.Floats(), y = read.Floats();
            read.Floats();
            read.Floats();
            float[] heading = read.Floats(), radius = read.Floats();
            List<Person> people = new List<Person>();
            for (int i = 0; i < present.Length; i++)
            {
                if (present[i] != 0)
                {
                    people.Add(new Person(id[i], new Pose(x[i], y[i], heading[i]), radius[i]));
                }
            }
            return people;
        }
    }
}
