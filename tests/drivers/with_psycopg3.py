import psycopg
import words

with psycopg.connect("") as c:
    c.execute("INSERT INTO item (name, price) VALUES (%s, %s)",
              ("fig", 2.25), prepare=True)
    c.commit()
    # Of itself it prepares what is run for the sixth time.
    for _ in range(8):
        row = c.execute("SELECT name, price FROM item WHERE name = %s",
                        ("fig",)).fetchone()
    print("prepared", *row)
    with c.transaction(force_rollback=True):
        c.execute("DELETE FROM item")
    with c.cursor("some") as named:
        print("rolled back", len(named.execute("SELECT id FROM item")
                                 .fetchall()))
    try:
        with c.transaction(), c.pipeline():
            c.execute("INSERT INTO item (name) VALUES ('plum')")
    except psycopg.errors.UniqueViolation as e:
        print("error", e.sqlstate)
    with c.cursor(binary=True) as k:
        words.types(k.execute("SELECT * FROM item WHERE name = %s",
                              ("plum",)).fetchone())
