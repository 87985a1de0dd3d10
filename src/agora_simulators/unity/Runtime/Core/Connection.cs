using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Text;
using System.Threading;

namespace Agora.Core
{
    /// <summary>A destination and a payload: a ROS 1 message, or JSON if the destination begins with two underscores.</summary>
    public struct Frame
    {
        public readonly string Destination;
        public readonly byte[] Payload;

        public Frame(string destination, byte[] payload)
        {
            Destination = destination;
            Payload = payload;
        }
    }

    /// <summary>
    /// A connection to ROS-TCP-Endpoint 0.7. Every frame consists of a length, the destination, a length and the payload. The
    /// connection's own thread reads; a single other thread takes and sends frames.
    /// </summary>
    public sealed class Connection : IDisposable
    {
        const int Patience = 5000; // ms
        const int Largest = 1 << 28; // bytes: a higher length violates the protocol

        readonly TcpClient _client;
        readonly NetworkStream _stream;
        readonly ConcurrentQueue<Frame> _frames = new ConcurrentQueue<Frame>();
        readonly MemoryStream _unsent = new MemoryStream();
        volatile string _lost = "";

        /// <summary>Connects, and reads the endpoint's greeting.</summary>
        /// <exception cref="IOException">No program is listening at the address, or it is not a ROS 1 endpoint.</exception>
        public Connection(string host, int port)
        {
            string there = host + ":" + port;
            _client = new TcpClient { NoDelay = true, SendTimeout = Patience, ReceiveTimeout = Patience };
            try
            {
                if (!_client.ConnectAsync(host, port).Wait(Patience))
                {
                    throw new IOException("nothing answers at " + there);
                }
                _stream = _client.GetStream();
                Greet(there);
            }
            catch (Exception error)
            {
                _client.Close();
                Exception cause = error is AggregateException ? error.InnerException : error;
                throw cause as IOException ?? new IOException("cannot connect to " + there + ": " + cause.Message);
            }
            _client.ReceiveTimeout = 0;
            new Thread(Listen) { IsBackground = true, Name = "Agora" }.Start();
        }

        /// <summary>The reason why the connection was lost; empty while it exists.</summary>
        public string Lost
        {
            get { return _lost; }
        }

        /// <summary>Takes the next frame that has arrived.</summary>
        /// <returns>False if there is none.</returns>
        public bool Take(out Frame frame)
        {
            return _frames.TryDequeue(out frame);
        }

        /// <summary>Adds a frame to the frames that <see cref="Flush"/> sends.</summary>
        public void Send(string destination, byte[] payload)
        {
            Writer frame = new Writer().Text(destination).Raw(payload);
            byte[] bytes = frame.Bytes();
            _unsent.Write(bytes, 0, bytes.Length);
        }

        /// <summary>Sends all frames at once; if the endpoint does not read them, waits for at most a few seconds.</summary>
        public void Flush()
        {
            if (_unsent.Length == 0)
            {
                return;
            }
            try
            {
                _stream.Write(_unsent.GetBuffer(), 0, (int)_unsent.Length);
            }
            catch (Exception error) when (error is IOException || error is ObjectDisposedException)
            {
                Lose("the endpoint does not accept data: " + error.Message);
            }
            _unsent.SetLength(0);
        }

        public void Dispose()
        {
            Lose("closed");
            _client.Close();
        }

        void Greet(string there)
        {
            Frame greeting;
            try
            {
                greeting = Read();
            }
            catch (IOException error)
            {
                throw new IOException("the server at " + there + " does not send the handshake of ROS-TCP-Endpoint: " + error.Message);
            }
            if (greeting.Destination != "__handshake")
            {
                throw new IOException("the server at " + there + " is not ROS-TCP-Endpoint 0.7");
            }
            if (Encoding.UTF8.GetString(greeting.Payload).Contains("ROS2"))
            {
                throw new IOException("the endpoint at " + there + " is for ROS 2; Agora requires ROS-TCP-Endpoint 0.7.0 for ROS 1");
            }
        }

        void Listen()
        {
            try
            {
                while (_lost == "")
                {
                    _frames.Enqueue(Read());
                }
            }
            catch (Exception error) when (error is IOException || error is ObjectDisposedException)
            {
                Lose("the endpoint disconnected: " + error.Message);
            }
        }

        void Lose(string reason)
        {
            if (_lost == "")
            {
                _lost = reason;
            }
        }

        Frame Read()
        {
            string destination = Encoding.UTF8.GetString(Exactly(Length())).TrimEnd('\0');
            return new Frame(destination, Exactly(Length()));
        }

        int Length()
        {
            uint length = new Reader(Exactly(4)).UInt();
            if (length > Largest)
            {
                throw new IOException("received a frame with the invalid length " + length + " bytes");
            }
            return (int)length;
        }

        byte[] Exactly(int size)
        {
            byte[] data = new byte[size];
            for (int have = 0; have < size;)
            {
                int read = _stream.Read(data, have, size - have);
                if (read == 0)
                {
                    throw new IOException("the endpoint closed the connection");
                }
                have += read;
            }
            return data;
        }
    }
}
