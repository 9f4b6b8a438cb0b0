"""Moves money between two accounts, if there is enough: transfer.py FROM TO AMOUNT"""
import sys

import psycopg2

source, target, amount = sys.argv[1], sys.argv[2], int(sys.argv[3])
bank = psycopg2.connect("")  # PGHOST and its like say where
with bank, bank.cursor() as cursor:
    cursor.execute("SELECT balance FROM account WHERE owner = %s", (source,))
    balance = cursor.fetchone()[0]
    if balance < amount:
        print("refused")
    else:
        cursor.execute("UPDATE account SET balance = %s WHERE owner = %s",
                       (balance - amount, source))
        cursor.execute("UPDATE account SET balance = balance + %s WHERE owner = %s",
                       (amount, target))
        print("moved")
bank.close()
