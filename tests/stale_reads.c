/* stale_reads FILE: for each history of the file the least number of stale
 * reads of an order of its transactions, by definition, a line each. */
#include <stdio.h>

#include "formats/formats.h"
#include "history/history.h"
#include "history/trace.h"
#include "twin_axioms.h"
#include "twin_staleness.h"

static bool print_least(const struct trace *t)
{
	struct history *h = trace_history(t, NULL, NULL);
	bool small = h->transaction_count <= TWIN_TRANSACTIONS;
	if (small) printf("%u\n", twin_staleness(h));
	history_free(h);
	return small;
}

int main(int argc, char **argv)
{
	struct reader_options o = { .format = FORMAT_ISOSCOPE };
	struct diags d = { 0 };
	if (argc != 2) return 2;
	struct history_reader *r = history_reader_open(argv[1], &o, &d);
	struct trace *t;
	bool fine = r != NULL;
	while (fine && (t = history_reader_next(r, &d))) {
		fine = print_least(t);
		trace_free(t);
	}
	if (r) history_reader_close(r);
	fine = fine && !d.errors;
	if (!fine) fprintf(stderr, "%s: cannot be judged\n", argv[1]);
	diags_free(&d);
	return fine ? 0 : 3;
}
