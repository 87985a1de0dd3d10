using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Text.RegularExpressions;

namespace Agora.Core
{
    /// <summary>
    /// Runs episodes in a given world: offers the services and topics of docs/reference/unity.md over a connection.
    /// Call <see cref="Handle"/> often, and <see cref="Step"/> once per physics step unless <see cref="Paused"/>.
    /// </summary>
    public sealed class Player
    {
        const double ScanPeriod = 0.1; // s

        readonly Connection _connection;
        readonly IWorld _world;
        readonly double _step;
        readonly HashSet<string> _announced = new HashSet<string>();
        readonly Dictionary<string, Func<byte[], string>> _services;
        readonly Action<string> _log;
        string _asked = "";
        long _steps;

        /// <param name="connection">New connection.</param>
        /// <param name="world">Empty world.</param>
        /// <param name="step">Length of a physics step, s.</param>
        /// <param name="log">Receives the endpoint's error messages.</param>
        public Player(Connection connection, IWorld world, double step, Action<string> log)
        {
            _connection = connection;
            _world = world;
            _step = step;
            _log = log;
            _services = new Dictionary<string, Func<byte[], string>>
            {
                { "unity/spawn_model", Spawn },
                { "unity/delete_model", Delete },
                { "unity/set_model_state", Place },
                { "unity/pause", _ => Pause(true) },
                { "unity/resume", _ => Pause(false) },
            };
            Command("__unity_service", "unity/spawn_model", "gazebo_msgs/SpawnModel");
            Command("__unity_service", "unity/delete_model", "gazebo_msgs/DeleteModel");
            Command("__unity_service", "unity/set_model_state", "gazebo_msgs/SetModelState");
            Command("__unity_service", "unity/pause", "std_srvs/Trigger");
            Command("__unity_service", "unity/resume", "std_srvs/Trigger");
            Announce("__subscribe", "unity/pedestrians", "agora_msgs/Pedestrians");
            Announce("__publish", "/clock", "rosgraph_msgs/Clock");
            _connection.Flush();
        }

        /// <summary>Whether time is paused.</summary>
        public bool Paused { get; private set; }

        /// <summary>Time of the world, ns.</summary>
        public long Now
        {
            get { return (long)Math.Round(_steps * _step * 1e9); }
        }

        /// <summary>Handles all frames that have arrived, and sends the responses.</summary>
        public void Handle()
        {
            Frame frame;
            while (_connection.Take(out frame))
            {
                try
                {
                    Handle(frame);
                }
                catch (EndOfStreamException error)
                {
                    _log("a message on " + frame.Destination + " is cut off: " + error.Message);
                }
            }
            _connection.Flush();
        }

        /// <summary>Advances the world by one physics step, and publishes its state.</summary>
        public void Step()
        {
            long before = Now;
            _world.Step(_step);
            _steps++;
            long now = Now;
            foreach (string robot in _world.Robots)
            {
                _connection.Send(robot + "/unity/odom", Messages.Odometry(now, robot, _world.PoseOf(robot), _world.TwistOf(robot)));
                Lidar lidar = _world.LidarOf(robot);
                if (lidar != null && Due(before, now, ScanPeriod))
                {
                    _connection.Send(robot + "/unity/scan", Messages.LaserScan(now, robot, lidar, _world.Scan(robot)));
                }
            }
            _connection.Send("/clock", Messages.Clock(now));
            _connection.Flush();
        }

        /// <summary>Whether a multiple of a period, s, lies after one time, ns, and not after another.</summary>
        public static bool Due(long before, long now, double period)
        {
            long length = (long)Math.Round(period * 1e9), late = 1000; // 1 us: sums of steps are rounded
            return (now + late) / length > (before + late) / length;
        }

        /// <summary>Queues a message for any topic; <see cref="Handle"/> or <see cref="Step"/> sends it.</summary>
        public void Publish(string topic, string type, byte[] message)
        {
            Announce("__publish", topic, type);
            _connection.Send(topic, message);
        }

        void Handle(Frame frame)
        {
            Func<byte[], string> service;
            if (_asked != "")
            {
                string answer = _services.TryGetValue(frame.Destination, out service) ? Serve(service, frame) : "no such service";
                _connection.Send("__response", Encoding.UTF8.GetBytes("{\"srv_id\": " + _asked + "}"));
                _connection.Send(frame.Destination, Messages.Answer(answer));
                _asked = "";
            }
            else if (frame.Destination == "__request")
            {
                _asked = Regex.Match(Encoding.UTF8.GetString(frame.Payload), "\"srv_id\"\\s*:\\s*(\\d+)").Groups[1].Value;
            }
            else if (frame.Destination == "__error" || frame.Destination == "__warn")
            {
                _log("the endpoint says: " + Encoding.UTF8.GetString(frame.Payload));
            }
            else if (frame.Destination == "unity/pedestrians")
            {
                _world.Show(Person.Read(frame.Payload));
            }
            else if (frame.Destination.EndsWith("/unity/cmd_vel", StringComparison.Ordinal))
            {
                Drive(frame.Destination.Substring(0, frame.Destination.IndexOf('/')), new Reader(frame.Payload).Twist());
            }
        }

        static string Serve(Func<byte[], string> service, Frame frame)
        {
            try
            {
                return service(frame.Payload);
            }
            catch (Exception error) when (error is FormatException || error is EndOfStreamException)
            {
                return error.Message;
            }
        }

        void Drive(string robot, Twist twist)
        {
            if (_world.Robots.Contains(robot) && twist.IsFinite)
            {
                _world.Drive(robot, twist);
            }
        }

        string Spawn(byte[] payload)
        {
            SpawnRequest request = new SpawnRequest(payload);
            if (_world.Has(request.Name))
            {
                return request.Name + " already exists";
            }
            Model model = ModelReader.Read(request.Xml);
            _world.Spawn(request.Name, model, request.Pose);
            if (model.IsRobot)
            {
                Announce("__publish", request.Name + "/unity/odom", "nav_msgs/Odometry");
                Announce("__publish", request.Name + "/unity/scan", "sensor_msgs/LaserScan");
                Announce("__subscribe", request.Name + "/unity/cmd_vel", "geometry_msgs/Twist");
            }
            return "";
        }

        string Delete(byte[] payload)
        {
            string name = new Reader(payload).Text();
            if (!_world.Has(name))
            {
                return "there is no " + name;
            }
            _world.Delete(name);
            return "";
        }

        string Place(byte[] payload)
        {
            PlaceRequest request = new PlaceRequest(payload);
            if (!_world.Has(request.Name))
            {
                return "there is no " + request.Name;
            }
            _world.Place(request.Name, request.Pose);
            return "";
        }

        string Pause(bool paused)
        {
            Paused = paused;
            return "";
        }

        /// <summary>Registers a topic only once, because a publisher that is created again loses its subscribers for a moment.</summary>
        void Announce(string command, string topic, string type)
        {
            if (_announced.Add(topic))
            {
                Command(command, topic, type);
            }
        }

        void Command(string command, string topic, string type)
        {
            string values = "{\"topic\": \"" + topic + "\", \"message_name\": \"" + type + "\"";
            values += command == "__publish" ? ", \"queue_size\": 10, \"latch\": false}" : "}";
            _connection.Send(command, Encoding.UTF8.GetBytes(values));
        }
    }
}
