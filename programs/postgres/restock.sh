#!/bin/sh
# Adds to what is in stock: restock.sh NUMBER
set -e
stock=$(psql -X -q -A -t -c 'SELECT items FROM stock WHERE id = 1')
psql -X -q -c "UPDATE stock SET items = $((stock + $1)) WHERE id = 1"
