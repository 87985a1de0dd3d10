using System;

namespace UnityEngine
{
    public static class Application
    {
        public static bool runInBackground { get; set; }
    }

    public static class Time
    {
        public static float unscaledDeltaTime { get; set; }
        public static float realtimeSinceStartup { get; set; }
    }

    public static class Debug
    {
        public static void Log(object message) { Console.WriteLine(message); }
        public static void LogWarning(object message) { Console.WriteLine(message); }
    }

    public static class GUI
    {
        public static void Label(Rect where, string text) { }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class AddComponentMenu : Attribute
    {
        public AddComponentMenu(string name) { }
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class TooltipAttribute : Attribute
    {
        public TooltipAttribute(string text) { }
    }

    public enum TextureFormat { RGB24 = 3 }

    public class Texture : Object { }

    public class RenderTexture : Texture
    {
        public RenderTexture(int width, int height, int depth) { }
        public static RenderTexture active { get; set; }
    }

    /// <summary>A picture whose pixels have the number of their row, the lowest first.</summary>
    public class Texture2D : Texture
    {
        readonly int _width, _height;

        public Texture2D(int width, int height, TextureFormat format, bool mipChain)
        {
            _width = width;
            _height = height;
        }

        public void ReadPixels(Rect source, int x, int y) { }

        public byte[] GetRawTextureData()
        {
            byte[] pixels = new byte[3 * _width * _height];
            for (int i = 0; i < pixels.Length; i++)
            {
                pixels[i] = (byte)(i / (3 * _width));
            }
            return pixels;
        }
    }

    public class Camera : Behaviour
    {
        public float nearClipPlane { get; set; }
        public float fieldOfView { get; set; }
        public RenderTexture targetTexture { get; set; }
        public void Render() { }
    }
}
