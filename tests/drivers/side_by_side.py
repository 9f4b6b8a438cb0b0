# Three connections whose transactions run side by side, by random schedules: each
# statement ends or waits for a lock before the next one is sent. Prints what
# each gave.  side_by_side.py SEED COUNT LEVEL
import psycopg2, psycopg2.extensions, queue, random, sys, threading, time

CONNECTIONS, STEPS = 3, 18

class Session(threading.Thread):
    def __init__(self, name):
        super().__init__(daemon=True)
        self.connection = psycopg2.connect("")
        self.connection.autocommit = True
        self.label, self.sql, self.results = name, queue.Queue(), queue.Queue()
        self.pid = self.connection.info.backend_pid
        self.busy = self.inside = False
        self.points = 0 # savepoints
        self.start()

    def run(self):
        while True:
            cursor = self.connection.cursor()
            try:
                cursor.execute(self.sql.get())
                rows = cursor.fetchall() if cursor.description else ""
                self.results.put("%s %s" % (cursor.statusmessage, rows))
            except psycopg2.Error as error:
                self.results.put(error.pgcode)

class Schedule:
    def __init__(self, sessions, control):
        self.sessions, self.control = sessions, control
        self.deadlock = self.silent = False

    def say(self, *words):
        if not self.silent: print(*words)

    def is_blocked(self, session):
        self.control.execute("SELECT count(*) FROM pg_locks "
            "WHERE NOT granted AND pid = %d" % session.pid)
        return self.control.fetchone()[0] > 0

    # Until it has ended, or waits.
    def follow(self, session):
        limit = time.time() + 60
        while session.busy:
            if time.time() > limit:
                sys.exit(session.label + " neither ends nor waits")
            try:
                result = session.results.get(timeout=0.001)
            except queue.Empty:
                if self.is_blocked(session) and session.results.empty():
                    return
                continue
            session.busy = False
            self.deadlock |= result == "40P01"
            self.say(" ", session.label, result)

    def send(self, session, sql):
        self.say(session.label, sql)
        session.busy = True
        session.sql.put(sql)
        self.follow(session)
        if session.busy: self.say(" ", session.label, "waits")
        # Who goes on first, and whom a deadlock ends, is up to chance.
        self.silent |= sum(x.busy for x in self.sessions) > 1
        for other in self.sessions:
            if other is not session: self.follow(other)

def statement(draw, snapshots):
    i, j, k = draw.randint(1, 3), draw.randint(1, 9), draw.randint(5, 7)
    all = ["SELECT * FROM t ORDER BY id", "SELECT n FROM t WHERE id = %d" % i,
        "SELECT sum(n) FROM t WHERE n > %d" % j,
        "UPDATE t SET n = n + %d WHERE id = %d RETURNING n" % (j, i),
        "UPDATE t SET n = n - %d WHERE id = %d AND n > %d" % (j, i, j),
        "UPDATE t SET n = (SELECT sum(n) FROM t) WHERE id = %d" % i,
        "UPDATE t SET u = u + 10 WHERE id = %d" % i,
        "UPDATE t SET u = u + 20 WHERE id = %d RETURNING u" % i,
        "SELECT n FROM t WHERE id = %d AND n > %d FOR UPDATE" % (i, j),
        "SELECT n FROM t WHERE id = %d FOR NO KEY UPDATE" % i,
        "SELECT n FROM t WHERE id = %d FOR SHARE" % i,
        "SELECT id FROM t WHERE id = %d FOR KEY SHARE" % i,
        "SELECT n FROM t WHERE id = %d FOR UPDATE NOWAIT" % i,
        "SELECT id FROM t WHERE id < 4 ORDER BY id FOR UPDATE SKIP LOCKED",
        "INSERT INTO child VALUES (%d, %d)" % (j + 10, i),
        "UPDATE child SET t = %d WHERE id = 1" % i,
        "SELECT * FROM child ORDER BY id"]
    # What PostgreSQL does with keys that went behind a snapshot is its own, and
    # so is that KEY SHARE minds the UPDATE of one it had to wait for.
    if snapshots:
        all = [s.replace("FOR UPDATE", "FOR NO KEY UPDATE") for s in all]
    else:
        all += ["INSERT INTO t VALUES (%d, %d, %d)" % (k, j, k),
            "INSERT INTO t VALUES (%d, 1, %d) ON CONFLICT (id) "
            "DO UPDATE SET n = t.n + 5" % (k, k),
            "DELETE FROM t WHERE id = %d" % k,
            "DELETE FROM child WHERE id = 1",
            "INSERT INTO child VALUES (1, %d)" % k]
    return draw.choice(all)

# What it does about savepoints; None: nothing.
def savepoint(draw, x):
    failed = x.connection.info.transaction_status == \
        psycopg2.extensions.TRANSACTION_STATUS_INERROR
    sql = draw.choice(["SAVEPOINT s", "ROLLBACK TO s", "ROLLBACK TO s", "RELEASE s"])
    if failed: sql = "ROLLBACK TO s"
    if sql != "SAVEPOINT s" and not x.points: return None if failed else "SAVEPOINT s"
    x.points += (sql == "SAVEPOINT s") - (sql == "RELEASE s")
    return sql

def run(seed, sessions, control, level):
    draw = random.Random(seed)
    s = Schedule(sessions, control)
    s.silent = True
    s.send(sessions[0], "DELETE FROM child")
    s.send(sessions[0], "DELETE FROM t")
    s.send(sessions[0], "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (5, 5, 5)")
    s.send(sessions[0], "INSERT INTO child VALUES (1, 1)")
    s.silent = False
    for _ in range(STEPS):
        if s.silent: break
        x = draw.choice([x for x in sessions if not x.busy])
        if not x.inside:
            s.send(x, "BEGIN ISOLATION LEVEL " + level)
            x.inside, x.points = True, 0
        elif draw.random() < 0.25:
            s.send(x, draw.choice(["COMMIT", "COMMIT", "ROLLBACK"]))
            x.inside = False
        elif draw.random() < 0.3 and (point := savepoint(draw, x)):
            s.send(x, point)
        else:
            s.send(x, statement(draw, level == "REPEATABLE READ"))
    while any(x.busy or x.inside for x in sessions):
        for x in sessions:
            if not x.busy and x.inside:
                s.send(x, "ROLLBACK" if draw.random() < 0.5 else "COMMIT")
                x.inside = False
            s.follow(x)
    s.send(sessions[0], "SELECT * FROM t ORDER BY id")
    s.send(sessions[0], "SELECT * FROM child ORDER BY id")
    return s.deadlock

def control():
    connection = psycopg2.connect("")
    connection.autocommit = True
    return connection.cursor()

def main():
    first, count = int(sys.argv[1]), int(sys.argv[2])
    cursor = control()
    sessions = [Session("abc"[i]) for i in range(CONNECTIONS)]
    for seed in range(first, first + count):
        print("schedule", seed)
        if run(seed, sessions, cursor, sys.argv[3]):
            print("  deadlock")

if __name__ == "__main__": main()
