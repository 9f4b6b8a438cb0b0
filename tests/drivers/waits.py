# Connections in schedules that are given: who waits for whom, what a savepoint
# gives back, time limits. Prints what each statement gave.  waits.py FILE
#
# A line of the file is a name and a statement of the connection of that name; one
# without a name, behind "--", begins another schedule.
import sys, time
from side_by_side import Schedule, Session, control

def main():
    sessions = {}
    for line in open(sys.argv[1]):
        name, sql = line.strip().split(" ", 1)
        if name == "--":
            print("schedule", sql)
            if sessions: schedule.silent = False
            continue
        if name not in sessions:
            sessions[name] = Session(name)
            schedule = Schedule(list(sessions.values()), control())
        # A time limit ends what still waits.
        limit = time.time() + 20
        while sessions[name].busy:
            time.sleep(0.01)
            schedule.follow(sessions[name])
            if time.time() > limit: sys.exit(name + " waits for ever: " + sql)
        schedule.send(sessions[name], sql)

main()
