#include "api/sorted.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "dpor/explorer.h"
#include "dpor/work/branch.h"

/* Lines of one branch that stand behind one another. */
struct piece {
	struct branch *branch; /* without its script */
	FILE *file;
	off_t from;
	uint64_t length;
};

struct spool {
	FILE *file; /* NULL: nothing was written yet */
	uint64_t written;
	int failure;            /* errno; 0: none */
	uint64_t branch_number; /* of the last piece */
	struct piece *pieces;
	size_t count, capacity;
};

struct sorted {
	struct spool *spools; /* of each thread */
	unsigned threads;
	char *folder; /* of temporary files */
};

struct sorted *sorted_new(unsigned threads, const char *folder)
{
	assert(threads);
	struct sorted *s = mem_take0(1, sizeof *s);
	s->spools = mem_take0(threads, sizeof *s->spools);
	s->threads = threads;
	s->folder = mem_copy_string(folder);
	return s;
}

static void close_file(void *f)
{
	fclose(f);
}

static void spool_free(struct spool *s)
{
	for (size_t i = 0; i < s->count; i++) free(s->pieces[i].branch);
	free(s->pieces);
	if (!s->file) return;
	mem_let_go(s->file);
	fclose(s->file);
}

void sorted_free(struct sorted *s)
{
	if (!s) return;
	for (unsigned i = 0; i < s->threads; i++) spool_free(&s->spools[i]);
	free(s->spools);
	free(s->folder);
	free(s);
}

/* ---- writing ---- */

/* Not tmpfile(), which chooses the folder: there may be a lot to write. */
static FILE *open_temporary(const char *folder)
{
	struct text path = { 0 };
	text_format(&path, "%s/isoscope-XXXXXX", folder);
	int number = mkostemp(path.data, O_CLOEXEC);
	if (number >= 0) unlink(path.data);
	text_free(&path);
	FILE *f = number < 0 ? NULL : fdopen(number, "w+");
	if (f) mem_hold(f, close_file);
	if (!f && number >= 0) close(number);
	return f;
}

static void begin_piece(struct spool *s, const struct explore_execution *e)
{
	const struct branch *b = e->branch;
	assert(b && s->file);
	if (s->count && s->branch_number == e->branch_number) return;
	s->branch_number = e->branch_number;
	VEC_RESERVE(s->pieces, s->count, s->capacity);
	s->pieces[s->count++] = (struct piece){
		.branch = branch_new(b->kind, b->path, b->path_length, NULL, 0),
		.file = s->file,
		.from = (off_t)s->written,
	};
}

static bool failed(struct spool *s)
{
	s->failure = errno ? errno : EIO;
	return false;
}

bool sorted_add(struct sorted *s, const struct explore_execution *e,
                const struct text *line)
{
	assert(e->worker < s->threads && line->length);
	struct spool *spool = &s->spools[e->worker];
	errno = 0;
	if (!spool->file && !(spool->file = open_temporary(s->folder)))
		return failed(spool);
	begin_piece(spool, e);
	if (fwrite(line->data, 1, line->length, spool->file) != line->length)
		return failed(spool);
	spool->written += line->length;
	spool->pieces[spool->count - 1].length += line->length;
	return true;
}

/* ---- putting in order ---- */

static int in_order(const void *a, const void *b)
{
	const struct piece *const *x = a, *const *y = b;
	return branch_compare((*x)->branch, (*y)->branch);
}

static struct piece **all_pieces(const struct sorted *s, size_t *count)
{
	*count = 0;
	for (unsigned i = 0; i < s->threads; i++) *count += s->spools[i].count;
	struct piece **pieces = mem_take0(*count + 1, sizeof(struct piece *));
	for (unsigned i = 0, n = 0; i < s->threads; i++)
		for (size_t j = 0; j < s->spools[i].count; j++)
			pieces[n++] = &s->spools[i].pieces[j];
	qsort(pieces, *count, sizeof *pieces, in_order);
	return pieces;
}

static bool copy(const struct piece *p, FILE *to)
{
	assert(p->file && p->length);
	char buffer[1 << 16];
	uint64_t left = p->length;
	if (fseeko(p->file, p->from, SEEK_SET)) return false;
	while (left && !ferror(to)) {
		size_t wanted =
			left < sizeof buffer ? (size_t)left : sizeof buffer;
		size_t got = fread(buffer, 1, wanted, p->file);
		if (!got) return false;
		fwrite(buffer, 1, got, to);
		left -= got;
	}
	return true;
}

static bool temporary_failed(const struct sorted *s, int reason,
                             struct problem *p)
{
	return problem_set(p, PROBLEM_SYSTEM,
	                   "cannot keep histories in a temporary file in %s: "
	                   "%s (set TMPDIR to use another folder)",
	                   s->folder, strerror(reason));
}

/* All that was written arrives. */
static bool flush(struct sorted *s, struct problem *p)
{
	for (unsigned i = 0; i < s->threads; i++) {
		struct spool *spool = &s->spools[i];
		errno = 0;
		if (spool->file && !spool->failure && fflush(spool->file))
			failed(spool);
		if (spool->failure)
			return temporary_failed(s, spool->failure, p);
	}
	return true;
}

bool sorted_write(struct sorted *s, FILE *to, struct problem *p)
{
	size_t count;
	bool fine = true;
	if (!flush(s, p)) return false;
	struct piece **pieces = all_pieces(s, &count);
	errno = 0;
	for (size_t i = 0; i < count && fine; i++) fine = copy(pieces[i], to);
	if (!fine) temporary_failed(s, errno ? errno : EIO, p);
	free(pieces);
	return fine;
}
