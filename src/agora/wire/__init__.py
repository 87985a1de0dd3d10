"""Episodes, recordings and snapshots of a world as plain data, and plain data as bytes, shared by sockets, web pages and ROS nodes.

Plain data consists of dicts, lists, strings, numbers and NumPy arrays (`agora.wire.plain`). As bytes, it is a safetensors message:
a JSON header and raw little-endian arrays, with the name and version of its format (`agora.wire.message`). Nothing is ever
unpickled. This package also contains another protocol: SocNavBench's messages (`agora.wire.joystick`), sent over SocNavBench's
sockets (`agora.wire.mailbox`).
"""
