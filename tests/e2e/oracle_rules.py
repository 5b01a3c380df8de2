#!/usr/bin/env python3
"""What the conservation oracle excuses of the events that lie in the spool's aside/, and what it does not: by runs that
are made up here, without a Kafka."""
import sys
from types import SimpleNamespace

from oracle import events, faults, verdict

SENT = 1000.0
SIZES = events.STREAMS.index(events.SIZES)
OTHER = (SIZES + 1) % len(events.STREAMS)


def window(fault, began, healthy):
    made = verdict.Window([fault])
    made.began, made.ended, made.healthy = SENT + began, SENT + healthy, SENT + healthy
    return made


def fault(kind):
    return kind.__new__(kind)  # without the world that it would be injected into


def is_aside(windows, stream=SIZES, is_large=True, in_file=True):
    judge = verdict.Verdict.__new__(verdict.Verdict)
    judge.answers = [SimpleNamespace(sent=[SENT], stream=[stream], is_large=[is_large])]
    judge.set_aside, judge.windows = {(0, 0)} if in_file else set(), windows
    return judge._is_aside(0, 0)


def main():
    gone = window(fault(faults.AllGone), -5, 80)
    lowered = window(fault(faults.SizeLowered), 82, 90)
    later = window(fault(faults.SizeLowered), 200, 210)
    before = window(fault(faults.SizeLowered), -100, -90)
    wanted = [
        ("refused while it was replayed, after the fault that spooled it", is_aside([gone, lowered]), True),
        ("a small one: nothing refuses it", is_aside([gone, lowered], is_large=False), False),
        ("of another stream: nothing refuses it", is_aside([gone, lowered], stream=OTHER), False),
        ("not in the file", is_aside([gone, lowered], in_file=False), False),
        ("nothing refused such events", is_aside([gone]), False),
        ("refused long after it must have been replayed", is_aside([gone, later]), False),
        ("refused long before it was sent", is_aside([before, gone]), False),
        ("refused at once", is_aside([window(fault(faults.SizeLowered), -1, 5)]), True),
    ]
    wrong = [what for what, found, right in wanted if found != right]
    for what in wrong:
        print(f"wrong: {what}")
    print(f"{len(wanted)} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
