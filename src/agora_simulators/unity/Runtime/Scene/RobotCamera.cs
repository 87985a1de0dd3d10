using System;
using Agora.Core;
using UnityEngine;

namespace Agora.Scene
{
    /// <summary>The settings of every robot's RGB-D camera, which looks forward from a position on the base, m.</summary>
    [Serializable]
    public sealed class CameraSettings
    {
        public bool On;
        public int Width = 160;
        public int Height = 120;

        [Tooltip("Horizontal field of view, degrees")]
        public float FieldOfView = 70;

        [Tooltip("Images per simulated second")]
        public float Rate = 10;

        [Tooltip("Maximum depth, m")]
        public float Range = 10;

        [Tooltip("Distance in front of the centre of the base, m")]
        public float Forward = 0.1f;

        [Tooltip("Height above the floor, m")]
        public float Up = 0.5f;
    }

    /// <summary>
    /// Publishes the images of a robot's camera under its topic rgbd. Colours are rendered; depths are measured with one ray per
    /// pixel on the solids, so that they are the same in every render pipeline.
    /// </summary>
    public sealed class RobotCamera : MonoBehaviour
    {
        CameraSettings _settings;
        Camera _camera;
        RenderTexture _target;
        Texture2D _picture;
        double _focal; // px

        /// <summary>Sets up the camera; called once.</summary>
        public void Prepare(CameraSettings settings)
        {
            _settings = settings;
            _focal = settings.Width / 2.0 / Math.Tan(settings.FieldOfView * Math.PI / 360);
            GameObject eye = new GameObject("camera");
            eye.transform.SetParent(transform, false);
            eye.transform.localPosition = Frames.Point(settings.Forward, 0, settings.Up);
            _camera = eye.AddComponent<Camera>();
            _camera.enabled = false; // renders only on request
            _camera.nearClipPlane = 0.02f;
            _camera.fieldOfView = (float)(Math.Atan(settings.Height / 2.0 / _focal) * 360 / Math.PI); // Unity's field of view is the vertical one
            _target = new RenderTexture(settings.Width, settings.Height, 24);
            _picture = new Texture2D(settings.Width, settings.Height, TextureFormat.RGB24, false);
            _camera.targetTexture = _target;
        }

        /// <summary>Publishes an image if one is due.</summary>
        public void Look(Player player, long before)
        {
            if (!Player.Due(before, player.Now, 1.0 / _settings.Rate))
            {
                return;
            }
            string frame = name + "/camera_optical", topic = name + "/rgbd/";
            int width = _settings.Width, height = _settings.Height;
            player.Publish(topic + "color/image_raw", "sensor_msgs/Image", Messages.Image(player.Now, frame, width, height, "rgb8", Colours()));
            player.Publish(topic + "depth/image_raw", "sensor_msgs/Image", Messages.Image(player.Now, frame, width, height, "32FC1", Depths()));
            player.Publish(topic + "color/camera_info", "sensor_msgs/CameraInfo", Messages.CameraInfo(player.Now, frame, width, height, _focal));
        }

        /// <summary>Red, green and blue of every pixel, rows from the top.</summary>
        byte[] Colours()
        {
            _camera.Render();
            RenderTexture active = RenderTexture.active;
            RenderTexture.active = _target;
            _picture.ReadPixels(new Rect(0, 0, _settings.Width, _settings.Height), 0, 0);
            RenderTexture.active = active;
            byte[] upwards = _picture.GetRawTextureData(), pixels = new byte[3 * _settings.Width * _settings.Height];
            int row = 3 * _settings.Width;
            for (int v = 0; v < _settings.Height; v++)
            {
                Array.Copy(upwards, (_settings.Height - 1 - v) * row, pixels, v * row, row); // Unity's first row is the lowest
            }
            return pixels;
        }

        /// <summary>Distance along the optical axis of every pixel, m, rows from the top; infinite where nothing is in range.</summary>
        byte[] Depths()
        {
            Physics.SyncTransforms();
            Transform eye = _camera.transform;
            float[] depths = new float[_settings.Width * _settings.Height];
            for (int v = 0; v < _settings.Height; v++)
            {
                for (int u = 0; u < _settings.Width; u++)
                {
                    double right = (u + 0.5 - _settings.Width / 2.0) / _focal, down = (v + 0.5 - _settings.Height / 2.0) / _focal;
                    float length = (float)Math.Sqrt(1 + right * right + down * down);
                    Vector3 ray = eye.rotation * (new Vector3((float)right, (float)-down, 1) / length);
                    depths[v * _settings.Width + u] = Rays.Distance(eye.position, ray, _settings.Range * length, transform) / length;
                }
            }
            byte[] bytes = new byte[4 * depths.Length];
            Buffer.BlockCopy(depths, 0, bytes, 0, bytes.Length);
            return bytes;
        }

        void OnDestroy()
        {
            Destroy(_target);
            Destroy(_picture);
        }
    }
}
