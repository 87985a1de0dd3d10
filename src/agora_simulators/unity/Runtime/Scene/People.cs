using System.Collections.Generic;
using Agora.Core;
using UnityEngine;

namespace Agora.Scene
{
    /// <summary>The pedestrians who are present, as upright figures whose noses show where they look.</summary>
    sealed class People
    {
        const double Height = 1.75; // m
        const double Neck = 1.45;
        const double Head = 0.12;

        static readonly double[] Coat = { 0.85, 0.45, 0.1, 1 };
        static readonly double[] Skin = { 0.9, 0.75, 0.62, 1 };

        readonly Shapes _shapes;
        readonly Dictionary<int, GameObject> _shown = new Dictionary<int, GameObject>();

        public People(Shapes shapes)
        {
            _shapes = shapes;
        }

        public int Count
        {
            get { return _shown.Count; }
        }

        /// <summary>Shows all pedestrians at their positions, and removes figures of pedestrians who are no longer present.</summary>
        public void Show(List<Person> people)
        {
            HashSet<int> gone = new HashSet<int>(_shown.Keys);
            foreach (Person person in people)
            {
                GameObject figure;
                bool here = _shown.TryGetValue(person.Id, out figure);
                if (here && figure.GetComponent<CapsuleCollider>().radius != (float)person.Radius)
                {
                    UnityWorld.Remove(figure); // a pedestrian from another episode
                    _shown.Remove(person.Id);
                    here = false;
                }
                if (!here)
                {
                    figure = Make(person);
                    _shown.Add(person.Id, figure);
                }
                gone.Remove(person.Id);
                Frames.Put(figure.transform, person.Pose);
            }
            foreach (int id in gone)
            {
                UnityWorld.Remove(_shown[id]);
                _shown.Remove(id);
            }
        }

        GameObject Make(Person person)
        {
            GameObject figure = new GameObject("pedestrian_" + person.Id);
            double r = person.Radius;
            _shapes.Add(figure, new[]
            {
                Round(r, 0, Neck, Coat),
                Round(Head, Neck, Height, Skin),
                new Part { Position = new[] { Head, 0, 1.6 }, Turn = new double[3], Box = new[] { 0.1, 0.04, 0.04 }, Colour = Skin },
            });
            CapsuleCollider capsule = figure.AddComponent<CapsuleCollider>();
            capsule.isTrigger = true;
            capsule.radius = (float)r;
            capsule.height = (float)(Height + 2 * r); // its round ends are below the floor and above the head, so the side is upright in between
            capsule.center = new Vector3(0, (float)Height / 2, 0);
            figure.AddComponent<Rigidbody>().isKinematic = true;
            return figure;
        }

        static Part Round(double radius, double bottom, double top, double[] colour)
        {
            return new Part
            {
                Position = new double[3], Turn = new double[3], Outline = Outlines.Circle(radius), Bottom = bottom, Top = top, Colour = colour,
            };
        }
    }
}
