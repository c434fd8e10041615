"""The models that tests, demo and benchmark convert: seeded, never downloaded, with live activations."""
