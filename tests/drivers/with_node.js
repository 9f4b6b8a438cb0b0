const { Client } = require('pg');

async function main() {
  const c = new Client(process.env.DATABASE_URL);
  await c.connect();
  await c.query({ name: 'put', values: ['fig', 2.25],
    text: 'INSERT INTO item (name, price) VALUES ($1, $2)' });
  const fig = (await c.query('SELECT name, price FROM item WHERE name = $1',
    ['fig'])).rows[0];
  console.log('prepared', fig.name, fig.price);
  await c.query('BEGIN');
  await c.query('DELETE FROM item');
  await c.query('ROLLBACK');
  console.log('rolled back',
    (await c.query('SELECT id FROM item')).rows.length);
  try {
    await c.query("INSERT INTO item (name) VALUES ('plum')");
  } catch (e) {
    console.log('error', e.code);
  }
  const p = (await c.query('SELECT *, made::text AS made FROM item ' +
    'WHERE name = $1', ['plum'])).rows[0];
  console.log('types', p.id, p.name, p.price, p.good, p.made,
    p.tags.join(','), p.big, p.raw.toString('hex'), p.nothing);
  await c.end();
}

main();
