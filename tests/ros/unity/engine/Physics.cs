using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public enum SimulationMode { FixedUpdate, Update, Script }

    public enum QueryTriggerInteraction { UseGlobal, Ignore, Collide }

    [Flags]
    public enum RigidbodyConstraints { None = 0, FreezePositionY = 4, FreezeRotationX = 16, FreezeRotationZ = 64 }

    public class Rigidbody : Component
    {
        public float mass { get; set; }
        public bool useGravity { get; set; }
        public bool isKinematic { get; set; }
        public RigidbodyConstraints constraints { get; set; }
        public float maxAngularVelocity { get; set; }
        public float sleepThreshold { get; set; }
        public Vector3 centerOfMass { get; set; }
        public Vector3 angularVelocity { get; set; }
#if UNITY_6000_0_OR_NEWER
        public Vector3 linearVelocity { get; set; }
        public float linearDamping { get; set; }
        public float angularDamping { get; set; }
#else
        public Vector3 velocity { get; set; }
        public float drag { get; set; }
        public float angularDrag { get; set; }
#endif

        internal override void Begin()
        {
            useGravity = true;
            maxAngularVelocity = 7;
            centerOfMass = new Vector3(9, 9, 9); // somewhere: Unity takes it from the colliders
            Physics.Bodies.Add(this);
        }

        internal void Move(float seconds)
        {
            if (isKinematic || !gameObject.activeInHierarchy)
            {
                return;
            }
            if (useGravity || centerOfMass.magnitude > 0 || angularVelocity.magnitude > maxAngularVelocity)
            {
                throw new NotSupportedException("bodies that fall, or turn about something else than their base");
            }
#if UNITY_6000_0_OR_NEWER
            Vector3 speed = linearVelocity;
#else
            Vector3 speed = velocity;
#endif
            float degrees = (float)(angularVelocity.magnitude * seconds * 180 / Math.PI);
            transform.SetPositionAndRotation(transform.position + seconds * speed,
                Quaternion.AngleAxis(degrees, angularVelocity) * transform.rotation);
        }
    }

    public class Collision
    {
        public Collider collider { get; internal set; }
    }

    public struct RaycastHit
    {
        public float distance { get; internal set; }
        public Collider collider { get; internal set; }
    }

    /// <summary>Rays go against the poses of the last <see cref="SyncTransforms"/> or <see cref="Simulate"/>, as in Unity.</summary>
    public static class Physics
    {
        public const int AllLayers = -1;

        internal static readonly List<Collider> Colliders = new List<Collider>();
        internal static readonly List<Rigidbody> Bodies = new List<Rigidbody>();

        public static SimulationMode simulationMode { get; set; }

        public static void SyncTransforms()
        {
            Colliders.RemoveAll(each => !each.gameObject.activeInHierarchy);
            Bodies.RemoveAll(each => !each.gameObject.activeInHierarchy);
            Colliders.ForEach(each => each.Sync());
        }

        public static void Simulate(float seconds)
        {
            if (simulationMode != SimulationMode.Script)
            {
                throw new NotSupportedException("two clocks");
            }
            Bodies.ForEach(each => each.Move(seconds));
            SyncTransforms();
        }

        public static bool Raycast(Vector3 from, Vector3 direction, out RaycastHit hit, float range, int layers,
            QueryTriggerInteraction triggers)
        {
            hit = new RaycastHit { distance = float.PositiveInfinity };
            foreach (Collider each in Colliders)
            {
                if (each.isTrigger && triggers != QueryTriggerInteraction.Collide)
                {
                    continue;
                }
                float distance = each.Hit(from, direction);
                if (distance <= range && distance < hit.distance)
                {
                    hit = new RaycastHit { distance = distance, collider = each };
                }
            }
            return hit.collider != null;
        }
    }
}
