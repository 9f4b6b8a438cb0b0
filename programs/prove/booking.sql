-- A hall of 100 seats: who books adds up what is taken. That keeps the limit if
-- transactions are serializable. At weaker levels two may add up the same.
CREATE TABLE booking (id int PRIMARY KEY, seats int NOT NULL);

CREATE FUNCTION book(number int, wanted int) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  taken int;
BEGIN
  SELECT coalesce(sum(seats), 0) INTO taken FROM booking;
  IF wanted < 1 OR taken + wanted > 100 THEN
    RETURN false;
  END IF;
  INSERT INTO booking VALUES (number, wanted);
  RETURN true;
END $$;

CREATE FUNCTION cancel(number int) RETURNS void LANGUAGE sql AS $$
  DELETE FROM booking WHERE id = number;
$$;
