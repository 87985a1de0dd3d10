using System.Collections.Generic;
using Agora.Core;
using UnityEngine;

namespace Agora.Scene
{
    /// <summary>Creates game objects from the parts of models: solid parts get a collider, and all other parts are only shown.</summary>
    public sealed class Shapes
    {
        readonly Material _surface;
        readonly Dictionary<Color, Material> _materials = new Dictionary<Color, Material>();

        /// <param name="surface">The material to colour; if null, Unity's default.</param>
        public Shapes(Material surface)
        {
            _surface = surface != null ? surface : Default();
        }

        /// <summary>Adds the parts of a model to a game object.</summary>
        public void Add(GameObject to, IEnumerable<Part> parts)
        {
            foreach (Part part in parts)
            {
                GameObject child = new GameObject(part.Solid ? "solid" : "shown");
                child.transform.SetParent(to.transform, false);
                child.transform.localPosition = Frames.Point(part.Position[0], part.Position[1], part.Position[2]);
                child.transform.localRotation = Frames.Turn(part.Turn[0], part.Turn[1], part.Turn[2]);
                if (part.Solid)
                {
                    Collide(child, part);
                }
                else
                {
                    Show(child, part);
                }
            }
        }

        static void Collide(GameObject child, Part part)
        {
            if (part.Box != null)
            {
                child.AddComponent<BoxCollider>().size = new Vector3((float)part.Box[1], (float)part.Box[2], (float)part.Box[0]);
                return;
            }
            MeshCollider collider = child.AddComponent<MeshCollider>();
            collider.convex = part.Convex;
            collider.sharedMesh = Prism(part.Outline, part.Bottom, part.Top);
        }

        void Show(GameObject child, Part part)
        {
            List<double[]> outline = part.Outline;
            double bottom = part.Bottom, top = part.Top;
            if (part.Box != null)
            {
                double x = part.Box[0] / 2, y = part.Box[1] / 2;
                outline = new List<double[]> { new[] { -x, -y }, new[] { x, -y }, new[] { x, y }, new[] { -x, y } };
                bottom = -part.Box[2] / 2;
                top = part.Box[2] / 2;
            }
            child.AddComponent<MeshFilter>().sharedMesh = Prism(outline, bottom, top);
            double[] colour = part.Colour ?? new[] { 0.6, 0.6, 0.6, 1.0 };
            child.AddComponent<MeshRenderer>().sharedMaterial = Coloured(new Color((float)colour[0], (float)colour[1], (float)colour[2]));
        }

        Material Coloured(Color colour)
        {
            Material material;
            if (!_materials.TryGetValue(colour, out material))
            {
                material = new Material(_surface) { color = colour };
                _materials.Add(colour, material);
            }
            return material;
        }

        /// <summary>A prism whose faces do not share vertices, so that its edges look sharp; front faces point outwards.</summary>
        /// <param name="outline">Corners (x, y) in ROS's frame, counter-clockwise.</param>
        /// <param name="bottom">Height of the lower face, m.</param>
        /// <param name="top">Height of the upper face, m.</param>
        public static Mesh Prism(List<double[]> outline, double bottom, double top)
        {
            List<Vector3> corners = new List<Vector3>();
            List<int> triangles = new List<int>();
            for (int i = 0; i < outline.Count; i++)
            {
                double[] a = outline[i], b = outline[(i + 1) % outline.Count];
                int first = corners.Count;
                corners.Add(Frames.Point(a[0], a[1], bottom));
                corners.Add(Frames.Point(b[0], b[1], bottom));
                corners.Add(Frames.Point(b[0], b[1], top));
                corners.Add(Frames.Point(a[0], a[1], top));
                Face(triangles, first, 0, 1, 2);
                Face(triangles, first, 0, 2, 3);
            }
            List<int> face = Outlines.Triangles(outline);
            int low = corners.Count, high = low + outline.Count;
            outline.ForEach(corner => corners.Add(Frames.Point(corner[0], corner[1], bottom)));
            outline.ForEach(corner => corners.Add(Frames.Point(corner[0], corner[1], top)));
            for (int i = 0; i < face.Count; i += 3)
            {
                Face(triangles, high, face[i], face[i + 1], face[i + 2]);
                Face(triangles, low, face[i], face[i + 2], face[i + 1]);
            }
            Mesh mesh = new Mesh();
            mesh.SetVertices(corners);
            mesh.SetTriangles(triangles, 0);
            mesh.RecalculateNormals();
            mesh.RecalculateBounds();
            return mesh;
        }

        /// <summary>Adds a triangle that is counter-clockwise in ROS's frame, seen from outside; in Unity, front faces are clockwise.</summary>
        static void Face(List<int> triangles, int first, int a, int b, int c)
        {
            triangles.Add(first + a);
            triangles.Add(first + c);
            triangles.Add(first + b);
        }

        static Material Default()
        {
            GameObject cube = GameObject.CreatePrimitive(PrimitiveType.Cube);
            Material material = cube.GetComponent<MeshRenderer>().sharedMaterial;
            cube.SetActive(false);
            Object.Destroy(cube);
            return material;
        }
    }
}
