"""common.py - what compare and ../train share: words of the command line, systems, an orderly end."""
import argparse
import re
import signal
import sys

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def bits_of(text):
    """10Gbit in bits a second."""
    units = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]bit)", text.lower())
    if not match or float(match[1]) == 0:
        raise argparse.ArgumentTypeError(f'"{text}" is not a bandwidth such as 2.5Gbit')
    return float(match[1]) * units[match[2]]


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number from 1 on')
    return int(text)


def words(text):
    return text.split(",")


def bandwidths(text):
    return [(word, bits_of(word)) for word in words(text)]


def chosen(program, systems, names):
    """The systems to run, all where no names are given; says which of them are not there."""
    known = [system.name for system in systems]
    for name in names or []:
        if name not in known:
            sys.exit(f'{program}: "{name}" is none of {", ".join(known)}')
    result = []
    for system in systems:
        if names and system.name not in names:
            continue
        lack = system.missing()
        if lack:
            print(f"{system.name} is left out: {lack}", file=sys.stderr)
        else:
            result.append(system)
    if not result:
        sys.exit(f"{program}: there is nothing to run")
    return result


def interrupted(number, _):
    """Lets the network be removed; once is enough."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def catch_signals():
    for number in SIGNALS:
        signal.signal(number, interrupted)
