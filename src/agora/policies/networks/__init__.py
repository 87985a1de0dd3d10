"""Networks of policies, one per file; each is evaluated with NumPy in a fixed order, and can be exported as an ONNX graph."""
