-- The five transactions of TPC-C (revision 5.11, clause 2 and its appendix A)
-- in plain SQL, as a terminal sends them: what it read is a literal later.
CREATE TABLE warehouse (w_id int PRIMARY KEY, w_name text, w_tax numeric, w_ytd numeric);
CREATE TABLE district (d_w_id int, d_id int, d_name text, d_tax numeric, d_ytd numeric,
	d_next_o_id int, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE customer (c_w_id int, c_d_id int, c_id int, c_first text, c_last text, c_credit text,
	c_discount numeric, c_balance numeric, c_ytd_payment numeric, c_payment_cnt int,
	c_delivery_cnt int, c_data text, PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE TABLE history (h_id serial PRIMARY KEY, h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int,
	h_w_id int, h_amount numeric);
CREATE TABLE new_order (no_w_id int, no_d_id int, no_o_id int, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE orders (o_w_id int, o_d_id int, o_id int, o_c_id int, o_carrier_id int, o_ol_cnt int,
	PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE order_line (ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int,
	ol_delivery_d int, ol_quantity int, ol_amount numeric,
	PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
CREATE TABLE item (i_id int PRIMARY KEY, i_name text, i_price numeric);
CREATE TABLE stock (s_w_id int, s_i_id int, s_quantity int, s_ytd int, s_order_cnt int,
	PRIMARY KEY (s_w_id, s_i_id));
INSERT INTO warehouse VALUES (1, 'w', 0.1, 0);
INSERT INTO district SELECT 1, d, 'd', 0.1, 0, 1 FROM generate_series(1, 2) d;
INSERT INTO customer SELECT 1, d, c, 'first', 'last', 'GC', 0, 0, 0, 0, 0, '' FROM generate_series(1, 2) d, generate_series(1, 3) c;
INSERT INTO item SELECT i, 'i', 5 FROM generate_series(1, 2) i;
INSERT INTO stock SELECT 1, i, 100, 0, 0 FROM generate_series(1, 2) i;
