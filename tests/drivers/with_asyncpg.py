import asyncio
import decimal
import asyncpg
import words


async def main():
    c = await asyncpg.connect()
    put = await c.prepare("INSERT INTO item (name, price) VALUES ($1, $2)")
    await put.fetch("fig", decimal.Decimal("2.25"))
    row = await c.fetchrow("SELECT name, price FROM item WHERE name = $1",
                           "fig")
    print("prepared", *row)
    transaction = c.transaction()
    await transaction.start()
    await c.execute("DELETE FROM item")
    await transaction.rollback()
    async with c.transaction():
        rows = [row async for row in c.cursor("SELECT id FROM item",
                                              prefetch=1)]
    print("rolled back", len(rows))
    try:
        async with c.transaction():
            await c.execute("INSERT INTO item (name) VALUES ('plum')")
    except asyncpg.UniqueViolationError as e:
        print("error", e.sqlstate)
    words.types(await c.fetchrow("SELECT * FROM item WHERE name = $1",
                                 "plum"))
    await c.close()


asyncio.run(main())
