use strict;
use warnings;
use DBI;

my $c = DBI->connect('dbi:Pg:', '', '', { RaiseError => 1, PrintError => 0 });
my $put = $c->prepare('INSERT INTO item (name, price) VALUES (?, ?)');
$put->execute('fig', '2.25');
print join(' ', 'prepared', $c->selectrow_array(
	'SELECT name, price FROM item WHERE name = ?', undef, 'fig')), "\n";
$c->begin_work;
$c->do('DELETE FROM item');
$c->rollback;
print 'rolled back ',
	scalar @{ $c->selectall_arrayref('SELECT id FROM item') }, "\n";
eval { $c->do(q(INSERT INTO item (name) VALUES ('plum'))) };
print 'error ', $c->state, "\n" if $@;
my @p = $c->selectrow_array('SELECT * FROM item WHERE name = ?', undef, 'plum');
$p[3] = $p[3] ? 'true' : 'false';
$p[5] = join ',', @{ $p[5] };
$p[7] = unpack 'H*', $p[7];
print join(' ', 'types', map { $_ // 'null' } @p), "\n";
$c->disconnect;
