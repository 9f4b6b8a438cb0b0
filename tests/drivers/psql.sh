# psql, by PREPARE.
psql -qXAt <<'SQL' 2>&1 | sed 's/^ERROR:  /error /'
PREPARE put (text, numeric) AS INSERT INTO item (name, price) VALUES ($1, $2);
PREPARE get (text) AS
	SELECT 'prepared ' || name || ' ' || price FROM item WHERE name = $1;
EXECUTE put ('fig', 2.25);
EXECUTE get ('fig');
BEGIN;
DELETE FROM item;
ROLLBACK;
SELECT 'rolled back ' || count(*) FROM item;
\set VERBOSITY sqlstate
INSERT INTO item (name) VALUES ('plum');
SELECT 'types ' || concat_ws(' ', id, name, price,
	CASE WHEN good THEN 'true' END, made, array_to_string(tags, ','), big,
	encode(raw, 'hex'), coalesce(nothing::text, 'null'))
FROM item WHERE name = 'plum';
SQL
