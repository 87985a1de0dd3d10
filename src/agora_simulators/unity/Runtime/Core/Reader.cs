using System;
using System.IO;
using System.Text;

namespace Agora.Core
{
    /// <summary>Reads the fields of a ROS 1 message one after another.</summary>
    /// <exception cref="EndOfStreamException">The message ends before its last field.</exception>
    public sealed class Reader
    {
        readonly BinaryReader _in;
        readonly int _size;

        public Reader(byte[] message)
        {
            _in = new BinaryReader(new MemoryStream(message));
            _size = message.Length;
        }

        public uint UInt()
        {
            return _in.ReadUInt32();
        }

        public double Double()
        {
            return _in.ReadDouble();
        }

        public string Text()
        {
            return Encoding.UTF8.GetString(Bytes());
        }

        /// <summary>An array of bytes.</summary>
        public byte[] Bytes()
        {
            return _in.ReadBytes(Count(1));
        }

        public int[] Ints()
        {
            int[] values = new int[Count(4)];
            for (int i = 0; i < values.Length; i++)
            {
                values[i] = _in.ReadInt32();
            }
            return values;
        }

        public float[] Floats()
        {
            float[] values = new float[Count(4)];
            for (int i = 0; i < values.Length; i++)
            {
                values[i] = _in.ReadSingle();
            }
            return values;
        }

        /// <summary>Skips a std_msgs/Header.</summary>
        public void Header()
        {
            UInt();
            UInt();
            UInt();
            Text();
        }

        /// <summary>A geometry_msgs/Pose, of which only the components on the floor are used.</summary>
        public Pose Pose()
        {
            double x = Double(), y = Double();
            Double();
            double a = Double(), b = Double(), c = Double(), w = Double();
            return new Pose(x, y, Math.Atan2(2 * (w * c + a * b), 1 - 2 * (b * b + c * c)));
        }

        /// <summary>A geometry_msgs/Twist, of which only the components on the floor are used.</summary>
        public Twist Twist()
        {
            double vx = Double(), vy = Double();
            Double();
            Double();
            Double();
            return new Twist(vx, vy, Double());
        }

        /// <summary>The length of an array; a length that exceeds the remaining bytes is rejected.</summary>
        int Count(int width)
        {
            uint count = UInt();
            if (count * (long)width > _size - _in.BaseStream.Position)
            {
                throw new EndOfStreamException("a message announces " + count + " values but is shorter");
            }
            return (int)count;
        }
    }
}
