-- The orders of a small shop, all of them computed: the script always makes the same rows.
-- orders.db is made from it by: go test ./assets/sample -update
CREATE TABLE orders
( order_id INTEGER PRIMARY KEY
, customer_id INTEGER NOT NULL
, ordered_on DATE NOT NULL
, status VARCHAR(10) NOT NULL
, quantity INTEGER NOT NULL
, unit_price DECIMAL(8,2) NOT NULL
);

-- Customers above 60 are not in customers.csv, as happens.
INSERT INTO orders
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
SELECT i
, 1 + (i * 37 + i * i % 23) % 61
, date('2024-10-01', '+' || (i * 500 / 3000) || ' days')
, CASE WHEN (i * 7) % 31 = 0 THEN 'cancelled' WHEN i > 2900 THEN 'open' ELSE 'shipped' END
, 1 + (i * 13) % 9
, round(2.5 + (i * 7919 % 9973) / 100.0, 2)
FROM n;

CREATE INDEX orders_by_day ON orders (ordered_on);
