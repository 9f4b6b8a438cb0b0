-- programs/apps/shopping_cart.tx in SQL, to be set-up of a specification: the
-- rows are the keys, and no other key holds the list of them.
CREATE TABLE store (id int PRIMARY KEY, name text NOT NULL, price int NOT NULL, quantity int NOT NULL);
INSERT INTO store VALUES (1, 'item 1', 1, 8), (2, 'item 2', 1, 2), (3, 'item 3', 1, 1005), (4, 'item 4', 1, 1);

CREATE FUNCTION add_item(i int, q int) RETURNS void LANGUAGE sql AS $$
  INSERT INTO store VALUES (i, 'new item', 1, q)
    ON CONFLICT (id) DO UPDATE SET name = 'new item', price = 1, quantity = excluded.quantity;
$$;

CREATE FUNCTION remove_item(i int) RETURNS void LANGUAGE sql AS $$
  DELETE FROM store WHERE id = i;
$$;

CREATE FUNCTION get_item(i int) RETURNS text LANGUAGE sql AS $$
  SELECT name || ': ' || quantity FROM store WHERE id = i;
$$;

CREATE FUNCTION list_items() RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(name || ': ' || quantity, ', ' ORDER BY id) FROM store;
$$;

-- Nothing, where there is no such item.
CREATE FUNCTION change_quantity(i int, q int) RETURNS void LANGUAGE sql AS $$
  UPDATE store SET quantity = q WHERE id = i;
$$;
