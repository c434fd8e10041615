# SPDX-License-Identifier: BSD-3-Clause
"""Places of C++ sources where one token can be changed, for scripts/checks/mutate.py. Sources are read as text: comments, strings
and preprocessor lines are blanked first, and only bodies of functions count. A place whose change doesn't compile is
found by the compiler, not here."""

import dataclasses
import pathlib
import re
from typing import Iterator, List, Tuple

OPPOSITES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+"}

# The operators that end an operand of each kind of operator, besides the punctuation of kEnds.
ENDS = {"(", ")", "[", "]", "{", "}", ",", ";", "?", ":", "return", "="}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
LOGIC = {"&&", "||"}
SUMS = {"+", "-"}

TOKEN = re.compile(r"(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.']*)"
                   r"|(?P<mark>->\*?|::|<<=|>>=|<=|>=|==|!=|&&|\|\||<<|>>|[-+*/%&|^]=|\+\+|--|[^\s\w])")
BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<fence>[^(]*)\(.*?\)(?P=fence)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
SKIPPED_LINES = re.compile(r"\b(?:constexpr|static_assert|template|case|default|typename|operator|assert)\b")
STATEMENT = re.compile(r"^(?P<space> +)(?P<text>(?:[A-Za-z_][\w.:]*(?:->[\w.]+)*\([^;{}]*\)|break|continue|return));$", re.MULTILINE)
CONDITION = re.compile(r"\b(?:if|while) \(")


@dataclasses.dataclass(frozen=True)
class Place:
    file: str  # from the project's root
    start: int  # of the text that is replaced
    end: int
    line: int  # from 1
    kind: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {' '.join(self.before.split())} -> {' '.join(self.after.split())}"

    def switched(self, number: int) -> str:
        """The text that runs as `before`, or as `after` while the change `number` is on."""
        on = f"mutation::is_on({number})"
        if self.kind == "statement":
            return f"if (!{on}) {self.before}"
        if self.kind == "condition":
            return f"{on} != static_cast<bool>({self.before})"
        return f"({on} ? ({self.after}) : ({self.before}))"


def blank(text: str) -> str:
    """The text with comments, strings and directives as spaces, and the same line ends."""
    def spaces(match: "re.Match[str]") -> str:
        return re.sub(r"[^\n]", " ", match.group())

    def quoted(match: "re.Match[str]") -> str:
        return spaces(match) if match.group().startswith(("//", "/*")) else '"' + spaces(match)[1:-1] + '"'

    return DIRECTIVE.sub(spaces, BLANKED.sub(quoted, text))


@dataclasses.dataclass
class Token:
    text: str
    start: int
    end: int
    is_in_function: bool


def tokens_of(code: str) -> List[Token]:
    result: List[Token] = []
    braces: List[bool] = []  # whether each open brace is in a function
    parentheses = 0
    for match in TOKEN.finditer(code):
        text = match.group()
        if text == "{":
            inside = bool(braces and braces[-1]) or opens_function(result)
            braces.append(inside)
        elif text == "}" and braces:
            braces.pop()
        elif text == "(":
            parentheses += 1
        elif text == ")":
            parentheses -= 1
        result.append(Token(text, match.start(), match.end(), bool(braces and braces[-1])))
    return result


def opens_function(before: List[Token]) -> bool:
    for token in reversed(before[-8:]):
        if token.text == ")":
            return True
        if token.text not in {"const", "noexcept", "override", "mutable"} and not re.match(r"[\w:<>*&]+$", token.text):
            return False
        if token.text in {"namespace", "struct", "class", "enum", "union", "="}:
            return False
    return False


OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {value: key for key, value in OPENING.items()}


def operand_before(tokens: List[Token], at: int, ends: set) -> int:
    """The first token of the operand that ends before `at`, or -1."""
    depth, index = 0, at - 1
    while index >= 0:
        text = tokens[index].text
        if text in CLOSING:
            depth += 1
        elif text in OPENING:
            if depth == 0:
                return index + 1
            depth -= 1
        elif depth == 0 and text in ends:
            return index + 1
        index -= 1
    return -1


def operand_after(tokens: List[Token], at: int, ends: set) -> int:
    """The last token of the operand that begins after `at`, or -1."""
    depth, index = 0, at + 1
    while index < len(tokens):
        text = tokens[index].text
        if text in OPENING:
            depth += 1
        elif text in CLOSING:
            if depth == 0:
                return index - 1
            depth -= 1
        elif depth == 0 and text in ends:
            return index - 1
        index += 1
    return -1


def is_spaced(code: str, token: Token) -> bool:
    return code[token.start - 1] in " \n" and code[token.end] in " \n"


def operator_places(file: str, text: str, code: str, tokens: List[Token]) -> Iterator[Place]:
    for index, token in enumerate(tokens):
        if not token.is_in_function or token.text not in OPPOSITES or not is_spaced(code, token):
            continue
        if token.text in SUMS:
            ends, before_ends = ENDS | COMPARISONS | LOGIC | SUMS, ENDS | COMPARISONS | LOGIC
            first = operand_before(tokens, index, before_ends | SUMS)
            if first > 0 and tokens[first - 1].text in SUMS:
                continue  # a - b + c: the operand before the sign is the whole of a - b
        elif token.text in COMPARISONS:
            ends = ENDS | COMPARISONS | LOGIC
            first = operand_before(tokens, index, ends)
        else:
            ends = ENDS | LOGIC
            first = operand_before(tokens, index, ends)
            if first > 0 and tokens[first - 1].text in LOGIC:
                continue
        last = operand_after(tokens, index, ends)
        if first < 0 or last <= index or first >= index:
            continue
        whole = [part.text for part in tokens[first:last + 1]]
        if "<<" in whole or ">>" in whole or "const" in whole or "auto" in whole or "delete" in whole or "template" in whole:
            continue
        start, end = tokens[first].start, tokens[last].end
        before = text[start:end]
        if token.text in SUMS and '"' in before:
            continue  # text, which has no difference
        at = token.start - start
        after = before[:at] + OPPOSITES[token.text] + before[at + len(token.text):]
        yield Place(file, start, end, line_of(text, token.start), "operator", before, after)


def number_places(file: str, text: str, tokens: List[Token]) -> Iterator[Place]:
    for index, token in enumerate(tokens[1:-1], 1):
        around = tokens[index - 1].text, tokens[index + 1].text
        if not token.is_in_function or around[0] in {"{", "<", "::"} or around[1] in {">", "'"}:
            continue
        if re.fullmatch(r"\d+", token.text) and int(token.text) < 10000:
            after = str(int(token.text) + 1)
        elif token.text in {"true", "false"} and around[0] in {"(", ",", "return", "="}:
            after = "false" if token.text == "true" else "true"
        else:
            continue
        yield Place(file, token.start, token.end, line_of(text, token.start), "constant", token.text, after)


def statement_places(file: str, text: str, code: str, tokens: List[Token]) -> Iterator[Place]:
    inside = {token.start for token in tokens if token.is_in_function}
    for match in STATEMENT.finditer(code):
        before = code[:match.start()].rstrip()
        if match.start("text") in inside and before.endswith((";", "{", "}")):
            yield Place(file, match.start("text"), match.end(), line_of(text, match.start("text")), "statement",
                        text[match.start("text"):match.end()], "")


def condition_places(file: str, text: str, code: str, tokens: List[Token]) -> Iterator[Place]:
    starts = {token.start: index for index, token in enumerate(tokens)}
    for match in CONDITION.finditer(code):
        opening = starts.get(match.end() - 1)
        if opening is None or not tokens[opening].is_in_function:
            continue
        last = operand_after(tokens, opening, set())
        inner = tokens[opening + 1:last + 1]
        if not inner or any(token.text in {"=", ";"} for token in inner):
            continue
        before = text[inner[0].start:inner[-1].end]
        yield Place(file, inner[0].start, inner[-1].end, line_of(text, inner[0].start), "condition", before, f"!({before})")


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def places_of(root: pathlib.Path, file: str) -> List[Place]:
    text = (root / file).read_text()
    code = blank(text)
    tokens = tokens_of(code)
    lines = code.split("\n")
    found = [*operator_places(file, text, code, tokens), *number_places(file, text, tokens),
             *statement_places(file, text, code, tokens), *condition_places(file, text, code, tokens)]
    return [place for place in found if not SKIPPED_LINES.search(lines[place.line - 1])]


def rewritten(text: str, places: List[Tuple[int, Place]], header: pathlib.Path) -> str:
    """The source with a switch at each of the places, which don't overlap; `header` declares the switch."""
    for number, place in sorted(places, key=lambda pair: -pair[1].start):
        text = text[:place.start] + place.switched(number) + text[place.end:]
    return f'#include "{header}"\n#line 1\n{text}'
