"""What the clients in Python say."""


def types(row):
    i, name, price, good, made, tags, big, raw, nothing = row
    print("types", i, name, price, str(good).lower(), made.isoformat(),
          ",".join(tags), big, bytes(raw).hex(),
          "null" if nothing is None else nothing)
