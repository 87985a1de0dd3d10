"""What Agora's nodes share: conversions between messages and the library's objects, names, waiting for services."""
