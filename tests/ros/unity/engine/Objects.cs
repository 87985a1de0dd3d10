using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public class Object
    {
        bool _destroyed;

        public string name { get; set; }

        public static void Destroy(Object what) { what._destroyed = true; }

        public static bool operator ==(Object a, Object b)
        {
            return ReferenceEquals(Alive(a), Alive(b));
        }

        public static bool operator !=(Object a, Object b) { return !(a == b); }
        public override bool Equals(object other) { return this == other as Object; }
        public override int GetHashCode() { return 0; }
        static Object Alive(Object of) { return ReferenceEquals(of, null) || of._destroyed ? null : of; }
    }

    public class GameObject : Object
    {
        readonly List<Component> _components = new List<Component>();
        bool _active = true;

        public GameObject() : this("New Game Object") { }

        public GameObject(string name)
        {
            this.name = name;
            transform = AddComponent<Transform>();
        }

        public Transform transform { get; private set; }
        public bool activeInHierarchy { get { return _active && (transform.parent == null || transform.parent.gameObject.activeInHierarchy); } }

        public void SetActive(bool active) { _active = active; }

        public T AddComponent<T>() where T : Component, new()
        {
            T made = new T { gameObject = this };
            _components.Add(made);
            made.Begin();
            return made;
        }

        public T GetComponent<T>() where T : Component
        {
            return _components.Find(each => each is T) as T;
        }

        public T GetComponentInChildren<T>() where T : Component
        {
            T found = GetComponent<T>();
            foreach (Transform child in transform.Children)
            {
                found = found ?? child.gameObject.GetComponentInChildren<T>();
            }
            return found;
        }

        public static GameObject CreatePrimitive(PrimitiveType type)
        {
            GameObject made = new GameObject(type.ToString());
            made.AddComponent<MeshFilter>();
            made.AddComponent<MeshRenderer>().sharedMaterial = new Material(null);
            made.AddComponent<BoxCollider>().size = new Vector3(1, 1, 1);
            return made;
        }
    }

    public class Component : Object
    {
        public GameObject gameObject { get; internal set; }
        public Transform transform { get { return gameObject.transform; } }
        public new string name { get { return gameObject.name; } }

        internal virtual void Begin() { }
    }

    public class Transform : Component
    {
        internal readonly List<Transform> Children = new List<Transform>();

        public Transform parent { get; private set; }
        public Vector3 localPosition { get; set; }
        public Quaternion localRotation { get; set; }
        public Transform root { get { return parent == null ? this : parent.root; } }
        public Vector3 position { get { return parent == null ? localPosition : parent.position + parent.rotation * localPosition; } }
        public Quaternion rotation { get { return parent == null ? localRotation : parent.rotation * localRotation; } }

        internal override void Begin() { localRotation = Quaternion.identity; }

        public void SetParent(Transform to, bool worldPositionStays)
        {
            parent = to;
            to.Children.Add(this);
        }

        public void SetPositionAndRotation(Vector3 place, Quaternion turn)
        {
            if (parent != null)
            {
                throw new NotSupportedException("of the roots alone");
            }
            localPosition = place;
            localRotation = turn;
        }

        public bool IsChildOf(Transform of) { return ReferenceEquals(this, of) || (parent != null && parent.IsChildOf(of)); }
    }

    public class Behaviour : Component
    {
        public bool enabled { get; set; }
    }

    public class MonoBehaviour : Behaviour
    {
        internal override void Begin()
        {
            System.Reflection.MethodInfo awake = GetType().GetMethod("Awake",
                System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.NonPublic);
            if (awake != null)
            {
                awake.Invoke(this, null);
            }
        }
    }

    public enum PrimitiveType { Sphere, Capsule, Cylinder, Cube, Plane, Quad }

    public class Material : Object
    {
        public Material(Material source) { }
        public Color color { get; set; }
    }

    public class MeshFilter : Component
    {
        public Mesh sharedMesh { get; set; }
    }

    public class Renderer : Component
    {
        public Material sharedMaterial { get; set; }
    }

    public class MeshRenderer : Renderer { }

    public class Mesh : Object
    {
        internal List<Vector3> Corners;
        internal List<int> Triangles;

        public void SetVertices(List<Vector3> corners) { Corners = corners; }
        public void SetTriangles(List<int> triangles, int submesh) { Triangles = triangles; }
        public void RecalculateNormals() { }
        public void RecalculateBounds() { }
    }
}
