-- What terminals do on the tables of tpcc.sql, for psql: twice, in two districts.
-- New-Order
BEGIN;
SELECT w_tax FROM warehouse WHERE w_id = 1;
SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = 1 AND c_d_id = :d AND c_id = :c;
SELECT d_next_o_id AS o, d_tax FROM district WHERE d_w_id = 1 AND d_id = :d \gset
UPDATE district SET d_next_o_id = :o + 1 WHERE d_w_id = 1 AND d_id = :d;
INSERT INTO orders VALUES (1, :d, :o, :c, NULL, 2);
INSERT INTO new_order VALUES (1, :d, :o);
SELECT i_price, i_name FROM item WHERE i_id = 1;
SELECT s_quantity AS q FROM stock WHERE s_w_id = 1 AND s_i_id = 1 \gset
UPDATE stock SET s_quantity = :q - 1, s_ytd = s_ytd + 1, s_order_cnt = s_order_cnt + 1 WHERE s_w_id = 1 AND s_i_id = 1;
INSERT INTO order_line VALUES (1, :d, :o, 1, 1, NULL, 1, 5);
SELECT i_price, i_name FROM item WHERE i_id = 2;
SELECT s_quantity AS q FROM stock WHERE s_w_id = 1 AND s_i_id = 2 \gset
UPDATE stock SET s_quantity = :q - 1, s_ytd = s_ytd + 1, s_order_cnt = s_order_cnt + 1 WHERE s_w_id = 1 AND s_i_id = 2;
INSERT INTO order_line VALUES (1, :d, :o, 2, 2, NULL, 1, 7);
COMMIT;
-- Payment, by number
BEGIN;
UPDATE warehouse SET w_ytd = w_ytd + 10 WHERE w_id = 1;
SELECT w_name FROM warehouse WHERE w_id = 1;
UPDATE district SET d_ytd = d_ytd + 10 WHERE d_w_id = 1 AND d_id = :d;
SELECT d_name FROM district WHERE d_w_id = 1 AND d_id = :d;
SELECT c_first, c_last, c_balance AS b, c_credit FROM customer WHERE c_w_id = 1 AND c_d_id = :d AND c_id = :c \gset
UPDATE customer SET c_balance = :b - 10 WHERE c_w_id = 1 AND c_d_id = :d AND c_id = :c;
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount) VALUES (:c, :d, 1, :d, 1, 10);
COMMIT;
-- Order-Status
BEGIN;
SELECT c_balance, c_first, c_last FROM customer WHERE c_w_id = 1 AND c_d_id = :d AND c_id = :c;
SELECT max(o_id) AS o FROM orders WHERE o_w_id = 1 AND o_d_id = :d AND o_c_id = :c \gset
SELECT o_carrier_id FROM orders WHERE o_w_id = 1 AND o_d_id = :d AND o_id = :o;
SELECT ol_i_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = 1 AND ol_d_id = :d AND ol_o_id = :o;
COMMIT;
-- Delivery
BEGIN;
SELECT min(no_o_id) AS o FROM new_order WHERE no_w_id = 1 AND no_d_id = :d \gset
DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = :d AND no_o_id = :o;
SELECT o_c_id AS c FROM orders WHERE o_w_id = 1 AND o_d_id = :d AND o_id = :o \gset
UPDATE orders SET o_carrier_id = 7 WHERE o_w_id = 1 AND o_d_id = :d AND o_id = :o;
UPDATE order_line SET ol_delivery_d = 99 WHERE ol_w_id = 1 AND ol_d_id = :d AND ol_o_id = :o;
SELECT sum(ol_amount) AS a FROM order_line WHERE ol_w_id = 1 AND ol_d_id = :d AND ol_o_id = :o \gset
UPDATE customer SET c_balance = c_balance + :a, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = 1 AND c_d_id = :d AND c_id = :c;
COMMIT;
-- Stock-Level
BEGIN;
SELECT d_next_o_id AS o FROM district WHERE d_w_id = 1 AND d_id = :d \gset
SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = 1 AND s_i_id = ol_i_id
	WHERE ol_w_id = 1 AND ol_d_id = :d AND ol_o_id < :o AND ol_o_id >= :o - 20 AND s_quantity < 10;
COMMIT;
