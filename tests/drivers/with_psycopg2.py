import psycopg2
import words

c = psycopg2.connect("")
k = c.cursor()
k.execute("PREPARE put AS INSERT INTO item (name, price) VALUES ($1, $2)")
k.execute("EXECUTE put (%s, %s)", ("fig", "2.25"))
c.commit()
k.execute("SELECT name, price FROM item WHERE name = %s", ("fig",))
print("prepared", *k.fetchone())
c.rollback()
k.execute("DELETE FROM item")
c.rollback()
# By a cursor of the server.
with c.cursor("some") as named:
    named.itersize = 1
    named.execute("SELECT id FROM item")
    print("rolled back", len([row for row in named]))
try:
    k.execute("INSERT INTO item (name) VALUES ('plum')")
except psycopg2.errors.UniqueViolation as e:
    print("error", e.pgcode)
    c.rollback()
with c:
    k.execute("SELECT * FROM item WHERE name = %s", ("plum",))
    words.types(k.fetchone())
c.close()
