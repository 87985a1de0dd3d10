using System;
using System.Threading.Tasks;
using Agora.Core;
using UnityEngine;

namespace Agora.Scene
{
    /// <summary>
    /// Drop this component on an empty game object: it connects to ROS-TCP-Endpoint, tries again until the endpoint answers, and
    /// runs the episodes that it receives. A built player takes the address from its command line: -agora HOST:PORT.
    /// </summary>
    [AddComponentMenu("Agora/Player")]
    public sealed class AgoraPlayer : MonoBehaviour
    {
        const float Again = 1; // s between two attempts
        const double MostBehind = 0.25; // s, maximum delay that is caught up; a slower machine runs slower than real time

        [Tooltip("Machine on which ROS-TCP-Endpoint listens")]
        public string Address = "127.0.0.1";

        [Tooltip("Port on which ROS-TCP-Endpoint listens")]
        public int Port = 10000;

        [Tooltip("Simulated seconds per second")]
        public float TimeScale = 1;

        [Tooltip("Physics steps per simulated second")]
        public int StepsPerSecond = 60;

        [Tooltip("Material to colour; Unity's default material if empty")]
        public Material Surface;

        public CameraSettings Camera = new CameraSettings();

        UnityWorld _world;
        Task<Connection> _connecting;
        Connection _connection;
        Player _player;
        string _status = "";
        float _next;
        double _due;

        void Awake()
        {
            Application.runInBackground = true; // time must not stop while another window is in front
            Physics.simulationMode = SimulationMode.Script;
            string[] words = Environment.GetCommandLineArgs();
            int at = Array.IndexOf(words, "-agora");
            if (at >= 0 && at + 1 < words.Length)
            {
                string[] there = words[at + 1].Split(':');
                Address = there[0];
                Port = there.Length > 1 ? int.Parse(there[1]) : Port;
            }
            _world = new UnityWorld(Surface);
        }

        void Update()
        {
            if (_player == null)
            {
                Connect();
                return;
            }
            _player.Handle();
            _due = _player.Paused ? 0 : Math.Min(_due + Time.unscaledDeltaTime * TimeScale, MostBehind);
            double step = 1.0 / StepsPerSecond;
            while (_due >= step && !_player.Paused)
            {
                Advance();
                _due -= step;
                _player.Handle();
            }
            if (_connection.Lost != "")
            {
                Leave("lost the connection: " + _connection.Lost);
            }
            else
            {
                Say("is connected to " + Address + ":" + Port, false);
            }
        }

        void OnDestroy()
        {
            if (_connecting != null)
            {
                _connecting.ContinueWith(made => made.Result.Dispose(), TaskContinuationOptions.OnlyOnRanToCompletion);
            }
            if (_connection != null)
            {
                _connection.Dispose();
            }
        }

        void OnGUI()
        {
            string more = "";
            if (_player != null)
            {
                more = string.Format("; {0:0.0} s{1}, robots: {2}, people: {3}", _player.Now * 1e-9, _player.Paused ? ", paused" : "",
                    _world.Robots.Count, _world.Crowd);
            }
            GUI.Label(new Rect(10, 10, 1000, 25), "Agora " + _status + more);
        }

        void Advance()
        {
            long before = _player.Now;
            _player.Step();
            if (!Camera.On)
            {
                return;
            }
            foreach (string robot in _world.Robots)
            {
                GameObject body = _world.BodyOf(robot);
                RobotCamera eye = body.GetComponent<RobotCamera>();
                if (eye == null)
                {
                    eye = body.AddComponent<RobotCamera>();
                    eye.Prepare(Camera);
                }
                eye.Look(_player, before);
            }
        }

        void Connect()
        {
            if (_connecting == null)
            {
                if (Time.realtimeSinceStartup >= _next)
                {
                    string address = Address;
                    int port = Port;
                    _connecting = Task.Run(() => new Connection(address, port)); // connecting may take seconds
                }
                return;
            }
            if (!_connecting.IsCompleted)
            {
                return;
            }
            Task<Connection> done = _connecting;
            _connecting = null;
            _next = Time.realtimeSinceStartup + Again;
            if (done.IsFaulted)
            {
                Say("is waiting: " + done.Exception.InnerException.Message, true);
                return;
            }
            _connection = done.Result;
            _player = new Player(_connection, _world, 1.0 / StepsPerSecond, text => Debug.LogWarning("Agora: " + text));
            _due = 0;
            Say("is connected to " + Address + ":" + Port, true);
        }

        /// <summary>Ends a connection. The next connection gets an empty world, because it may come from another graph.</summary>
        void Leave(string why)
        {
            _connection.Dispose();
            _connection = null;
            _player = null;
            _world.Clear();
            Say(why, true);
        }

        void Say(string status, bool log)
        {
            if (log && status != _status)
            {
                Debug.Log("Agora " + status);
            }
            _status = status;
        }
    }
}
