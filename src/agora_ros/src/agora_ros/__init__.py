"""The common part of Agora's nodes: conversions between messages and the library's objects, names, waiting for services."""
