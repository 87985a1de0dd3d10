using System.Collections.Generic;

namespace Agora.Core
{
    /// <summary>What the player needs of the world that it plays in; frames are ROS's.</summary>
    public interface IWorld
    {
        bool Has(string name);

        void Spawn(string name, Model model, Pose pose);

        void Delete(string name);

        /// <summary>Puts a model somewhere else; a robot stands there.</summary>
        void Place(string name, Pose pose);

        /// <summary>The twist of a robot until the next.</summary>
        void Drive(string robot, Twist twist);

        /// <summary>Shows everybody who is present, and takes away everybody else.</summary>
        void Show(List<Person> people);

        /// <summary>Lets a time pass, s.</summary>
        void Step(double seconds);

        /// <summary>Takes everything away.</summary>
        void Clear();

        /// <summary>The names of the robots.</summary>
        ICollection<string> Robots { get; }

        Pose PoseOf(string robot);

        Twist TwistOf(string robot);

        /// <summary>The lidar of a robot; null for none.</summary>
        Lidar LidarOf(string robot);

        /// <summary>The ranges of a robot's lidar, m; infinite where nothing is in range.</summary>
        float[] Scan(string robot);
    }
}
