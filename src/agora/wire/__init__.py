"""Episodes, recordings and snapshots of a world as plain data, and plain data as bytes, shared by sockets, web pages and ROS nodes.

Plain data are dicts, lists, texts, numbers and NumPy arrays (`agora.wire.plain`). Bytes are a message of safetensors: a header of
JSON and raw little-endian arrays, with the name and version of its format (`agora.wire.message`). Nothing is ever unpickled. Other
protocols are also here:  SocNavBench's texts (`agora.wire.joystick`) over its sockets (`agora.wire.mailbox`).
"""
