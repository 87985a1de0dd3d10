using Agora.Core;
using UnityEngine;
using Pose = Agora.Core.Pose;

namespace Agora.Scene
{
    /// <summary>A robot as a body on the floor, which takes up its twist immediately unless an object stops it.</summary>
    sealed class Robot
    {
        const float Mass = 10; // kg, if the file does not give the mass
        const float Fastest = 50; // rad/s; Unity's default limit is 7

        public readonly GameObject Body;
        public readonly Lidar Lidar;
        readonly Rigidbody _rigid;
        Pose _before;

        public Robot(GameObject body, Model model)
        {
            Body = body;
            Lidar = model.Lidar;
            _rigid = body.AddComponent<Rigidbody>();
            _rigid.mass = model.Mass > 0 ? (float)model.Mass : Mass;
            _rigid.useGravity = false;
            _rigid.constraints = RigidbodyConstraints.FreezePositionY | RigidbodyConstraints.FreezeRotationX
                | RigidbodyConstraints.FreezeRotationZ;
            _rigid.maxAngularVelocity = Fastest;
            _rigid.sleepThreshold = 0;
            _rigid.centerOfMass = Vector3.zero; // velocities refer to the centre of mass, twists to the base
#if UNITY_6000_0_OR_NEWER
            _rigid.linearDamping = 0;
            _rigid.angularDamping = 0;
#else
            _rigid.drag = 0;
            _rigid.angularDrag = 0;
#endif
            body.AddComponent<Contacts>();
        }

        /// <summary>The commanded twist.</summary>
        public Twist Told { get; set; }

        /// <summary>The twist in the last step.</summary>
        public Twist Seen { get; private set; }

        /// <summary>Brings the robot to rest at the pose to which it was moved.</summary>
        public void Stand()
        {
            Told = new Twist();
            Seen = new Twist();
            Set(Vector3.zero, 0);
        }

        /// <summary>Sets the velocities for a step, s: those in the middle of the arc, so that the step ends on the arc.</summary>
        public void Push(double seconds)
        {
            _before = Frames.PoseOf(Body.transform);
            double middle = _before.Heading + Told.Omega * seconds / 2;
            Vector3 velocity = (float)Told.Vx * Frames.Direction(middle) + (float)Told.Vy * Frames.Direction(middle + System.Math.PI / 2);
            Set(velocity, Told.Omega);
        }

        /// <summary>Measures the motion in the last step.</summary>
        public void Look(double seconds)
        {
            Seen = Twist.Between(_before, Frames.PoseOf(Body.transform), seconds);
        }

        void Set(Vector3 velocity, double omega)
        {
#if UNITY_6000_0_OR_NEWER
            _rigid.linearVelocity = velocity;
#else
            _rigid.velocity = velocity;
#endif
            _rigid.angularVelocity = new Vector3(0, (float)-omega, 0);
        }
    }
}
