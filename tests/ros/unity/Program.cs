// The player of Unity without Unity: the same sources on the small engine beside this file.
//   mono player.exe -agora HOST:PORT [-scale S] [-camera]   plays
//   mono player.exe -write                                   writes one message of each type that the player sends
//   mono player.exe -read                                    says what it reads of the messages on its input
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Threading;
using Agora.Core;
using Agora.Scene;
using UnityEngine;
using Pose = Agora.Core.Pose;

static class Program
{
    static void Main(string[] words)
    {
        CultureInfo.CurrentCulture = new CultureInfo("de-DE"); // numbers with commas: no text may depend on it
        if (words[0] == "-write")
        {
            Write();
        }
        else if (words[0] == "-read")
        {
            Read();
        }
        else
        {
            Play(words);
        }
    }

    static void Play(string[] words)
    {
        AgoraPlayer player = new GameObject("Agora").AddComponent<AgoraPlayer>();
        int scale = Array.IndexOf(words, "-scale");
        player.TimeScale = scale < 0 ? 1 : float.Parse(words[scale + 1], CultureInfo.InvariantCulture);
        player.Camera.On = Array.IndexOf(words, "-camera") >= 0;
        MethodInfo update = typeof(AgoraPlayer).GetMethod("Update", BindingFlags.Instance | BindingFlags.NonPublic);
        Action tick = (Action)Delegate.CreateDelegate(typeof(Action), player, update);
        Stopwatch watch = Stopwatch.StartNew();
        while (true)
        {
            float now = (float)watch.Elapsed.TotalSeconds;
            UnityEngine.Time.unscaledDeltaTime = now - UnityEngine.Time.realtimeSinceStartup;
            UnityEngine.Time.realtimeSinceStartup = now;
            tick();
            Thread.Sleep(8);
        }
    }

    static void Write()
    {
        const long stamp = 12345678901234;
        Lidar lidar = new Lidar { Lowest = -1.5, Step = 0.25, Beams = 3, Range = 3.5 };
        float[] ranges = { 0.5f, float.PositiveInfinity, 3.25f };
        Tell("rosgraph_msgs/Clock", Messages.Clock(stamp));
        Tell("nav_msgs/Odometry", Messages.Odometry(stamp, "bot", new Pose(1.5, -2.25, 2.5), new Twist(0.5, -0.125, 0.75)));
        Tell("sensor_msgs/LaserScan", Messages.LaserScan(stamp, "bot", lidar, ranges));
        Tell("sensor_msgs/Image", Messages.Image(stamp, "bot/camera", 2, 1, "rgb8", new byte[] { 1, 2, 3, 4, 5, 6 }));
        Tell("sensor_msgs/CameraInfo", Messages.CameraInfo(stamp, "bot/camera", 160, 120, 114.5));
        Tell("gazebo_msgs/SpawnModelResponse", Messages.Answer("bot already exists: é"));
        Tell("gazebo_msgs/DeleteModelResponse", Messages.Answer(""));
        Tell("gazebo_msgs/SetModelStateResponse", Messages.Answer("there is no bot"));
        Tell("std_srvs/TriggerResponse", Messages.Answer(""));
    }

    static void Tell(string type, byte[] message)
    {
        Console.WriteLine(type + " " + BitConverter.ToString(message).Replace("-", ""));
    }

    static void Read()
    {
        for (string line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            string[] words = line.Split(' ');
            byte[] message = new byte[words[1].Length / 2];
            for (int i = 0; i < message.Length; i++)
            {
                message[i] = Convert.ToByte(words[1].Substring(2 * i, 2), 16);
            }
            try
            {
                Console.WriteLine(string.Join(" ", Said(words[0], message)));
            }
            catch (System.IO.EndOfStreamException error)
            {
                Console.WriteLine("refused: " + error.Message);
            }
        }
    }

    static IEnumerable<string> Said(string type, byte[] message)
    {
        switch (type)
        {
            case "gazebo_msgs/SpawnModelRequest":
                SpawnRequest spawn = new SpawnRequest(message);
                return new[] { spawn.Name, spawn.Xml, Say(spawn.Pose) };
            case "gazebo_msgs/SetModelStateRequest":
                PlaceRequest place = new PlaceRequest(message);
                return new[] { place.Name, Say(place.Pose) };
            case "gazebo_msgs/DeleteModelRequest":
                return new[] { new Reader(message).Text() };
            case "geometry_msgs/Twist":
                Twist twist = new Reader(message).Twist();
                return new[] { Say(new Pose(twist.Vx, twist.Vy, twist.Omega)) };
            default:
                return Person.Read(message).ConvertAll(one => one.Id + " " + Say(one.Pose) + " " + Say(one.Radius));
        }
    }

    static string Say(Pose pose)
    {
        return Say(pose.X) + " " + Say(pose.Y) + " " + Say(pose.Heading);
    }

    static string Say(double number)
    {
        return number.ToString("R", CultureInfo.InvariantCulture);
    }
}
