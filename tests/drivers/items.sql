CREATE TABLE item (
	id serial PRIMARY KEY, name text NOT NULL UNIQUE, price numeric(8, 2),
	good boolean, made date, tags text[], big bigint, raw bytea, nothing int
);
INSERT INTO item (name, price, good, made, tags, big, raw) VALUES
	('plum', 1.50, true, '2024-02-29', '{x,y}', 9007199254740993, '\x00ff');
