#include "api/history_lines.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "api/sorted.h"
#include "base/memory.h"
#include "base/text.h"
#include "dpor/explorer.h"
#include "report/history_json.h"

struct history_lines {
	FILE *to;
	struct sorted *sorted; /* NULL: as they come */
	struct text *lines;    /* of each thread */
	unsigned threads;
};

static void close_file(void *f)
{
	fclose(f);
}

struct history_lines *history_lines_new(FILE *to, unsigned threads, bool sorted,
                                        const char *folder)
{
	assert(to && threads);
	if (to != stdout) mem_hold(to, close_file);
	struct history_lines *h = mem_take0(1, sizeof *h);
	h->to = to;
	h->threads = threads;
	h->lines = mem_take0(threads, sizeof *h->lines);
	if (sorted && threads > 1) h->sorted = sorted_new(threads, folder);
	return h;
}

/* Called by all threads: the line is written with one call, so in one piece. */
bool history_lines_add(void *payload, const struct explore_execution *e)
{
	struct history_lines *h = payload;
	assert(e->worker < h->threads);
	struct text *line = &h->lines[e->worker];
	text_clear(line);
	report_history(line, e);
	if (h->sorted) return sorted_add(h->sorted, e, line);
	return fwrite(line->data, 1, line->length, h->to) == line->length;
}

static bool close_lines(struct history_lines *h)
{
	errno = 0;
	bool fine = !fflush(h->to) && !ferror(h->to);
	if (h->to == stdout) return fine;
	mem_let_go(h->to);
	return !fclose(h->to) && fine;
}

bool history_lines_end(struct history_lines *h, const char *path,
                       struct problem *p)
{
	if (!h) return true;
	bool sorted = !h->sorted || sorted_write(h->sorted, h->to, p);
	bool fine = close_lines(h);
	int reason = errno;
	if (!fine)
		problem_set(p, PROBLEM_SYSTEM, "cannot write %s: %s",
		            h->to == stdout ? "the standard output" : path,
		            reason ? strerror(reason)
		                   : "not all of it could be written");
	for (unsigned i = 0; i < h->threads; i++) text_free(&h->lines[i]);
	free(h->lines);
	sorted_free(h->sorted);
	free(h);
	return sorted && fine;
}
