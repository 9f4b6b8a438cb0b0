#include "repair/edits.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/level_words.h"
#include "base/memory.h"
#include "base/paths.h"
#include "compile/load.h"
#include "dpor/known_rows.h"
#include "repair/accesses.h"
#include "repair/edits_parts.h"
#include "sql/load.h"
#include "vm/program.h"

/* ---- what there is to change ---- */

/* The key as it is written. */
static const char *key_of(struct edits *e, const struct expr *key)
{
	assert(key->at < key->end && key->end <= e->files[key->source].length);
	return region_copy_string(&e->region,
	                          e->files[key->source].text + key->at,
	                          key->end - key->at);
}

/* Each level that it can have of its own, but the one it has. */
static void add_transaction_edits(struct edits *e, uint32_t t,
                                  const struct block *b)
{
	const struct edit_transaction *x = &e->transactions[t];
	assert(t < e->transaction_count);
	enum level own = x->own ? (enum level)(x->own - 1) : e->terms.level;
	if (x->fixed || !level_mixes(e->terms.level)) return;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (l == own || !level_mixes(l)) continue;
		struct edit *i = edits_add(e, EDIT_TRANSACTION,
		                           e->terms.weights.transaction[l]);
		i->transaction = t;
		i->level = l;
		i->source = b->at.source;
		i->offset = b->level ? b->level_at.offset : b->at.offset;
		i->removed = b->level ? b->level->length : 0;
		i->text = b->level ? edits_text(e, "", level_word(l), "")
		                   : edits_text(e, "at ", level_word(l), " ");
	}
}

/* Does the transaction of the read, or any that runs, write that key or another
 * of its family? */
static bool is_written(const struct edits *e, const struct access *read,
                       bool by_it)
{
	const struct accesses *a = e->accesses;
	const struct expr *k = read->key;
	assert(!read->write && read->transaction < a->transaction_count);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct access *x = &a->items[i];
		if (!x->write || x->key->kind != k->kind) continue;
		if (by_it ? x->transaction != read->transaction
		          : !a->transactions[x->transaction].runs &&
		                    !e->terms.uncalled)
			continue;
		if (k->kind == EXPR_INDEX ? x->key->family == k->family
		                          : x->key->item == k->item)
			return true;
	}
	return false;
}

/* Not where nobody writes: such locks would be shared, and keep nobody out. */
static void add_lock_edits(struct edits *e)
{
	const struct accesses *a = e->accesses;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct access *x = &a->items[i];
		if (x->write || x->fixed || x->strength != STRENGTH_PLAIN ||
		    e->transactions[x->transaction].fixed)
			continue;
		if (!is_written(e, x, false)) continue;
		bool writes = e->terms.locks_write || is_written(e, x, true);
		enum strength lock = writes ? STRENGTH_UPDATE : STRENGTH_SHARE;
		struct edit *new =
			edits_add(e, EDIT_LOCK, e->terms.weights.lock[lock]);
		new->transaction = x->transaction;
		new->read = i;
		new->strength = lock;
		new->source = x->source;
		new->offset = x->offset;
		new->key = key_of(e, x->key);
		new->text = edits_text(e, "", strength_word(lock), " ");
	}
}

static void add_atomic_edits(struct edits *e)
{
	const struct accesses *a = e->accesses;
	for (uint32_t i = 0; i < a->update_count; i++) {
		const struct access_update *u = &a->updates[i];
		uint32_t source = u->target->source;
		if (e->transactions[a->items[u->read].transaction].fixed)
			continue;
		assert(u->begin <= u->second &&
		       u->target->at <= u->target->end);
		assert(u->second <= e->files[source].length);
		struct edit *new =
			edits_add(e, EDIT_ATOMIC, e->terms.weights.atomic);
		new->transaction = a->items[u->read].transaction;
		new->read = u->read;
		new->write = u->write;
		new->source = source;
		new->offset = u->begin;
		new->removed = u->second - u->begin;
		new->moves = u->moves;
		new->key = key_of(e, u->target);
		new->text = edits_text(e, "atomic ", new->key,
		                       u->minus ? " += -" : " += ");
	}
}

static void add_program_edits(struct edits *e, const struct syntax *tree)
{
	const struct item *said = NULL;
	uint32_t own = 0, counted = 0;
	for (const struct item *i = tree->first; i; i = i->next)
		if (i->kind == ITEM_ISOLATION) said = i;
	for (uint32_t t = 0; t < e->transaction_count; t++) {
		own += e->transactions[t].own != 0;
		counted += !e->transactions[t].fixed;
	}
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (l == e->terms.level || (own && !level_mixes(l))) continue;
		struct edit *i = edits_add(e, EDIT_PROGRAM,
		                           e->terms.weights.program[l] *
		                                   (counted ? counted : 1));
		i->level = l;
		if (e->terms.level_said) {
			i->text = edits_text(e, "", "", "");
		} else if (said) {
			i->source = said->at.source;
			i->offset = said->at.offset;
			i->removed = said->name->length;
			i->text = edits_text(e, "", level_word(l), "");
		} else {
			i->text = edits_text(e, "isolation ", level_word(l),
			                     ";\n");
		}
	}
}

/* ---- reading the program ---- */

static void take_transactions(struct edits *e, struct sources *all)
{
	uint32_t n = e->accesses->transaction_count;
	e->transaction_count = n;
	e->transactions = mem_take0(n + (size_t)1, sizeof *e->transactions);
	for (uint32_t t = 0; t < n; t++) {
		const struct access_transaction *x =
			&e->accesses->transactions[t];
		const struct symbol *level = x->body->level;
		e->transactions[t] = (struct edit_transaction){
			.name = x->name ? region_copy_string(&e->region,
			                                     x->name->text,
			                                     x->name->length)
			                : NULL,
			.source = x->at.source,
			.line = source_position(all, x->at).line,
			.own = level ? (own_level)(level_number(level->text) +
			                           1)
			             : 0,
			.fixed = x->last || (!x->runs && !e->terms.uncalled),
		};
	}
}

static void look(void *data, const struct syntax *tree, struct sources *all)
{
	struct edits *e = data;
	edits_copy_files(e, all);
	accesses_find(e->accesses, tree, all);
	take_transactions(e, all);
	add_lock_edits(e);
	add_atomic_edits(e);
	for (uint32_t t = 0; t < e->transaction_count; t++)
		add_transaction_edits(e, t, e->accesses->transactions[t].body);
	add_program_edits(e, tree);
	/* The tree goes. */
	for (uint32_t t = 0; t < e->transaction_count; t++)
		e->accesses->transactions[t].body = NULL;
}

struct edits *edits_new(const char *path, const struct edit_terms *terms,
                        struct diags *d)
{
	struct edits *e = mem_take0(1, sizeof *e);
	struct load_edited x = { .given = terms->given,
		                 .transactions = terms->uncalled,
		                 .look = look,
		                 .data = e };
	assert(terms->level < LEVEL_COUNT);
	e->accesses = mem_take0(1, sizeof *e->accesses);
	region_init(&e->region);
	e->path = region_copy_string(&e->region, path, strlen(path));
	e->terms = *terms;
	struct program *p = load_program_edited(path, &x, d);
	if (!p) {
		edits_free(e);
		return NULL;
	}
	e->sql = program_is_sql(p);
	e->terms.ssi |= e->sql;
	e->checks = program_checks(p);
	if (e->sql) edits_find_sql(e, p);
	program_free(p);
	return e;
}

void edits_free(struct edits *e)
{
	if (!e) return;
	if (e->accesses) accesses_free(e->accesses);
	free(e->accesses);
	free(e->transactions);
	free(e->items);
	region_free(&e->region);
	free(e);
}

bool edits_are_ssi(const struct edits *e)
{
	return e->terms.ssi;
}

bool edits_say_level(const struct edits *e)
{
	return e->terms.level_said;
}

uint32_t edits_count(const struct edits *e)
{
	return e->count;
}

const struct edit *edits_get(const struct edits *e, uint32_t i)
{
	assert(i < e->count);
	return &e->items[i];
}

uint32_t edits_transaction_count(const struct edits *e)
{
	return e->transaction_count;
}

const struct edit_transaction *edits_transaction(const struct edits *e,
                                                 uint32_t i)
{
	assert(i < e->transaction_count);
	return &e->transactions[i];
}

const char *edits_file(const struct edits *e, uint32_t source)
{
	assert(source < e->file_count);
	return e->files[source].path;
}

/* ---- sets of edits ---- */

static enum level before(const struct edits *e, const struct edit *i)
{
	own_level own = i->kind == EDIT_TRANSACTION
	                        ? e->transactions[i->transaction].own
	                        : 0;
	return own ? (enum level)(own - 1) : e->terms.level;
}

/* A snapshot for the whole transaction forbids all that one for each statement
 * does, but that reads which lock may find versions newer than it. */
static bool is_stronger(const struct edits *e, enum level strong,
                        enum level weak)
{
	bool implies = e->checks ? level_implies_checks(strong, weak)
	                         : level_implies(strong, weak);
	return implies ||
	       (level_has_snapshots(strong) && level_excludes_rivals(strong) &&
	        level_has_statements(weak));
}

bool edits_strengthen(const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	if (x->level == LEVEL_COUNT) return true;
	return is_stronger(e, x->level, before(e, x));
}

bool edits_weaken(const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	return x->level != LEVEL_COUNT &&
	       is_stronger(e, before(e, x), x->level);
}

/* Do they change the same text? */
static bool overlap(const struct edit *x, const struct edit *y)
{
	return x->source == y->source && x->offset < y->offset + y->removed &&
	       y->offset < x->offset + x->removed;
}

bool edits_join(const struct edits *e, uint32_t a, uint32_t b)
{
	const struct edit *x = edits_get(e, a), *y = edits_get(e, b);
	if (x->kind > y->kind) {
		const struct edit *z = x;
		x = y;
		y = z;
	}
	assert(a != b && x->kind <= y->kind);
	if (overlap(x, y) || x->mutex != y->mutex) return false;
	if (x->kind == EDIT_LOCK && y->kind == EDIT_ATOMIC)
		return x->read != y->read;
	if (x->kind == EDIT_TRANSACTION && y->kind == EDIT_TRANSACTION)
		return x->transaction != y->transaction;
	if (y->kind != EDIT_PROGRAM) return true;
	if (x->kind == EDIT_PROGRAM) return false;
	return x->kind != EDIT_TRANSACTION ||
	       (level_mixes(y->level) && !is_stronger(e, y->level, x->level));
}

bool edits_imply(const struct edits *e, uint32_t a, uint32_t b)
{
	const struct edit *x = edits_get(e, a), *y = edits_get(e, b);
	if (a == b) return true;
	if (x->level == LEVEL_COUNT || y->level == LEVEL_COUNT) return false;
	if (!is_stronger(e, x->level, y->level)) return false;
	if (x->kind == EDIT_PROGRAM)
		return y->kind == EDIT_PROGRAM ||
		       !e->transactions[y->transaction].own;
	return y->kind == EDIT_TRANSACTION && x->transaction == y->transaction;
}

enum level edits_level(const struct edits *e, struct edit_set s)
{
	for (uint32_t i = 0; i < s.count; i++) {
		const struct edit *x = edits_get(e, s.items[i]);
		if (x->kind == EDIT_PROGRAM) return x->level;
	}
	return e->terms.level;
}

/* ---- the text ---- */

static int compare_places(const void *a, const void *b)
{
	const struct edit *const *x = a, *const *y = b;
	if ((*x)->source != (*y)->source)
		return (*x)->source < (*y)->source ? -1 : 1;
	if ((*x)->offset != (*y)->offset)
		return (*x)->offset < (*y)->offset ? -1 : 1;
	/* A level is said first; what takes the place of something comes behind
	 * what is put before it. */
	int level = ((*y)->kind == EDIT_TRANSACTION) -
	            ((*x)->kind == EDIT_TRANSACTION);
	return level ? level : (int)(*x)->kind - (int)(*y)->kind;
}

/* In the order of their places; malloc'ed. */
static const struct edit **sorted(const struct edits *e, struct edit_set s)
{
	const struct edit **all = mem_take0(s.count + 1, sizeof *all);
	for (uint32_t i = 0; i < s.count; i++)
		all[i] = edits_get(e, s.items[i]);
	qsort(all, s.count, sizeof *all, compare_places);
	return all;
}

/* The bytes of the file from `at` to `end`, which no edit crosses, as they are
 * then. */
static void print_edited(struct text *t, const struct edits *e,
                         const struct edit *const *all, uint32_t count,
                         uint32_t source, size_t at, size_t end)
{
	const struct edit_file *f = &e->files[source];
	for (uint32_t i = 0; i < count; i++) {
		assert(!i || compare_places(&all[i - 1], &all[i]) <= 0);
		const struct edit *x = all[i];
		if (x->source != source || x->offset < at || x->offset >= end)
			continue;
		text_bytes(t, f->text + at, x->offset - at);
		text_string(t, x->text);
		at = x->offset + x->removed;
	}
	assert(at <= end);
	text_bytes(t, f->text + at, end - at);
}

static void look_again(void *data, const struct syntax *tree,
                       struct sources *all)
{
	struct accesses *a = data;
	accesses_find(a, tree, all);
	/* The tree goes. */
	a->transaction_count = 0;
}

/* Of a program in SQL the text says the level, unless the command line does,
 * for all of its transactions. */
static void know_sql(const struct edits *e, struct edited *x)
{
	const char *word = program_isolation(x->program);
	if (e->terms.level_said)
		sql_drop_levels(x->program);
	else if (word)
		x->level = level_from_word(word);
	explorer_know_rows(x->program, NULL, 0);
}

uint32_t edits_file_count(const struct edits *e)
{
	return (uint32_t)e->file_count;
}

void edits_texts(const struct edits *e, struct edit_set s, struct text *texts)
{
	const struct edit **all = sorted(e, s);
	for (uint32_t i = 0; i < e->file_count; i++)
		print_edited(&texts[i], e, all, s.count, i, 0,
		             e->files[i].length);
	free(all);
}

struct edited edits_make(const struct edits *e, struct edit_set s)
{
	struct load_text *texts = mem_take0(e->file_count, sizeof *texts);
	struct text *new = mem_take0(e->file_count, sizeof *new);
	edits_texts(e, s, new);
	for (uint32_t i = 0; i < e->file_count; i++)
		texts[i] =
			(struct load_text){ e->files[i].path, text_get(&new[i]),
			                    new[i].length };
	struct edited out = { .accesses = mem_take0(1, sizeof *out.accesses) };
	struct load_edited x = { .texts = texts,
		                 .count = e->file_count,
		                 .given = e->terms.given,
		                 .locks_write = e->terms.locks_write,
		                 .look = look_again,
		                 .data = out.accesses };
	struct diags d = { 0 };
	out.program = load_program_edited(e->path, &x, &d);
	/* What the language says of places where nothing can lock is heeded,
	 * but it may say more. */
	if (!out.program || out.accesses->count != e->accesses->count)
		edited_free(&out);
	out.level = edits_level(e, s);
	if (out.program && e->terms.ssi) program_be_ssi(out.program);
	if (out.program && e->sql) know_sql(e, &out);
	diags_free(&d);
	for (size_t i = 0; i < e->file_count; i++) text_free(&new[i]);
	free(new);
	free(texts);
	return out;
}

void edited_free(struct edited *x)
{
	program_free(x->program);
	if (x->accesses) accesses_free(x->accesses);
	free(x->accesses);
	*x = (struct edited){ 0 };
}

/* ---- diffs ---- */

static size_t line_begin(const struct edit_file *f, size_t at)
{
	while (at && f->text[at - 1] != '\n') at--;
	return at;
}

/* Behind its line end. */
static size_t line_end(const struct edit_file *f, size_t at)
{
	while (at < f->length && f->text[at] != '\n') at++;
	return at < f->length ? at + 1 : at;
}

uint32_t edits_line_at(const struct edit_file *f, size_t at)
{
	uint32_t n = 1;
	for (size_t i = 0; i < at; i++) n += f->text[i] == '\n';
	return n;
}

uint32_t edits_line(const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	return edits_line_at(&e->files[x->source], x->offset);
}

uint32_t edits_column(const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	size_t begin = line_begin(&e->files[x->source], x->offset);
	return (uint32_t)(x->offset - begin) + 1;
}

/* Lines behind a sign, of which the last may lack its end. */
static void print_lines(struct text *t, const char *lines, size_t length,
                        unsigned indent, char sign)
{
	for (size_t i = 0; i < length;) {
		const char *end = memchr(lines + i, '\n', length - i);
		size_t n = end ? (size_t)(end - lines) - i : length - i;
		text_pad(t, ' ', indent);
		text_char(t, sign);
		text_bytes(t, lines + i, n);
		text_char(t, '\n');
		if (!end) {
			text_pad(t, ' ', indent);
			text_string(t, "\\ No newline at end of file\n");
		}
		i += n + 1;
	}
}

static uint32_t count_lines(const char *text, size_t length)
{
	uint32_t n = 0;
	for (size_t i = 0; i < length; i++)
		n += text[i] == '\n' || i + 1 == length;
	return n;
}

/* "15", or "15,2"; of none the line before. */
static void print_range(struct text *t, uint32_t line, uint32_t count)
{
	text_format(t, "%" PRIu32, count ? line : line - 1);
	if (count != 1) text_format(t, ",%" PRIu32, count);
}

/* Does the path lead out of where isoscope was started? */
static bool leads_out(const char *path)
{
	struct text clean = { 0 };
	path_shortest(&clean, path);
	const char *name = text_get(&clean);
	bool out = *name == '/' || !strcmp(name, "..") ||
	           !strncmp(name, "../", 3) || strstr(name, "/../");
	text_free(&clean);
	return out;
}

bool edits_are_rooted(const struct edits *e)
{
	for (uint32_t i = 0; i < e->file_count; i++)
		if (leads_out(e->files[i].path)) return true;
	return false;
}

/* As patch -p1 takes it, which goes nowhere above where it starts. */
static void print_file(struct text *t, const char *path, bool rooted,
                       unsigned indent)
{
	struct text clean = { 0 };
	path_shortest(&clean, path);
	const char *name = text_get(&clean);
	char real[PATH_MAX];
	bool named = *name == '/' && !strstr(name, "/../");
	if (rooted && !named && realpath(path, real)) name = real;
	name += strspn(name, "/");
	text_pad(t, ' ', indent);
	text_format(t, "--- a/%s\n", name);
	text_pad(t, ' ', indent);
	text_format(t, "+++ b/%s\n", name);
	text_free(&clean);
}

/* Lines of the file from `at` to `end`, and those in their place. */
struct hunk {
	size_t at, end;
	const char *new;
	size_t length;
};

/* What both end with is left out where nothing but lines before it are new.
 * False if nothing is. */
static bool shorten(const struct edit_file *f, struct hunk *h, size_t first)
{
	size_t same = 0, old = h->end - h->at;
	while (same < h->length && same < old &&
	       h->new[h->length - 1 - same] == f->text[h->end - 1 - same])
		same++;
	if (same == old && first == h->at) {
		h->end = h->at;
		h->length -= same;
	}
	return same != old || h->length;
}

void edits_diff(struct text *t, const struct edits *e, struct edit_set s,
                unsigned indent)
{
	const struct edit **all = sorted(e, s);
	const struct edit_file *in = NULL;
	int64_t longer = 0; /* by so many lines, the file so far */
	bool rooted = edits_are_rooted(e);
	for (uint32_t i = 0, last; i < s.count; i = last) {
		const struct edit_file *f = &e->files[all[i]->source];
		size_t at = line_begin(f, all[i]->offset);
		size_t end = line_end(f, all[i]->offset + all[i]->removed);
		for (last = i + 1;
		     last < s.count && all[last]->source == all[i]->source &&
		     all[last]->offset < end;
		     last++)
			end = line_end(f,
			               all[last]->offset + all[last]->removed);
		struct text new = { 0 };
		print_edited(&new, e, all, s.count, all[i]->source, at, end);
		struct hunk h = { at, end, text_get(&new), new.length };
		assert(at < end && end <= f->length);
		if (shorten(f, &h, all[i]->offset)) {
			uint32_t line = edits_line_at(f, at);
			uint32_t old = count_lines(f->text + at, h.end - at);
			uint32_t count = count_lines(h.new, h.length);
			if (f != in) print_file(t, f->path, rooted, indent);
			if (f != in) longer = 0;
			in = f;
			text_pad(t, ' ', indent);
			text_string(t, "@@ -");
			print_range(t, line, old);
			text_string(t, " +");
			print_range(t, (uint32_t)(line + longer), count);
			text_string(t, " @@\n");
			print_lines(t, f->text + at, h.end - at, indent, '-');
			print_lines(t, h.new, h.length, indent, '+');
			longer += (int64_t)count - old;
		}
		text_free(&new);
	}
	free(all);
}
