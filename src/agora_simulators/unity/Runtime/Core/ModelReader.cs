using System;
using System.Collections.Generic;
using System.Globalization;
using System.Xml;

namespace Agora.Core
{
    /// <summary>Reads the models that Agora sends: URDF for robots, SDF for walls and furniture; every link is at the model's origin.</summary>
    public static class ModelReader
    {
        static readonly char[] Gaps = { ' ', '\t', '\r', '\n' };

        /// <exception cref="FormatException">The text is not such a model.</exception>
        public static Model Read(string text)
        {
            XmlDocument document = new XmlDocument { XmlResolver = null };
            try
            {
                document.LoadXml(text);
            }
            catch (XmlException error)
            {
                throw new FormatException("the model is not valid XML: " + error.Message);
            }
            XmlElement root = document.DocumentElement;
            if (root.Name == "robot")
            {
                return Robot(root);
            }
            if (root.Name == "sdf")
            {
                return Standing(root);
            }
            throw new FormatException("the model begins with <" + root.Name + ">, expected <robot> or <sdf>");
        }

        static Model Robot(XmlElement root)
        {
            Model model = new Model { IsRobot = true };
            foreach (XmlElement link in root.SelectNodes("link[visual or collision]"))
            {
                string name = link.GetAttribute("name");
                XmlElement joint = null;
                foreach (XmlElement each in root.SelectNodes("joint"))
                {
                    XmlElement child = each.SelectSingleNode("child") as XmlElement;
                    joint = child != null && child.GetAttribute("link") == name ? each : joint;
                }
                RefuseOffset(joint == null ? new double[6] : Origin(joint), "the link " + name);
                foreach (XmlElement holder in link.SelectNodes("visual | collision"))
                {
                    double[] origin = Origin(holder);
                    Part part = Placed(holder, origin);
                    XmlElement shape = Only(holder, "geometry/*");
                    if (shape.Name == "box")
                    {
                        part.Box = Numbers(shape.GetAttribute("size"), 3);
                    }
                    else if (shape.Name == "cylinder")
                    {
                        Upright(part, Number(shape.GetAttribute("radius")), Number(shape.GetAttribute("length")));
                    }
                    else
                    {
                        throw new FormatException("a robot has a shape <" + shape.Name + ">; only boxes and cylinders are supported");
                    }
                    part.Colour = Colour(holder.SelectSingleNode("material/color/@rgba"));
                    model.Parts.Add(part);
                }
                XmlNode mass = link.SelectSingleNode("inertial/mass/@value");
                model.Mass += mass == null ? 0 : Number(mass.Value);
            }
            XmlElement lidar = root.SelectSingleNode("agora_lidar") as XmlElement;
            model.Lidar = lidar == null ? null : ReadLidar(lidar);
            return model;
        }

        static Lidar ReadLidar(XmlElement element)
        {
            Func<string, double> read = name => Number(element.GetAttribute(name));
            return new Lidar
            {
                X = read("x"), Y = read("y"), Z = read("z"), Heading = read("heading"),
                Lowest = read("lowest"), Step = read("step"), Range = read("range"), Beams = (int)read("beams"),
            };
        }

        static Model Standing(XmlElement root)
        {
            Model model = new Model();
            foreach (XmlElement of in root.SelectNodes("//model | //link"))
            {
                XmlElement pose = of.SelectSingleNode("pose") as XmlElement;
                RefuseOffset(pose == null ? new double[6] : Numbers(pose.InnerText, 6), of.Name + " " + of.GetAttribute("name"));
            }
            foreach (XmlElement holder in root.SelectNodes("model/link/visual | model/link/collision"))
            {
                XmlElement pose = holder.SelectSingleNode("pose") as XmlElement;
                Part part = Placed(holder, pose == null ? new double[6] : Numbers(pose.InnerText, 6));
                Shape(part, Only(holder, "geometry/*"));
                part.Colour = Colour(holder.SelectSingleNode("material/diffuse"));
                model.Parts.Add(part);
            }
            return model;
        }

        static void Shape(Part part, XmlElement shape)
        {
            if (shape.Name == "box")
            {
                part.Box = Numbers(Only(shape, "size").InnerText, 3);
            }
            else if (shape.Name == "cylinder")
            {
                Upright(part, Number(Only(shape, "radius").InnerText), Number(Only(shape, "length").InnerText));
            }
            else if (shape.Name == "polyline")
            {
                part.Outline = new List<double[]>();
                foreach (XmlElement point in shape.SelectNodes("point"))
                {
                    part.Outline.Add(Numbers(point.InnerText, 2));
                }
                if (part.Outline.Count < 3)
                {
                    throw new FormatException("a polyline has " + part.Outline.Count + " points, expected at least 3");
                }
                if (Outlines.TwiceArea(part.Outline) < 0)
                {
                    part.Outline.Reverse();
                }
                part.Top = Number(Only(shape, "height").InnerText);
            }
            else
            {
                throw new FormatException("a model has a shape <" + shape.Name + ">; only boxes, cylinders and polylines are supported");
            }
        }

        static void Upright(Part part, double radius, double length)
        {
            part.Outline = Outlines.Circle(radius);
            part.Convex = true;
            part.Bottom = -length / 2;
            part.Top = length / 2;
        }

        static Part Placed(XmlElement holder, double[] pose)
        {
            return new Part
            {
                Solid = holder.Name == "collision",
                Position = new[] { pose[0], pose[1], pose[2] },
                Turn = new[] { pose[3], pose[4], pose[5] },
            };
        }

        static void RefuseOffset(double[] pose, string whose)
        {
            if (Array.Exists(pose, value => value != 0))
            {
                throw new FormatException(whose + " has a pose of its own; parts must be placed in the model's frame");
            }
        }

        /// <summary>The origin of a link, joint, visual or collision of URDF: x, y, z, roll, pitch, yaw.</summary>
        static double[] Origin(XmlElement holder)
        {
            double[] pose = new double[6];
            XmlElement origin = holder.SelectSingleNode("origin") as XmlElement;
            if (origin != null)
            {
                Copy(origin, "xyz", pose, 0);
                Copy(origin, "rpy", pose, 3);
            }
            return pose;
        }

        static void Copy(XmlElement origin, string name, double[] pose, int at)
        {
            if (origin.HasAttribute(name))
            {
                Numbers(origin.GetAttribute(name), 3).CopyTo(pose, at);
            }
        }

        static double[] Colour(XmlNode node)
        {
            return node == null ? null : Numbers(node is XmlAttribute ? node.Value : node.InnerText, 4);
        }

        static XmlElement Only(XmlElement of, string path)
        {
            XmlElement found = of.SelectSingleNode(path) as XmlElement;
            if (found == null)
            {
                throw new FormatException("<" + of.Name + "> has no " + path);
            }
            return found;
        }

        static double Number(string text)
        {
            return Numbers(text, 1)[0];
        }

        static double[] Numbers(string text, int count)
        {
            string[] words = text.Split(Gaps, StringSplitOptions.RemoveEmptyEntries);
            if (words.Length != count)
            {
                throw new FormatException("expected " + count + " numbers, got '" + text + "'");
            }
            return Array.ConvertAll(words, word => double.Parse(word, NumberStyles.Float, CultureInfo.InvariantCulture));
        }
    }
}
