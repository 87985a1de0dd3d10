using System;
using System.Collections.Generic;

namespace UnityEngine
{
    /// <summary>A surface that rays meet from outside; a ray from within a collider does not meet it.</summary>
    public abstract class Collider : Component
    {
        Vector3 _place;
        Quaternion _back;

        public bool isTrigger { get; set; }

        internal override void Begin() { Physics.Colliders.Add(this); }

        internal void Sync()
        {
            _place = transform.position;
            _back = Quaternion.Inverse(transform.rotation);
        }

        internal float Hit(Vector3 from, Vector3 direction)
        {
            Vector3 start = _back * (from - _place);
            Vector3 along = _back * direction;
            Vector3 gap = Middle - start;
            float near = Vector3.Dot(gap, along);
            bool misses = Vector3.Dot(gap, gap) - near * near > Reach * Reach;
            return misses ? float.PositiveInfinity : HitLocal(start, along);
        }

        protected abstract Vector3 Middle { get; }
        protected abstract float Reach { get; }
        protected abstract float HitLocal(Vector3 from, Vector3 direction);
    }

    public class BoxCollider : Collider
    {
        public Vector3 size { get; set; }
        protected override Vector3 Middle { get { return Vector3.zero; } }
        protected override float Reach { get { return size.magnitude / 2; } }

        protected override float HitLocal(Vector3 from, Vector3 direction)
        {
            float enter = float.NegativeInfinity, leave = float.PositiveInfinity;
            Slab(from.x, direction.x, size.x / 2, ref enter, ref leave);
            Slab(from.y, direction.y, size.y / 2, ref enter, ref leave);
            Slab(from.z, direction.z, size.z / 2, ref enter, ref leave);
            return enter > 0 && enter <= leave ? enter : float.PositiveInfinity;
        }

        static void Slab(float at, float along, float half, ref float enter, ref float leave)
        {
            float a = (-half - at) / along, b = (half - at) / along;
            if (!float.IsNaN(a) && !float.IsNaN(b))
            {
                enter = Math.Max(enter, Math.Min(a, b));
                leave = Math.Min(leave, Math.Max(a, b));
            }
        }
    }

    /// <summary>An upright capsule, of which the cylinder between its round ends is met.</summary>
    public class CapsuleCollider : Collider
    {
        public float radius { get; set; }
        public float height { get; set; }
        public Vector3 center { get; set; }
        protected override Vector3 Middle { get { return center; } }
        protected override float Reach { get { return height; } }

        protected override float HitLocal(Vector3 from, Vector3 direction)
        {
            Vector3 start = from - center;
            float a = direction.x * direction.x + direction.z * direction.z, b = start.x * direction.x + start.z * direction.z;
            float c = start.x * start.x + start.z * start.z - radius * radius, root = b * b - a * c;
            if (root < 0 || c < 0 || a == 0)
            {
                return float.PositiveInfinity;
            }
            float t = (-b - (float)Math.Sqrt(root)) / a;
            return t > 0 && Math.Abs(start.y + t * direction.y) <= height / 2 - radius ? t : float.PositiveInfinity;
        }
    }

    /// <summary>A mesh whose triangles are met from the front.</summary>
    public class MeshCollider : Collider
    {
        Mesh _mesh;
        float _reach;

        public bool convex { get; set; }

        public Mesh sharedMesh
        {
            get { return _mesh; }
            set
            {
                _mesh = value;
                value.Corners.ForEach(corner => _reach = Math.Max(_reach, corner.magnitude));
            }
        }

        protected override Vector3 Middle { get { return Vector3.zero; } }
        protected override float Reach { get { return _reach; } }

        protected override float HitLocal(Vector3 from, Vector3 direction)
        {
            if (!convex && gameObject.transform.root.gameObject.GetComponent<Rigidbody>() != null)
            {
                throw new NotSupportedException("a body that moves with a mesh that is not convex");
            }
            float nearest = float.PositiveInfinity;
            List<Vector3> corners = _mesh.Corners;
            List<int> triangles = _mesh.Triangles;
            for (int i = 0; i < triangles.Count; i += 3)
            {
                float t = Triangle(from, direction, corners[triangles[i]], corners[triangles[i + 1]], corners[triangles[i + 2]]);
                nearest = Math.Min(nearest, t);
            }
            return nearest;
        }

        static float Triangle(Vector3 from, Vector3 direction, Vector3 a, Vector3 b, Vector3 c)
        {
            Vector3 ab = b - a, ac = c - a, normal = Vector3.Cross(ab, ac);
            float facing = -Vector3.Dot(direction, normal);
            if (facing <= 0)
            {
                return float.PositiveInfinity; // seen from behind
            }
            Vector3 gap = from - a, across = Vector3.Cross(gap, direction);
            float t = Vector3.Dot(gap, normal) / facing;
            float v = Vector3.Dot(ac, across) / facing, w = -Vector3.Dot(ab, across) / facing;
            return t > 0 && v >= -1e-5f && w >= -1e-5f && v + w <= 1.00001f ? t : float.PositiveInfinity;
        }
    }
}
