using System.Collections.Generic;

namespace Agora.Core
{
    /// <summary>The interface of the world in which the player runs episodes; frames are ROS's.</summary>
    public interface IWorld
    {
        bool Has(string name);

        void Spawn(string name, Model model, Pose pose);

        void Delete(string name);

        /// <summary>Moves a model; a robot is at rest at its new pose.</summary>
        void Place(string name, Pose pose);

        /// <summary>Sets the twist of a robot until the next call.</summary>
        void Drive(string robot, Twist twist);

        /// <summary>Shows all pedestrians who are present, and removes all others.</summary>
        void Show(List<Person> people);

        /// <summary>Advances the world by a time, s.</summary>
        void Step(double seconds);

        /// <summary>Removes all models and pedestrians.</summary>
        void Clear();

        /// <summary>The names of the robots.</summary>
        ICollection<string> Robots { get; }

        Pose PoseOf(string robot);

        Twist TwistOf(string robot);

        /// <summary>The lidar of a robot; null if it has none.</summary>
        Lidar LidarOf(string robot);

        /// <summary>The ranges of a robot's lidar, m; infinite for beams with nothing in range.</summary>
        float[] Scan(string robot);
    }
}
