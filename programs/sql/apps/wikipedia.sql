-- programs/apps/wikipedia.tx in SQL, to be set-up of a specification: the rows are
-- the keys, and no other key holds the list of them.
CREATE TABLE page (id int PRIMARY KEY, ns int NOT NULL, title text NOT NULL, latest int NOT NULL,
  flags int NOT NULL);
CREATE TABLE revision (id int PRIMARY KEY, page int NOT NULL, body int NOT NULL);
CREATE TABLE texts (id int PRIMARY KEY, page int NOT NULL);
CREATE TABLE users (id int PRIMARY KEY, edits int NOT NULL DEFAULT 0, touched int NOT NULL DEFAULT 0);
CREATE TABLE watchlist (who int, ns int, title text, notified int, PRIMARY KEY (who, ns, title));
CREATE TABLE ipblocks (address text, who int, PRIMARY KEY (address, who));
CREATE TABLE page_restrictions (page int, kind text, PRIMARY KEY (page, kind));
CREATE TABLE user_groups (who int, kind text, PRIMARY KEY (who, kind));
CREATE TABLE recent_changes (id int PRIMARY KEY, page int NOT NULL, who int NOT NULL);
CREATE TABLE logging (id int PRIMARY KEY, page int NOT NULL, who int NOT NULL);
-- Athens and Madrid point to revisions that are not theirs: not found.
INSERT INTO page VALUES (13, 0, 'Paris', 6625, 1), (645, 1, 'Lisbon', 6626, 1),
  (230, 0, 'Athens', 6629, 1), (909, 0, 'Madrid', 6627, 1);
INSERT INTO revision VALUES (6625, 13, 1747), (6626, 645, 1748), (6627, 230, 1749);
INSERT INTO texts VALUES (1747, 13), (1748, 645), (1749, 230), (1750, 909);
INSERT INTO users VALUES (2324), (111), (777), (68);
INSERT INTO watchlist VALUES (2324, 0, 'Benidorm Fest 2022', NULL), (777, 0, 'FDC''22', 1),
  (777, 0, 'Fado and others', NULL), (777, 1, 'Fado and others', NULL),
  (777, 0, 'Eurovision hits', NULL), (777, 1, 'Eurovision hits', NULL),
  (68, 0, 'Greece in Eurovision', NULL), (68, 0, 'Cyprus: the movie', NULL);

-- Who watches a page watches what is said about it, too.
CREATE FUNCTION add_watch(u int, space int, called text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO watchlist SELECT u, n, called, NULL FROM (VALUES (0), (1)) s (n)
    WHERE n = space OR (n = 1 AND space = 0)
    ON CONFLICT (who, ns, title) DO UPDATE SET notified = NULL;
  UPDATE users SET touched = 1 WHERE id = u;
$$;

CREATE FUNCTION remove_watch(u int, space int, called text) RETURNS void LANGUAGE sql AS $$
  DELETE FROM watchlist WHERE who = u AND title = called AND (ns = space OR (ns = 1 AND space = 0));
  UPDATE users SET touched = 1 WHERE id = u;
$$;

-- The page, its latest revision and that one's text. Everybody comes from the
-- same address.
CREATE FUNCTION find_page(u int, space int, called text, OUT page_id int, OUT text_id int)
LANGUAGE plpgsql AS $$
DECLARE
  newest int;
BEGIN
  SELECT p.id INTO page_id FROM page p WHERE p.ns = space AND p.title = called ORDER BY p.id LIMIT 1;
  IF NOT FOUND THEN RAISE EXCEPTION 'no such page'; END IF;
  PERFORM 1 FROM page_restrictions WHERE page = page_id;
  IF u IS NULL THEN
    PERFORM 1 FROM ipblocks WHERE address = '127.0.0.1';
  ELSE
    PERFORM 1 FROM ipblocks WHERE who = u;
  END IF;
  SELECT p.latest INTO newest FROM page p WHERE p.id = page_id;
  SELECT r.body INTO text_id FROM revision r WHERE r.id = newest AND r.page = page_id;
  IF NOT FOUND THEN RAISE EXCEPTION 'no such revision'; END IF;
  PERFORM 1 FROM texts WHERE id = text_id;
  IF NOT FOUND THEN RAISE EXCEPTION 'no such text'; END IF;
END $$;

CREATE FUNCTION get_page_anonymous(space int, called text) RETURNS int LANGUAGE sql AS $$
  SELECT t.page FROM find_page(NULL, space, called) f JOIN texts t ON t.id = f.text_id;
$$;

CREATE FUNCTION get_page_authenticated(u int, space int, called text) RETURNS int
LANGUAGE plpgsql AS $$
BEGIN
  IF u > 0 THEN
    PERFORM 1 FROM users WHERE id = u;
    IF NOT FOUND THEN RAISE EXCEPTION 'no such user'; END IF;
    PERFORM 1 FROM user_groups WHERE who = u;
  END IF;
  RETURN (SELECT t.page FROM find_page(u, space, called) f JOIN texts t ON t.id = f.text_id);
END $$;

CREATE FUNCTION update_page(called text, space int, u int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  page_id int;
  text_id int;
  new_revision int;
  w record;
BEGIN
  -- As an anonymous visitor would, look at the page first.
  SELECT f.page_id, f.text_id INTO page_id, text_id FROM find_page(NULL, space, called) f;
  -- A new text and a new revision, which keeps the id of the old text.
  INSERT INTO texts SELECT coalesce(max(id) + 1, 1), page_id FROM texts;
  SELECT coalesce(max(id) + 1, 1) INTO new_revision FROM revision;
  INSERT INTO revision VALUES (new_revision, page_id, text_id);
  UPDATE page SET latest = new_revision, flags = 0 WHERE id = page_id;
  INSERT INTO recent_changes SELECT coalesce(max(id) + 1, 1), page_id, u FROM recent_changes;
  -- Tell everybody else who watches the page and was not told yet.
  FOR w IN SELECT who FROM watchlist WHERE ns = space AND title = called AND who <> u
      AND notified IS NULL LOOP
    UPDATE watchlist SET notified = 1 WHERE who = w.who AND ns = space AND title = called;
  END LOOP;
  INSERT INTO logging SELECT coalesce(max(id) + 1, 1), page_id, u FROM logging;
  UPDATE users SET edits = edits + 1 WHERE id = u;
  UPDATE users SET touched = 1 WHERE id = u;
END $$;
