"""Code shared by Agora's nodes: conversions between messages and the library's objects, names, and waiting for services."""
