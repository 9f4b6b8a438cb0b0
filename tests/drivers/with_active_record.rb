# With an argument: makes the table.
require 'active_record'

ActiveRecord::Base.establish_connection(
  adapter: 'postgresql', host: ENV['PGHOST'], username: ENV['PGUSER'],
  port: ENV['PGPORT'], database: ENV['PGDATABASE']
)
class Item < ActiveRecord::Base
end

if ARGV.any?
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table :items do |t|
      t.text :name, null: false
      t.decimal :price, precision: 8, scale: 2
      t.boolean :good
      t.date :made
      t.text :tags, array: true
      t.bigint :big
      t.binary :raw
      t.integer :nothing
      t.index :name, unique: true
    end
  end
  Item.create!(name: 'plum', price: '1.50', good: true, made: '2024-02-29',
               tags: %w[x y], big: 9_007_199_254_740_993, raw: "\x00\xff".b)
  exit
end
Item.create!(name: 'fig', price: '2.25')
fig = Item.find_by!(name: 'fig')
puts "prepared #{fig.name} #{format('%.2f', fig.price)}"
Item.transaction do
  Item.destroy_all
  raise ActiveRecord::Rollback
end
puts "rolled back #{Item.find_each(batch_size: 1).count}"
begin
  Item.create!(name: 'plum')
rescue ActiveRecord::RecordNotUnique => e
  puts "error #{e.cause.result.error_field(PG::Result::PG_DIAG_SQLSTATE)}"
end
p = Item.find_by!(name: 'plum')
puts ['types', p.id, p.name, format('%.2f', p.price), p.good, p.made,
      p.tags.join(','), p.big, p.raw.unpack1('H*'),
      p.nothing || 'null'].join(' ')
