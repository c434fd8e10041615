# SPDX-License-Identifier: BSD-3-Clause
"""Helpers for the tests of pages: the parts of a page, its data, and its layout in a browser."""

import html.parser
import json
import pathlib


class Page(html.parser.HTMLParser):
    """Collects the elements of a page and the texts of its scripts."""

    def __init__(self, text: str):
        super().__init__()
        self.text = text
        self.tags = []
        self.addresses = []  # of what a browser would load
        self.scripts = []  # (type, text)
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        values = dict(attributes)
        self.addresses += [values[name] for name in ("src", "href", "srcset", "data", "action") if name in values]
        if tag == "script":
            self.scripts.append((values.get("type", ""), ""))

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script" and self.scripts:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)

    @property
    def report(self) -> dict:
        texts = [text for kind, text in self.scripts if kind == "application/json"]
        assert len(texts) == 1, f"{len(texts)} reports"
        return json.loads(texts[0])


def read_page(path: pathlib.Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))
