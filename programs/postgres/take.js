// Takes the oldest job of a queue: take.js WORKER
const { Client } = require('pg');

async function main(worker) {
  const client = new Client(process.env.DATABASE_URL);
  await client.connect();
  await client.query('BEGIN');
  const { rows } = await client.query(
    'SELECT id FROM job WHERE worker IS NULL ORDER BY id LIMIT 1');
  if (rows.length) {
    await client.query('UPDATE job SET worker = $1 WHERE id = $2',
      [worker, rows[0].id]);
    console.log(rows[0].id);
  }
  await client.query('COMMIT');
  await client.end();
}

main(process.argv[2]);
