using System.Collections.Generic;
using UnityEngine;

namespace Agora.Scene
{
    /// <summary>
    /// Logs to the console which objects a robot touches. Outcomes do not depend on this: Agora determines contacts from positions.
    /// </summary>
    public sealed class Contacts : MonoBehaviour
    {
        readonly Dictionary<string, int> _touching = new Dictionary<string, int>(); // pairs of colliders, by the other's name

        void OnCollisionEnter(Collision collision)
        {
            Begin(collision.collider);
        }

        void OnCollisionExit(Collision collision)
        {
            End(collision.collider);
        }

        void OnTriggerEnter(Collider other)
        {
            Begin(other);
        }

        void OnTriggerExit(Collider other)
        {
            End(other);
        }

        void Begin(Collider other)
        {
            string what = other.transform.root.name;
            if (what == UnityWorld.Floor)
            {
                return;
            }
            int count;
            _touching.TryGetValue(what, out count);
            _touching[what] = count + 1;
            if (count == 0)
            {
                Debug.Log("Agora: " + name + " touches " + what);
            }
        }

        void End(Collider other)
        {
            int count;
            if (_touching.TryGetValue(other.transform.root.name, out count))
            {
                _touching[other.transform.root.name] = Mathf.Max(0, count - 1);
            }
        }
    }
}
