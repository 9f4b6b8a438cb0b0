-- programs/apps/courseware.tx in SQL, to be set-up of a specification: the rows
-- are the keys, and no other key holds the list of them.
CREATE TABLE students (id int PRIMARY KEY, registered bool NOT NULL);
CREATE TABLE courses (id int PRIMARY KEY, status text NOT NULL, capacity int NOT NULL);
CREATE TABLE enrollments (course int, student int, PRIMARY KEY (course, student));
INSERT INTO students VALUES (0, true), (1, false), (2, true), (3, true), (4, true), (5, true), (6, true), (7, true);
INSERT INTO courses VALUES (1, 'open', 1), (2, 'open', 2), (3, 'open', 3), (4, 'open', 3), (5, 'open', 3), (6, 'closed', 3);

CREATE FUNCTION enroll(s int, c int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  known bool;
  state text;
  room int;
  hits int;
BEGIN
  SELECT registered INTO known FROM students WHERE id = s;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT status, capacity INTO state, room FROM courses WHERE id = c;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF NOT known AND state = 'open' THEN
    SELECT count(*) INTO hits FROM enrollments WHERE course = c;
    IF hits < room THEN
      INSERT INTO enrollments VALUES (c, s) ON CONFLICT DO NOTHING;
    END IF;
  END IF;
END $$;

CREATE FUNCTION get_enrollments() RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(course || ' ' || student, ', ' ORDER BY course, student) FROM enrollments;
$$;

CREATE FUNCTION open_course(c int) RETURNS void LANGUAGE sql AS $$
  UPDATE courses SET status = 'open' WHERE id = c;
$$;

CREATE FUNCTION close_course(c int) RETURNS void LANGUAGE sql AS $$
  UPDATE courses SET status = 'closed' WHERE id = c;
$$;

CREATE FUNCTION delete_course(c int) RETURNS void LANGUAGE sql AS $$
  DELETE FROM courses WHERE id = c;
  DELETE FROM enrollments WHERE course = c;
$$;
