-- programs/apps/tpcc.tx in SQL, to be set-up of a specification: the rows are
-- the keys, and no other key holds the list of them. (programs/sql/tpcc.spec is
-- nearer to the benchmark.)
CREATE TABLE warehouse (id int PRIMARY KEY, ytd int NOT NULL);
CREATE TABLE district (w int, d int, next int NOT NULL, ytd int NOT NULL, PRIMARY KEY (w, d));
CREATE TABLE customer (w int, d int, c int, credit text NOT NULL, last text NOT NULL, first text NOT NULL,
  payments int NOT NULL, PRIMARY KEY (w, d, c));
CREATE TABLE item (id int PRIMARY KEY, price int NOT NULL);
CREATE TABLE stock (w int, i int, quantity int NOT NULL, orders int NOT NULL, PRIMARY KEY (w, i));
CREATE TABLE new_order (w int, d int, o int, PRIMARY KEY (w, d, o));
CREATE TABLE open_order (w int, d int, o int, customer int NOT NULL, carrier int, PRIMARY KEY (w, d, o));
CREATE TABLE order_line (w int, d int, o int, n int, i int, supplier int, delivered int,
  PRIMARY KEY (w, d, o, n, i, supplier));
INSERT INTO warehouse VALUES (0, 0), (1, 0), (2, 0);
INSERT INTO district VALUES (0, 0, 1, 0), (1, 0, 2, 0), (0, 1, 3, 0), (1, 1, 4, 0);
INSERT INTO customer VALUES
  (0, 0, 100007, 'BC', 'Lovelace', 'Ada', 0), (1, 1, 20027, 'GC', 'Chikilicuatre', 'Rodolfo', 0),
  (0, 1, 33496, 'BC', 'Patin Piti', 'Victoria Federica', 0), (1, 0, 3412412, 'BC', 'Stan', 'Alexandra', 0),
  (0, 1, 453546, 'GC', 'Martinez', 'Leire', 0), (1, 1, 3322466, 'BC', 'Noether', 'Emmy', 0),
  (1, 0, 87765, 'BC', 'Gjata', 'Elvana', 0), (0, 1, 602743, 'GC', 'Montero', 'Amaia', 0),
  (0, 0, 635992, 'BC', 'Alboran', 'Pablo', 0);
INSERT INTO item VALUES (27, 1), (42, 1), (123, 1), (666, 1), (13, 1), (77, 1), (991, 1), (234, 1),
  (12, 1), (7, 1), (87, 1), (36, 1);
INSERT INTO stock VALUES (0, 27, 10, 0), (1, 42, 50, 0), (0, 123, 20, 0), (1, 666, 3, 0), (0, 13, 13, 0),
  (1, 77, 77, 0), (0, 991, 66, 0), (1, 234, 28, 0);
INSERT INTO new_order VALUES (0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2), (0, 1, 3), (1, 0, 0),
  (1, 0, 1), (1, 0, 2), (1, 1, 0);
INSERT INTO open_order VALUES (0, 0, 0, 100007), (0, 0, 1, 635992), (0, 1, 0, 602743), (0, 1, 1, 602743),
  (0, 1, 2, 33496), (0, 1, 3, 33496), (1, 0, 0, 3412412), (1, 0, 1, 3412412), (1, 0, 2, 3412412),
  (1, 1, 0, 20027);
INSERT INTO order_line VALUES (0, 0, 0, 0, 42, 0), (0, 1, 1, 0, 27, 0), (1, 1, 0, 0, 234, 0);

-- How many recent orders of a district need an item whose stock is low.
CREATE FUNCTION stock_level(w_ int, d_ int, threshold int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  upto int;
  low int;
BEGIN
  SELECT next INTO upto FROM district WHERE w = w_ AND d = d_;
  SELECT count(*) INTO low FROM order_line l JOIN stock s ON s.w = w_ AND s.i = l.i
    WHERE l.w = w_ AND l.d = d_ AND l.o >= upto - 20 AND l.o < upto AND s.quantity < threshold;
  IF low = 0 THEN
    RAISE EXCEPTION 'nothing is low';
  END IF;
  RETURN low;
END $$;

-- The middle one of that name when sorted by first name.
CREATE FUNCTION customer_named(w_ int, d_ int, name text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  all_ int[];
  n int;
BEGIN
  SELECT array_agg(c ORDER BY first, c) INTO all_ FROM customer WHERE w = w_ AND d = d_ AND last = name;
  n := cardinality(all_);
  IF n IS NULL THEN
    RAISE EXCEPTION 'there is nobody of this name';
  END IF;
  RETURN all_[1 + n / 2 - (1 - n % 2)];
END $$;

CREATE FUNCTION order_status(w_ int, d_ int, c_ int, name text, by_id bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  who int := c_;
  newest int;
  lines text;
BEGIN
  IF NOT by_id THEN
    who := customer_named(w_, d_, name);
  END IF;
  SELECT max(o) INTO newest FROM open_order WHERE w = w_ AND d = d_ AND customer = who;
  IF newest IS NULL THEN
    RAISE EXCEPTION 'there is no order';
  END IF;
  SELECT string_agg(coalesce(delivered, 0)::text, ' ' ORDER BY n) INTO lines FROM order_line
    WHERE w = w_ AND d = d_ AND o = newest;
  RETURN lines;
END $$;

CREATE FUNCTION payment(w_ int, d_ int, c_ int, name text, by_id bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  who int := c_;
BEGIN
  UPDATE warehouse SET ytd = 1 WHERE id = w_;
  UPDATE district SET ytd = 1 WHERE w = w_ AND d = d_;
  IF NOT by_id THEN
    who := customer_named(w_, d_, name);
  END IF;
  UPDATE customer SET payments = payments + 1 WHERE w = w_ AND d = d_ AND c = who;
END $$;

-- An order of one line per item, each from its supplying warehouse.
CREATE FUNCTION place_order(w_ int, d_ int, c_ int, items int[], suppliers int[], quantities int[])
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  o_ int;
BEGIN
  PERFORM 1 FROM customer WHERE w = w_ AND d = d_ AND c = c_;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no customer %', c_;
  END IF;
  UPDATE district SET next = next + 1 WHERE w = w_ AND d = d_ RETURNING next - 1 INTO o_;
  INSERT INTO open_order VALUES (w_, d_, o_, c_);
  INSERT INTO new_order VALUES (w_, d_, o_);
  FOR n_ IN 1 .. cardinality(items) LOOP
    PERFORM price FROM item WHERE id = items[n_];
    INSERT INTO order_line VALUES (w_, d_, o_, n_ - 1, items[n_], suppliers[n_]);
    UPDATE stock SET quantity = quantities[n_], orders = orders + 1
      WHERE w = suppliers[n_] AND i = items[n_];
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no stock of %', items[n_];
    END IF;
  END LOOP;
END $$;

-- The newest open order of each of the first n districts.
CREATE FUNCTION deliver(n_ int, w_ int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  o_ int;
  who int;
BEGIN
  FOR d_ IN 0 .. n_ - 1 LOOP
    SELECT max(o) INTO o_ FROM new_order WHERE w = w_ AND d = d_;
    IF o_ IS NOT NULL THEN
      DELETE FROM new_order WHERE w = w_ AND d = d_ AND o = o_;
      UPDATE open_order SET carrier = 1 WHERE w = w_ AND d = d_ AND o = o_ RETURNING customer INTO who;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no order %', o_;
      END IF;
      UPDATE order_line SET delivered = 1 WHERE w = w_ AND d = d_ AND o = o_;
      UPDATE customer SET payments = payments WHERE w = w_ AND d = d_ AND c = who;
    END IF;
  END LOOP;
END $$;
