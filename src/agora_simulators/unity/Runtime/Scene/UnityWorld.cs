using System.Collections.Generic;
using Agora.Core;
using UnityEngine;
using Pose = Agora.Core.Pose;

namespace Agora.Scene
{
    /// <summary>
    /// The world in Unity's physics. Robots are driven bodies that walls and other robots stop. People are triggers: rays see
    /// them, but they do not stop bodies, as in Agora's own engine.
    /// </summary>
    public sealed class UnityWorld : IWorld
    {
        public const string Floor = "floor";

        readonly Shapes _shapes;
        readonly People _people;
        readonly Dictionary<string, GameObject> _standing = new Dictionary<string, GameObject>();
        readonly Dictionary<string, Robot> _robots = new Dictionary<string, Robot>();

        public UnityWorld(Material surface)
        {
            _shapes = new Shapes(surface);
            _people = new People(_shapes);
            MakeFloor();
        }

        public ICollection<string> Robots
        {
            get { return _robots.Keys; }
        }

        /// <summary>Number of people who are shown.</summary>
        public int Crowd
        {
            get { return _people.Count; }
        }

        public bool Has(string name)
        {
            return _standing.ContainsKey(name) || _robots.ContainsKey(name);
        }

        /// <summary>The game object of a robot.</summary>
        public GameObject BodyOf(string robot)
        {
            return _robots[robot].Body;
        }

        public void Spawn(string name, Model model, Pose pose)
        {
            GameObject made = new GameObject(name);
            _shapes.Add(made, model.Parts);
            Frames.Put(made.transform, pose);
            if (model.IsRobot)
            {
                _robots.Add(name, new Robot(made, model));
            }
            else
            {
                _standing.Add(name, made);
            }
        }

        public void Delete(string name)
        {
            Remove(Find(name));
            _robots.Remove(name);
            _standing.Remove(name);
        }

        public void Place(string name, Pose pose)
        {
            Frames.Put(Find(name).transform, pose);
            Robot robot;
            if (_robots.TryGetValue(name, out robot))
            {
                robot.Stand();
            }
        }

        public void Drive(string robot, Twist twist)
        {
            _robots[robot].Told = twist;
        }

        public void Show(List<Person> people)
        {
            _people.Show(people);
        }

        public void Step(double seconds)
        {
            Physics.SyncTransforms();
            foreach (Robot robot in _robots.Values)
            {
                robot.Push(seconds);
            }
            Physics.Simulate((float)seconds);
            foreach (Robot robot in _robots.Values)
            {
                robot.Look(seconds);
            }
        }

        public void Clear()
        {
            foreach (string name in new List<string>(_robots.Keys))
            {
                Delete(name);
            }
            foreach (string name in new List<string>(_standing.Keys))
            {
                Delete(name);
            }
            Show(new List<Person>());
        }

        public Pose PoseOf(string robot)
        {
            return Frames.PoseOf(BodyOf(robot).transform);
        }

        public Twist TwistOf(string robot)
        {
            return _robots[robot].Seen;
        }

        public Lidar LidarOf(string robot)
        {
            return _robots[robot].Lidar;
        }

        public float[] Scan(string robot)
        {
            Physics.SyncTransforms();
            return Rays.Scan(BodyOf(robot).transform, LidarOf(robot));
        }

        GameObject Find(string name)
        {
            return _robots.ContainsKey(name) ? _robots[name].Body : _standing[name];
        }

        /// <summary>Removes a game object immediately, because Unity destroys it only at the end of the frame.</summary>
        internal static void Remove(GameObject what)
        {
            what.SetActive(false);
            Object.Destroy(what);
        }

        /// <summary>A visible floor, also for cameras; it is a trigger, so it causes no friction.</summary>
        void MakeFloor()
        {
            const double size = 400, thick = 0.1; // m
            GameObject floor = new GameObject(Floor);
            double[] at = { 0, 0, -thick / 2 - 0.001 }, level = new double[3], box = { size, size, thick };
            Part shown = new Part { Position = at, Turn = level, Box = box, Colour = new[] { 0.82, 0.82, 0.8, 1.0 } };
            Part solid = new Part { Position = at, Turn = level, Box = box, Solid = true };
            _shapes.Add(floor, new[] { shown, solid });
            floor.GetComponentInChildren<Collider>().isTrigger = true;
        }
    }
}
