/* The text of a unit. docs/distribution.md describes it. */
#include <assert.h>
#include <inttypes.h>

#include "base/hash.h"
#include "base/json.h"
#include "distribute/seal.h"
#include "distribute/unit.h"

/* Numbers of JSON are read as signed ones of 64 bits. */
static void write_number(struct json *j, const char *name, uint64_t n)
{
	text_format(json_value(j, name),
	            n > INT64_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, n);
}

static void write_hash(struct json *j, const char *name, uint64_t h)
{
	text_format(json_value(j, name), "\"%016" PRIx64 "\"", h);
}

static void write_task(struct json *j, const struct task *k)
{
	json_line(j);
	json_open(j, "program", '{');
	json_text(j, "path", k->program);
	json_text(j, "given", k->given);
	write_hash(j, "hash", k->digest);
	json_count(j, "sessions", k->sessions);
	json_close(j);
	json_line(j);
	json_open(j, "options", '{');
	json_text(j, "algorithm", explorer_algorithm_word(k->algorithm));
	json_text(j, "isolation", level_word(k->level));
	json_text(j, "base", level_word(k->base));
	json_bool(j, "robust", k->robust);
	json_bool(j, "classify", k->classify);
	json_bool(j, "symmetry", k->symmetry);
	if (k->max_changes == UINT64_MAX)
		json_text(j, "max_changes", NULL);
	else
		write_number(j, "max_changes", k->max_changes);
	write_number(j, "max_transactions", k->bounds.transactions);
	write_number(j, "max_accesses", k->bounds.accesses);
	json_text(j, "sessions_order", k->order);
	json_close(j);
}

static void write_words(struct json *j, const char *name, const uint32_t *words,
                        size_t count)
{
	json_open(j, name, '[');
	for (size_t i = 0; i < count; i++) json_count(j, NULL, words[i]);
	json_close(j);
}

static void write_branch(struct json *j, const char *name,
                         const struct branch *b)
{
	assert(b->kind < BRANCH_KIND_COUNT);
	json_open(j, name, '{');
	json_text(j, "kind", branch_kind_word(b->kind));
	write_words(j, "path", b->path, b->path_length);
	write_words(j, "script", b->script, b->script_length);
	json_close(j);
}

static void write_levels(struct json *j, const uint64_t *per_level)
{
	json_open(j, "per_level", '[');
	for (int l = 0; l < LEVEL_COUNT; l++)
		write_number(j, NULL, per_level[l]);
	json_close(j);
}

static void write_stats(struct json *j, const struct explore_stats *s)
{
	assert(s->stop < STOP_TOO_LARGE);
#define COUNT(name) write_number(j, #name, s->name);
	RESULTS_FILE_COUNTS(COUNT)
#undef COUNT
	json_seconds(j, "seconds", s->seconds);
	json_seconds(j, "cpu_seconds", s->cpu_seconds);
	json_text(j, "stop", stop_file_word(s->stop));
	write_levels(j, s->per_level);
}

static void write_slot(struct json *j, const struct results_file_slot *s)
{
	json_line(j);
	json_open(j, NULL, '{');
	json_count(j, "slot", s->slot);
	write_number(j, "histories", s->histories);
	write_levels(j, s->per_level);
	if (s->where)
		write_branch(j, "where", s->where);
	else
		json_text(j, "where", NULL);
	if (s->is_place) {
		json_open(j, "at", '{');
		json_text(j, "file", s->at.file);
		json_count(j, "line", s->at.line);
		json_count(j, "column", s->at.column);
		json_close(j);
	}
	json_close(j);
}

static void write_assertion(struct json *j,
                            const struct results_file_assertion *a)
{
	json_line(j);
	json_open(j, NULL, '{');
	json_count(j, "slot", a->slot);
	json_text(j, "message", a->message);
	json_text(j, "object", a->object);
	write_number(j, "address", a->address);
	json_close(j);
}

static void write_found(struct json *j, const struct results_file *f)
{
	json_line(j);
	json_open(j, "found", '{');
	write_stats(j, &f->stats);
	json_line(j);
	json_open(j, "violations", '[');
	for (size_t i = 0; i < f->slot_count; i++) write_slot(j, &f->slots[i]);
	json_close(j);
	json_line(j);
	write_words(j, "reached", f->reached, f->reach_count);
	json_line(j);
	json_open(j, "assertions", '[');
	for (size_t i = 0; i < f->assertion_count; i++)
		write_assertion(j, &f->assertions[i]);
	json_close(j);
	json_close(j);
}

static void write_open(struct json *j, const struct branch_list *open)
{
	json_line(j);
	json_open(j, "open", '[');
	for (size_t i = 0; i < open->count; i++) {
		json_line(j);
		write_branch(j, NULL, open->items[i]);
	}
	json_close(j);
}

/* What belongs to only some of them. */
static void write_rest(struct json *j, const struct unit *u)
{
	assert(u->parts_split || !u->parts);
	if (u->parts_split) {
		json_line(j);
		json_open(j, "parts", '{');
		json_count(j, "count", u->parts);
		write_hash(j, "split", u->parts_split);
		json_close(j);
	}
	if (u->histories) {
		json_line(j);
		json_open(j, "histories", '{');
		json_text(j, "path", u->histories);
		write_number(j, "length", u->histories_length);
		write_hash(j, "end", u->histories_end);
		json_close(j);
	}
}

/* The object is left open: its seal closes it. */
void unit_write(struct text *t, const struct unit *u)
{
	size_t start = t->length;
	struct json j = json_to(t);
	assert(u->id && u->task.program && u->task.given);
	json_open(&j, NULL, '{');
	json_count(&j, "isoscope_unit", UNIT_VERSION);
	json_line(&j);
	json_text(&j, "unit", u->id);
	write_hash(&j, "split", u->split);
	write_task(&j, &u->task);
	write_rest(&j, u);
	write_open(&j, &u->open);
	write_found(&j, &u->found);
	seal_add(t, start);
}
