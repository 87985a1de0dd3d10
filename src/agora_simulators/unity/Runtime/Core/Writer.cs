using System.IO;
using System.Text;

namespace Agora.Core
{
    /// <summary>Writes the fields of a ROS 1 message one after another; numbers are little-endian.</summary>
    public sealed class Writer
    {
        readonly MemoryStream _memory = new MemoryStream();
        readonly BinaryWriter _out;

        public Writer()
        {
            _out = new BinaryWriter(_memory);
        }

        /// <summary>The message so far.</summary>
        public byte[] Bytes()
        {
            return _memory.ToArray();
        }

        public Writer Bool(bool value)
        {
            _out.Write(value);
            return this;
        }

        public Writer UInt(uint value)
        {
            _out.Write(value);
            return this;
        }

        public Writer Float(double value)
        {
            _out.Write((float)value);
            return this;
        }

        public Writer Doubles(params double[] values)
        {
            foreach (double value in values)
            {
                _out.Write(value);
            }
            return this;
        }

        public Writer Text(string value)
        {
            return Raw(Encoding.UTF8.GetBytes(value));
        }

        /// <summary>Writes an array of bytes, preceded by its length.</summary>
        public Writer Raw(byte[] value)
        {
            _out.Write((uint)value.Length);
            _out.Write(value);
            return this;
        }

        /// <summary>Writes an array of float32, preceded by its length.</summary>
        public Writer Floats(float[] values)
        {
            _out.Write((uint)values.Length);
            foreach (float value in values)
            {
                _out.Write(value);
            }
            return this;
        }

        /// <summary>Writes a std_msgs/Header without a sequence number, which the endpoint's publisher sets.</summary>
        public Writer Header(long nanoseconds, string frame)
        {
            return UInt(0).Time(nanoseconds).Text(frame);
        }

        public Writer Time(long nanoseconds)
        {
            return UInt((uint)(nanoseconds / 1000000000L)).UInt((uint)(nanoseconds % 1000000000L));
        }

        /// <summary>Writes a geometry_msgs/Pose on the floor.</summary>
        public Writer Pose(Pose pose)
        {
            return Doubles(pose.X, pose.Y, 0.0, 0.0, 0.0, System.Math.Sin(pose.Heading / 2), System.Math.Cos(pose.Heading / 2));
        }

        /// <summary>Writes a geometry_msgs/Twist on the floor.</summary>
        public Writer Twist(Twist twist)
        {
            return Doubles(twist.Vx, twist.Vy, 0.0, 0.0, 0.0, twist.Omega);
        }
    }
}
