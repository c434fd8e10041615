# SPDX-License-Identifier: BSD-3-Clause
"""The models that tests, demo and benchmark convert: seeded, never downloaded, with live activations."""
