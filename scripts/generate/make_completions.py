#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the completions for bash, zsh and fish from the program's own --help.

    make_completions.py build/release/bin/nnapi-convert FOLDER

The installation runs it (cmake/Package.cmake)."""

import argparse
import pathlib
import re
import subprocess
from typing import Dict, List, NamedTuple

NAME = "nnapi-convert"


class Option(NamedTuple):
    names: List[str]
    takes_value: bool
    choices: List[str]
    about: str


def help_of(program: str, command: str) -> str:
    words = [program, *([command] if command else []), "--help"]
    text = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    if "--help-all" not in text:
        return text
    return subprocess.run([*words[:-1], "--help-all"], stdout=subprocess.PIPE, text=True, check=True).stdout


def subcommands(text: str) -> Dict[str, str]:
    section = text[text.index("Subcommands"):].split("\n\n")[0]
    return dict(re.findall(r"^  (\S+) +(.+)$", section, re.M))


def options(text: str) -> List[Option]:
    """Reads the options of a help text. Each begins a line with its names and its value's name; the description comes
    after two spaces, and goes on in lines that are indented further. Choices are in braces."""
    found = []
    for match in re.finditer(r"^  (-[\w-]+(?:,-[\w-]+)*)(?: (\S+(?: \.\.\.)?))?(?:  +(.*))?$((?:\n {10,}\S.*$)*)", text,
                             re.M):
        names, value, *about = match.groups()
        words = " ".join(" ".join(filter(None, about)).split())
        choices = re.search(r"\{(.*?)\}", words)
        found.append(Option(names.split(","), bool(value), choices.group(1).split(", ") if choices else [],
                            re.sub(r" [{\[(].*", "", words.split(";")[0])))
    return found


def in_order(commands: Dict[str, List[Option]], rest: str):
    """Returns the subcommands, then the conversion itself under another name."""
    return [*((command, known) for command, known in commands.items() if command), (rest, commands[""])]


def quoted(text: str) -> str:
    """Returns a text quoted for single quotes in all three shells."""
    return text.replace("'", "'\\''")


def bash(commands: Dict[str, List[Option]], about: Dict[str, str]) -> str:
    lines = [f"# Completions of {NAME} for bash. Made by scripts/generate/make_completions.py, do not edit.",
             "_nnapi_convert() {",
             "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= values=",
             "  # bash splits at =, which stands between an option and its value.",
             "  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi",
             "  case ${COMP_WORDS[1]} in"]
    for command in about:
        names = [name for option in commands[command] for name in option.names]
        lines.append(f"    {command}) words='{' '.join(names)}' ;;")
    names = [name for option in commands[""] for name in option.names]
    lines += [f"    *) words='{' '.join(names)}' ;;", "  esac",
              f"  ((COMP_CWORD == 1)) && words+=' {' '.join(about)}'", "  case ${COMP_WORDS[1]}:$before in"]
    for command, known in in_order(commands, ""):
        for option in known:
            if option.choices:
                pattern = "|".join(f"{command or '*'}:{name}" for name in option.names)
                lines.append(f"    {pattern}) values='{' '.join(option.choices)}' ;;")
    lines += ["  esac", "  if [[ -n $values ]]; then", '    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")',
              "  elif [[ $word == -* ]]; then", '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")',
              "  else", '    mapfile -t COMPREPLY < <(compgen -f -- "$word")', "    if ((COMP_CWORD == 1)); then",
              f"      mapfile -t -O \"${{#COMPREPLY[@]}}\" COMPREPLY < <(compgen -W '{' '.join(about)}' -- \"$word\")",
              "    fi", "  fi", "}", f"complete -o filenames -F _nnapi_convert {NAME}"]
    return "\n".join(lines) + "\n"


def zsh_spec(option: Option) -> str:
    about = quoted(re.sub(r"[\[\]:]", "", option.about))
    value = f":value:({' '.join(option.choices)})" if option.choices else ":value:_files" if option.takes_value else ""
    if len(option.names) == 1:
        return f"'*{option.names[0]}[{about}]{value}'"
    return f"'*'{{{','.join(option.names)}}}'[{about}]{value}'"


def zsh(commands: Dict[str, List[Option]], about: Dict[str, str]) -> str:
    lines = [f"#compdef {NAME}", "# Made by scripts/generate/make_completions.py, do not edit.", "local -a commands",
             "commands=("]
    lines += [f"  '{command}:{quoted(text)}'" for command, text in about.items()]
    lines += [")", "case $words[2] in"]
    for command, known in in_order(commands, "*"):
        lines.append(f"  {command})")
        if command == "*":
            lines.append("    ((CURRENT == 2)) && _describe command commands")
        else:
            lines.append("    shift words; ((CURRENT--))")
        lines.append("    _arguments "
                     + " \\\n      ".join([zsh_spec(option) for option in known] + ["'*:file:_files'"]))
        lines.append("    ;;")
    return "\n".join([*lines, "esac"]) + "\n"


def fish(commands: Dict[str, List[Option]], about: Dict[str, str]) -> str:
    lines = [f"# Completions of {NAME} for fish. Made by scripts/generate/make_completions.py, do not edit."]
    for command, text in about.items():
        lines.append(f"complete -c {NAME} -n __fish_use_subcommand -a {command} -d '{quoted(text)}'")
    for command, known in commands.items():
        seen = "__fish_seen_subcommand_from"
        condition = f"{seen} {command}" if command else f"not {seen} {' '.join(about)}"
        for option in known:
            words = [f"complete -c {NAME} -n '{condition}'"]
            words += [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
            words += ["-r"] if option.takes_value else []
            words += [f"-f -a '{' '.join(option.choices)}'"] if option.choices else []
            lines.append(" ".join([*words, f"-d '{quoted(option.about)}'"]))
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    whole = help_of(arguments.program, "")
    about = subcommands(whole)
    commands = {"": options(whole), **{command: options(help_of(arguments.program, command)) for command in about}}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, make in {f"{NAME}.bash": bash, f"_{NAME}": zsh, f"{NAME}.fish": fish}.items():
        (arguments.folder / name).write_text(make(commands, about))


if __name__ == "__main__":
    main()
