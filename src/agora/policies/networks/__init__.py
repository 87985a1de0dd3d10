"""Networks of policies, evaluated with NumPy in a fixed order, and as ONNX graphs; one network per file."""
