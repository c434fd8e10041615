# SPDX-License-Identifier: BSD-3-Clause
"""Enums that scripts of sound_files_test.py hold."""

import enum


class Way(enum.Enum):
    PLAIN = 1
    TURNED = 2


class Text(enum.Enum):
    FIRST = "a"
    LAST = "b"
