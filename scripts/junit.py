"""Counts a JUnit report: prints `passed failed skipped` and writes the skipped tests' reasons to a file.

usage: junit.py REPORT SKIPPED_FILE

A test that can't run here (no shared data, no root, a program that isn't installed) prints a line
`skipped: NAME: REASON` and returns; it counts as skipped, not as passed.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED = re.compile(r"^skipped: (.+)$", re.MULTILINE)


def main(report: str, skipped_file: str) -> None:
    passed = failed = 0
    reasons = []
    for case in ElementTree.parse(report).iter("testcase"):
        said = SKIPPED.findall(case.findtext("system-out") or "") + SKIPPED.findall(case.findtext("system-err") or "")
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif said:
            reasons.extend(said)
        else:
            passed += 1
    skipped = {reason.split(":")[0] for reason in reasons}
    with open(skipped_file, "w", encoding="utf-8") as out:
        out.writelines(f"  {reason}\n" for reason in reasons)
    print(passed, failed, len(skipped))


if __name__ == "__main__":
    main(*sys.argv[1:])
