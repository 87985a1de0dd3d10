"""Policy networks, one per file. Each network is evaluated with NumPy in a fixed order, and can be exported as an ONNX graph."""
