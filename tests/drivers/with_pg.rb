require 'pg'

c = PG.connect
c.type_map_for_results = PG::BasicTypeMapForResults.new(c)
c.prepare('put', 'INSERT INTO item (name, price) VALUES ($1, $2)')
c.exec_prepared('put', ['fig', '2.25'])
fig = c.exec_params('SELECT name, price FROM item WHERE name = $1',
                    ['fig'])[0]
puts "prepared #{fig['name']} #{format('%.2f', fig['price'])}"
begin
  c.transaction do
    c.exec('DELETE FROM item')
    raise 'not so'
  end
rescue RuntimeError
  # That is what the transaction is rolled back by.
end
puts "rolled back #{c.exec('SELECT id FROM item').ntuples}"
begin
  c.exec("INSERT INTO item (name) VALUES ('plum')")
rescue PG::UniqueViolation => e
  puts "error #{e.result.error_field(PG::Result::PG_DIAG_SQLSTATE)}"
end
p = c.exec_params('SELECT * FROM item WHERE name = $1', ['plum'])[0]
puts ['types', p['id'], p['name'], format('%.2f', p['price']), p['good'],
      p['made'], p['tags'].join(','), p['big'], p['raw'].unpack1('H*'),
      p['nothing'] || 'null'].join(' ')
c.close
