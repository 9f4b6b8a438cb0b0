#!/bin/sh
# Statements one after the other give on isoscope's tables what they give on
# PostgreSQL's own: while set up, and served. Random sequences of what PostgreSQL's
# regression tests are about: insert, update, delete, select, join, aggregates,
# constraints, foreign keys, triggers, PL/pgSQL, ON CONFLICT, transactions, WITH.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
needs_server
chmod 777 "$work"

cat >tables.sql <<'END'
CREATE TABLE owner (id int PRIMARY KEY, name text UNIQUE,
	age int CHECK (age < 9));
CREATE TABLE pet (id serial PRIMARY KEY, owner int REFERENCES owner
	ON DELETE CASCADE, kind text NOT NULL DEFAULT 'cat', n numeric(6, 2),
	seen bool, UNIQUE (owner, kind));
CREATE TABLE visit (pet int REFERENCES pet ON DELETE SET NULL, cost int);
CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, line text);
CREATE INDEX ON visit (cost);
CREATE VIEW costs AS SELECT p.kind, sum(v.cost) AS cost
	FROM pet p JOIN visit v ON v.pet = p.id GROUP BY p.kind;
CREATE FUNCTION limited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF new.n > 90 THEN
		new.n = 80 + (SELECT count(*) FROM visit WHERE pet = new.id);
	END IF;
	RETURN new;
END $$;
CREATE TRIGGER first BEFORE UPDATE ON pet
	FOR EACH ROW EXECUTE FUNCTION limited();
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log (line) VALUES (tg_op || coalesce(new.kind, old.kind));
	RETURN NULL;
END $$;
CREATE TRIGGER second AFTER INSERT OR UPDATE OR DELETE ON pet
	FOR EACH ROW EXECUTE FUNCTION note();
CREATE FUNCTION spent(animal int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT sum(cost) FROM visit WHERE pet = animal);
END $$;
CREATE FUNCTION adopt(who int, what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	row pet;
	total int := 0;
BEGIN
	FOR row IN SELECT * FROM pet WHERE kind = what ORDER BY id LOOP
		total := total + row.id;
	END LOOP;
	BEGIN
		UPDATE pet SET owner = who WHERE kind = what;
	EXCEPTION WHEN unique_violation OR foreign_key_violation THEN
		RETURN sqlstate || ' ' || total;
	END;
	RETURN 'done ' || total;
END $$;
END

# statements SEED COUNT: so many sequences. Rows come in an order that is asked
# for; no statement's error depends on which of its rows is the first.
statements() {
	awk -v seed="$1" -v count="$2" '
	function below(n) { return int(rand() * n) }
	function quoted(s) { return "\047" s "\047" }
	function kind() { return quoted(substr("catdogowl", 1 + 3 * below(3), 3)) }
	function name() { return quoted("o" below(5)) }
	function condition(i) {
		i = below(6)
		if (i == 0) return "id = " below(5)
		if (i == 1) return "kind = " kind()
		if (i == 2) return "n BETWEEN " below(40) " AND " below(99)
		if (i == 3) return "owner IN (SELECT id FROM owner WHERE age > " below(9) ")"
		if (i == 4) return "seen IS NOT TRUE AND owner < " below(5)
		return "EXISTS (SELECT FROM visit WHERE pet = pet.id AND cost > " below(9) ")"
	}
	function all(s) { return "WITH x AS (" s ") SELECT * FROM x ORDER BY x" }
	function written(i) {
		i = below(13)
		if (i == 0) return "INSERT INTO owner VALUES (" below(5) ", " name() ", " below(10) ")"
		if (i == 1) return "INSERT INTO owner SELECT g, \047o\047 || g FROM generate_series(" below(4) ", 4) g ON CONFLICT DO NOTHING"
		if (i == 2) return "INSERT INTO owner VALUES (" below(5) ", " name() ", 1) ON CONFLICT (id) DO UPDATE SET age = owner.age + 1, name = excluded.name WHERE owner.age < 5"
		if (i == 3) return "INSERT INTO owner VALUES (" below(5) ", " name() ") ON CONFLICT (name) DO UPDATE SET age = 3 RETURNING *"
		if (i == 4) return "UPDATE owner SET name = " name() " WHERE id = " below(5)
		if (i == 5) return "UPDATE owner SET age = age + 2 WHERE id = " below(5)
		if (i == 6) return all("DELETE FROM owner WHERE id = " below(5) " RETURNING *")
		if (i <= 8) return "INSERT INTO pet (owner, kind, n) VALUES (" below(5) ", " kind() ", " below(9999) / 100 ") RETURNING kind, n"
		if (i == 9) return "INSERT INTO pet (owner, n) VALUES (" below(5) ", 5) ON CONFLICT (owner, kind) DO UPDATE SET n = pet.n + excluded.n, seen = NOT pet.seen RETURNING n, seen"
		if (i == 10) return all("UPDATE pet SET n = n + " below(60) ", seen = n > 50 WHERE " condition() " RETURNING *")
		if (i == 11) return all("UPDATE pet SET seen = o.age > 2 FROM owner o WHERE o.id = pet.owner AND kind = " kind() " RETURNING pet.*, o.name")
		return all("DELETE FROM pet WHERE " condition() " RETURNING *")
	}
	function other(i) {
		i = below(14)
		if (i == 12) return "SELECT o.id, spent(p.id), (SELECT max(id) FROM owner) FROM owner o LEFT JOIN pet p ON p.owner = o.id ORDER BY 1, p.id"
		if (i == 13) return all("UPDATE pet SET n = n + spent(pet.id) + v.cost FROM visit v WHERE v.pet = pet.id AND v.cost = " below(9) " AND " condition("") " RETURNING pet.id")
		if (i == 0) return "SELECT adopt(" below(5) ", " kind() ")"
		if (i <= 2) return "INSERT INTO visit SELECT id, " below(9) " FROM pet WHERE " condition()
		if (i == 3) return all("DELETE FROM visit USING pet p WHERE p.id = visit.pet AND cost < " below(9) " RETURNING cost, p.kind")
		if (i == 4) return "SELECT * FROM pet WHERE " condition() " ORDER BY id FOR UPDATE"
		if (i == 5) return "SELECT o.id, p.kind, v.cost FROM owner o LEFT JOIN pet p ON p.owner = o.id FULL JOIN visit v ON v.pet = p.id ORDER BY 1, 2, 3"
		if (i == 6) return "SELECT owner, count(*), sum(n), max(kind), bool_or(seen), string_agg(kind, \047,\047 ORDER BY kind) FROM pet GROUP BY ROLLUP (owner) HAVING count(*) > " below(2) " ORDER BY 1, 2"
		if (i == 7) return "SELECT * FROM costs ORDER BY kind"
		if (i == 8) return "WITH RECURSIVE r AS (SELECT id, owner FROM pet WHERE id < 3 UNION SELECT p.id, p.owner FROM pet p JOIN r ON p.owner = r.id) SELECT * FROM r ORDER BY 1"
		if (i == 9) return "WITH d AS (DELETE FROM visit WHERE cost = " below(9) " RETURNING cost) INSERT INTO log (line) SELECT \047cost\047 || sum(cost) FROM d"
		if (i == 10) return "SELECT id, rank() OVER (PARTITION BY kind ORDER BY n, id), lag(n) OVER (ORDER BY id) FROM pet ORDER BY id"
		return "SELECT line, count(*) FROM log GROUP BY 1 ORDER BY 1"
	}
	BEGIN {
		srand(seed)
		print "\\set VERBOSITY sqlstate"
		for (s = 1; s <= count; s++) {
			print "\\echo sequence " s
			print "TRUNCATE owner, pet, visit, log RESTART IDENTITY;"
			print "INSERT INTO owner VALUES (1, \047o1\047, 1), (2, \047o2\047, 7);"
			print "INSERT INTO pet (owner, n) VALUES (1, 20.5), (2, 70);"
			open = kept = 0
			for (k = 0; k < 12; k++) {
				r = below(10)
				if (!open && r < 2) { print "BEGIN;"; open = 1 }
				else if (open && r == 0) { print "COMMIT;"; open = kept = 0 }
				else if (open && r == 1) { print "ROLLBACK;"; open = kept = 0 }
				else if (open && r == 2) { print "SAVEPOINT s;"; kept = 1 }
				else if (kept && r < 5) print "ROLLBACK TO s;"
				print (below(2) ? written() : other()) ";"
			}
			if (open) print "COMMIT;"
			print "TABLE owner ORDER BY 1; TABLE pet ORDER BY 1;"
			print "TABLE visit ORDER BY 1, 2; SELECT line FROM log ORDER BY 1;"
		}
	}'
}

count=2000
[ -z "${ISOSCOPE_QUICK:-}" ] || count=100
statements "${ISOSCOPE_SEED:-1}" $count >random.sql

# In one schema by PostgreSQL's access method, in another by isoscope's.
cat >both.sh <<'END'
psql -qX -c 'CREATE SCHEMA theirs' || exit
export PGOPTIONS='-c search_path=theirs -c default_table_access_method=heap'
psql -qXAt -v ON_ERROR_STOP=1 -f tables.sql || exit
psql -qXAt -f random.sql >theirs 2>&1
psql -qXAt -c "SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = relam
	WHERE relkind = 'r' AND amname = 'heap' AND relnamespace =
	'theirs'::regnamespace" >heaps
unset PGOPTIONS
psql -qX -c 'SET client_min_messages = error' -c 'DROP SCHEMA theirs CASCADE' &&
	psql -qX -v ON_ERROR_STOP=1 -f tables.sql || exit
psql -qXAt -f random.sql >set_up 2>&1
true
END
run 0 serve -i ser --policy latest --setup 'sh both.sh' -- \
	sh -c 'psql -qXAt -f random.sql >served 2>&1'
equal "tables of PostgreSQL's own" "$(cat heaps)" 4
equal sequences "$(grep -c '^sequence' theirs)" $count
for state in 23503 23505 23514 25P02; do
	if grep -q "$state" theirs; then pass; else fail "no error $state"; fi
done
lines=$(grep -c ERROR: theirs)
[ $((lines * 2)) -lt $((count * 12)) ] && pass || fail "$lines errors"
for way in set_up served; do
	if cmp -s theirs $way; then
		pass
	else
		diff theirs $way | head -n 30 >err
		: >out
		fail "$way: other than on PostgreSQL's own tables"
	fi
done
finish
