-- programs/apps/twitter.tx in SQL, to be set-up of a specification: the rows are
-- the keys, and no other key holds the list of them. Who follows whom is one
-- table; there it is two lists.
CREATE TABLE users (id text PRIMARY KEY);
CREATE TABLE follows (follower text, followee text, PRIMARY KEY (follower, followee));
CREATE TABLE tweets (id int, author text, body text NOT NULL, PRIMARY KEY (id, author));
INSERT INTO users VALUES ('A'), ('B'), ('C'), ('D'), ('E'), ('F'), ('G'), ('H'), ('I'), ('J');
INSERT INTO follows VALUES ('B', 'A'), ('A', 'B'), ('A', 'C'), ('A', 'D'), ('B', 'E'),
  ('B', 'F'), ('B', 'G'), ('B', 'H'), ('C', 'I'), ('C', 'J');
INSERT INTO tweets VALUES
  (1001000, 'A', 'tweet'), (1001001, 'B', 'tweet'), (1001002, 'C', 'tweet'), (1001003, 'D', 'tweet'),
  (1001004, 'E', 'tweet'), (1001005, 'F', 'tweet'), (1001006, 'G', 'tweet'), (1001007, 'H', 'tweet'),
  (1001008, 'A', 'tweet'), (1001009, 'B', 'tweet'), (1001010, 'C', 'tweet'), (1001011, 'D', 'tweet'),
  (1001012, 'E', 'tweet'), (1001013, 'F', 'tweet'), (1001014, 'G', 'tweet'), (1001015, 'H', 'tweet'),
  (1002000, 'A', 'tweet'), (1002001, 'B', 'tweet'), (1002002, 'C', 'tweet'), (1002003, 'D', 'tweet'),
  (1002004, 'E', 'tweet'), (1002005, 'F', 'tweet'), (1002006, 'G', 'tweet'), (1002007, 'H', 'tweet'),
  (1002008, 'A', 'tweet'), (1002009, 'B', 'tweet'), (1002010, 'C', 'tweet'), (1002011, 'D', 'tweet'),
  (1002012, 'E', 'tweet'), (1002013, 'F', 'tweet'), (1002014, 'G', 'tweet'), (1002015, 'H', 'tweet');

CREATE FUNCTION publish(tweet int, who text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO tweets VALUES (tweet, who, 'new tweet');
$$;

CREATE FUNCTION follow(who text, whom text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO follows SELECT who, whom WHERE who <> whom ON CONFLICT DO NOTHING;
$$;

CREATE FUNCTION timeline(who text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(body, ', ' ORDER BY body DESC) FROM tweets WHERE author = who;
$$;

CREATE FUNCTION get_followers(who text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(follower, ', ' ORDER BY follower) FROM follows JOIN users ON users.id = follower
    WHERE followee = who;
$$;

CREATE FUNCTION newsfeed(who text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(body, ', ' ORDER BY body DESC) FROM follows JOIN tweets ON author = followee
    WHERE follower = who;
$$;
