# compare.py ONE OTHER FILE DIFFERENCES: what psql has logged (-L) and said of FILE
# in two ways is the same: the rows of each statement in any order, the errors as a
# set; but for what the file DIFFERENCES knows: regular expressions for statements
# and errors, each behind the name of a file, or * for all.
import re
import sys


def statements(path):
    """Each statement, and the lines that it has printed."""
    all, rows, text = [], None, None
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        if line == "********* QUERY **********":
            text = []
        elif line == "**************************" and text is not None:
            rows, text = [], (all.append((" ".join(text), [])), None)[1]
        elif text is not None:
            text.append(line.strip())
        elif all and not line.startswith("Access method: "):
            all[-1][1].append(line)
    return all


def rows(lines):
    # Widths of columns depend on which rows there are, and lines have no order.
    return sorted(re.sub(r"[-+ ]+", " ", line).strip() for line in lines)


def errors(path):
    found = (re.sub(r"^psql:[^ ]* ", "", line.strip())
             for line in open(path, errors="replace") if "ERROR:" in line)
    return set(re.sub(r" at character \d+", "", line) for line in found)


one, other, name, known = sys.argv[1:]
patterns = []
for line in open(known):
    if line.strip() and not line.startswith("#"):
        where, pattern = line.strip().split(None, 1)
        if where in ("*", name):
            patterns.append(re.compile(pattern, re.I))


def is_known(text):
    return any(p.search(text) for p in patterns)


bad = 0
a, b = (statements("%s.%s.log" % (way, name)) for way in (one, other))
assert len(a) > 5, "no statements"
if len(a) != len(b):
    print("%d and %d statements" % (len(a), len(b)))
    bad += 1
for (text, x), (again, y) in zip(a, b):
    if text != again:
        print("other statements from here on: " + text[:200])
        bad += 1
        break
    if rows(x) != rows(y) and not is_known(text):
        print(text[:300])
        for line in x[:8]:
            print("  < " + line)
        for line in y[:8]:
            print("  > " + line)
        bad += 1
x, y = (errors("%s.%s.err" % (way, name)) for way in (one, other))
for line in sorted(x ^ y):
    if not is_known(line):
        print(("< " if line in x else "> ") + line)
        bad += 1
sys.exit(1 if bad else 0)
