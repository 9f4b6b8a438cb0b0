#include "distribute/merge.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "distribute/unit_files.h"
#include "distribute/unit.h"
#include "dpor/tally.h"

enum { ERRORS_SHOWN = 20 };

enum kind { KIND_SPLIT, KIND_UNIT, KIND_RESULT };

struct file {
	enum kind kind;
	char *path;
	struct unit *unit;
	bool reached; /* from the whole, over splits, or stood for by others */
	bool counts;  /* it is to be added */
};

struct merger {
	struct file *files;
	size_t count, capacity;
	char *folder; /* the first one, for messages */
	bool partial;
	size_t parts, finished;
	struct diags *diags;
	size_t hidden; /* errors not shown */
};

struct merger *merger_new(void)
{
	return mem_take0(1, sizeof(struct merger));
}

void merger_free(struct merger *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->files[i].path);
		unit_free(m->files[i].unit);
	}
	free(m->files);
	free(m->folder);
	free(m);
}

/* ---- reading ---- */

static enum kind kind_of(const char *word, const struct unit *u)
{
	assert(word && u);
	if (u->parts_split) return KIND_SPLIT;
	return strcmp(word, "unit") ? KIND_RESULT : KIND_UNIT;
}

static bool add_file(struct merger *m, const char *folder, const char *name,
                     struct diags *d)
{
	struct text path = { 0 };
	text_format(&path, "%s/%s", folder, name);
	struct unit *u = unit_read(text_get(&path), d);
	if (u) {
		VEC_RESERVE(m->files, m->count, m->capacity);
		m->files[m->count++] = (struct file){
			.kind = kind_of(unit_file_kind(name), u),
			.path = mem_copy_string(text_get(&path)),
			.unit = u,
		};
	}
	text_free(&path);
	return u;
}

struct names {
	char **items;
	size_t count, capacity;
};

static int compare_names(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

static void close_folder(void *folder)
{
	closedir(folder);
}

/* The files of a split in the folder, by name. */
static bool list(struct names *n, const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *e;
	if (!folder) return false;
	mem_hold(folder, close_folder);
	while ((e = readdir(folder)) != NULL) {
		if (!unit_file_kind(e->d_name)) continue;
		VEC_RESERVE(n->items, n->count, n->capacity);
		n->items[n->count++] = mem_copy_string(e->d_name);
	}
	mem_let_go(folder);
	closedir(folder);
	if (n->count)
		qsort(n->items, n->count, sizeof *n->items, compare_names);
	return true;
}

bool merger_add(struct merger *m, const char *folder, struct diags *d)
{
	struct names names = { 0 };
	bool fine = list(&names, folder);
	if (!fine)
		diags_add(d, DIAG_ERROR, folder, 0, 0, NULL,
		          "cannot read this folder: %s", strerror(errno));
	for (size_t i = 0; i < names.count; i++) {
		if (d->errors < ERRORS_SHOWN &&
		    !add_file(m, folder, names.items[i], d))
			fine = false;
		free(names.items[i]);
	}
	free(names.items);
	if (!m->folder) m->folder = mem_copy_string(folder);
	return fine;
}

/* ---- checking ---- */

static void complain(struct merger *m, const char *path, struct text *what)
{
	if (m->diags->errors < ERRORS_SHOWN)
		diags_add(m->diags, DIAG_ERROR, path, 0, 0, NULL, "%s",
		          text_get(what));
	else
		m->hidden++;
	text_free(what);
}

static bool is_of(const struct file *f, enum kind kind, const char *id)
{
	return f->kind == kind && !strcmp(f->unit->id, id);
}

/* The first file of this kind for the unit, from `at` on; NULL: none. */
static struct file *find(struct merger *m, enum kind kind, const char *id,
                         size_t at)
{
	for (size_t i = at; i < m->count; i++)
		if (is_of(&m->files[i], kind, id)) return &m->files[i];
	return NULL;
}

static size_t behind(const struct merger *m, const struct file *f)
{
	assert(f >= m->files && f < m->files + m->count);
	return (size_t)(f - m->files) + 1;
}

/* The one file of this kind for the unit; a second one is complained about. */
static struct file *find_one(struct merger *m, enum kind kind, const char *id)
{
	struct text t = { 0 };
	struct file *f = find(m, kind, id, 0);
	struct file *other = f ? find(m, kind, id, behind(m, f)) : NULL;
	for (; other; other = find(m, kind, id, behind(m, other))) {
		other->reached = true;
		text_format(
			&t,
			kind == KIND_SPLIT
				? "%s%s was split here and in %s as well; name "
				  "the "
				  "folder of one of them only"
				: "%s%s has a result here and in %s as well; "
				  "remove one of them",
			*id ? "unit " : "the program", id, f->path);
		complain(m, other->path, &t);
	}
	return f;
}

/* Is the file a part of this split, of the same exploration? */
static bool belongs(struct merger *m, struct file *f, const struct unit *split)
{
	struct text t = { 0 };
	struct text why = { 0 };
	assert(split->parts_split);
	f->reached = true;
	if (!task_equal(&f->unit->task, &split->task, &why))
		text_format(&t,
		            "this is not part of the same exploration: it "
		            "is %s",
		            text_get(&why));
	else if (f->unit->split != split->parts_split)
		text_format(&t,
		            "this belongs to another split: to number "
		            "%016" PRIx64 ", not %016" PRIx64 "; remove it, "
		            "and explore unit %s again",
		            f->unit->split, split->parts_split, f->unit->id);
	text_free(&why);
	if (!t.length) return true;
	complain(m, f->path, &t);
	return false;
}

static void explore_it(struct text *t, const struct file *split, const char *id)
{
	text_string(t, "isoscope explore --unit ");
	unit_file_beside(t, split->path, "unit", id);
}

/* There is no result: with `partial`, nothing of the unit was found. */
static void miss(struct merger *m, const struct file *split, const char *id)
{
	struct text t = { 0 };
	struct file *unit = find(m, KIND_UNIT, id, 0);
	if (m->partial && unit) {
		unit->counts = belongs(m, unit, split->unit);
		return;
	}
	text_format(&t, "unit %s of %" PRIu32 " has no result", id,
	            split->unit->parts);
	text_string(&t, m->partial ? ", and its file is missing; split again"
	                           : "; explore it: ");
	if (!m->partial) explore_it(&t, split, id);
	complain(m, split->path, &t);
}

static void check_result(struct merger *m, const struct file *split,
                         struct file *f)
{
	struct text t = { 0 };
	assert(f->kind == KIND_RESULT && split->kind == KIND_SPLIT);
	f->counts = belongs(m, f, split->unit);
	if (!f->counts) return;
	if (unit_is_finished(f->unit)) {
		m->finished++;
		return;
	}
	if (m->partial) return;
	text_format(&t,
	            "unit %s is not finished (%s); continue it: ", f->unit->id,
	            stop_file_word(f->unit->found.stats.stop));
	explore_it(&t, split, f->unit->id);
	complain(m, f->path, &t);
}

static void check_split(struct merger *m, struct file *split);

/* A unit that was split: its parts stand for it, and for what somebody has
 * begun to explore of it. */
static void check_parts(struct merger *m, const struct file *split,
                        struct file *sub)
{
	struct text t = { 0 };
	assert(sub->kind == KIND_SPLIT && sub->unit->parts_split);
	struct file *result = find(m, KIND_RESULT, sub->unit->id, 0);
	for (; result;
	     result = find(m, KIND_RESULT, sub->unit->id, behind(m, result))) {
		result->reached = true;
		if (!unit_is_finished(result->unit)) continue;
		text_format(&t,
		            "unit %s was explored as a whole, and it was "
		            "split as well (%s); remove one of them",
		            sub->unit->id, sub->path);
		complain(m, result->path, &t);
	}
	if (belongs(m, sub, split->unit)) check_split(m, sub);
}

static void check_split(struct merger *m, struct file *split)
{
	struct text id = { 0 };
	assert(split->kind == KIND_SPLIT && !split->counts);
	split->reached = split->counts = true;
	for (uint32_t i = 1; i <= split->unit->parts; i++) {
		text_clear(&id);
		text_format(&id, *split->unit->id ? "%s.%u" : "%s%u",
		            split->unit->id, (unsigned)i);
		struct file *sub = find_one(m, KIND_SPLIT, text_get(&id));
		if (sub) {
			check_parts(m, split, sub);
			continue;
		}
		struct file *f = find_one(m, KIND_RESULT, text_get(&id));
		m->parts++;
		if (f)
			check_result(m, split, f);
		else
			miss(m, split, text_get(&id));
	}
	text_free(&id);
}

/* What nothing led to. */
static void check_rest(struct merger *m, const struct unit *whole)
{
	for (size_t i = 0; i < m->count; i++) {
		struct file *f = &m->files[i];
		struct text t = { 0 };
		if (f->reached || f->kind == KIND_UNIT) continue;
		if (!belongs(m, f, whole)) continue;
		text_format(&t,
		            "there is no unit %s in this split; remove "
		            "the file",
		            f->unit->id);
		complain(m, f->path, &t);
	}
}

static bool end_of_complaints(struct merger *m)
{
	if (m->hidden)
		diags_add(m->diags, DIAG_NOTE, NULL, 0, 0, NULL,
		          "%zu more %s not shown", m->hidden,
		          m->hidden == 1 ? "error is" : "errors are");
	return !m->diags->errors;
}

bool merger_check(struct merger *m, bool partial, struct diags *d)
{
	struct text t = { 0 };
	m->partial = partial;
	m->diags = d;
	struct file *whole = find_one(m, KIND_SPLIT, "");
	if (!whole) {
		text_format(&t, "there is no split.json in this folder%s",
		            m->count ? ", which says what the whole is; name "
		                       "the folder of the first split as well"
		                     : "; make it with isoscope split PROGRAM "
		                       "-n K -o DIR");
		complain(m, m->folder, &t);
		return false;
	}
	check_split(m, whole);
	check_rest(m, whole->unit);
	return end_of_complaints(m);
}

/* ---- adding ---- */

const struct task *merger_task(const struct merger *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (is_of(&m->files[i], KIND_SPLIT, ""))
			return &m->files[i].unit->task;
	assert(false);
	return NULL;
}

size_t merger_parts(const struct merger *m)
{
	return m->parts;
}

size_t merger_finished(const struct merger *m)
{
	return m->finished;
}

static bool add(const struct unit *u, const struct program *p,
                struct tally *found, struct branch_list *open)
{
	struct tally one;
	bool fits = results_file_tally(&u->found, p, &one);
	if (fits) {
		if (!u->open.count && u->found.stats.stop != STOP_STALE &&
		    u->found.stats.stop != STOP_BOUND)
			one.stats.stop = STOP_NONE;
		tally_add(found, &one);
		branch_list_copy(open, &u->open);
	}
	tally_free(&one);
	return fits;
}

bool merger_sum(const struct merger *m, const struct program *p,
                struct tally *found, struct branch_list *open, struct diags *d)
{
	assert(m->finished <= m->parts);
	for (size_t i = 0; i < m->count; i++) {
		const struct file *f = &m->files[i];
		if (!f->counts || add(f->unit, p, found, open)) continue;
		diags_add(d, DIAG_ERROR, f->path, 0, 0, NULL,
		          "what was found here is nothing that the program can "
		          "do; explore the unit again");
		return false;
	}
	branch_list_sort(open);
	return true;
}
