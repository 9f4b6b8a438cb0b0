/* The text of a unit. docs/distribution.md describes it. */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "distribute/seal.h"
#include "distribute/unit.h"

/* Numbers of JSON are read as signed ones of 64 bits. */
static void write_number(struct text *t, uint64_t n)
{
	text_format(t, n > INT64_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, n);
}

static void write_string(struct text *t, const char *s)
{
	if (s)
		text_json_string(t, s, strlen(s));
	else
		text_string(t, "null");
}

static void write_hash(struct text *t, uint64_t h)
{
	text_format(t, "\"%016" PRIx64 "\"", h);
}

static const char *flag(bool b)
{
	return b ? "true" : "false";
}

static void write_task(struct text *t, const struct task *k)
{
	text_string(t, ",\n\"program\":{\"path\":");
	write_string(t, k->program);
	text_string(t, ",\"given\":");
	write_string(t, k->given);
	text_string(t, ",\"hash\":");
	write_hash(t, k->digest);
	text_format(t, ",\"sessions\":%" PRIu32 "}", k->sessions);
	text_format(t,
	            ",\n\"options\":{\"algorithm\":\"%s\",\"isolation\":"
	            "\"%s\",\"base\":\"%s\"",
	            explorer_algorithm_word(k->algorithm), level_word(k->level),
	            level_word(k->base));
	text_format(t, ",\"robust\":%s,\"classify\":%s,\"symmetry\":%s",
	            flag(k->robust), flag(k->classify), flag(k->symmetry));
	text_string(t, ",\"max_changes\":");
	if (k->max_changes == UINT64_MAX)
		text_string(t, "null");
	else
		write_number(t, k->max_changes);
	text_string(t, ",\"sessions_order\":");
	write_string(t, k->order);
	text_char(t, '}');
}

static void write_words(struct text *t, const uint32_t *words, size_t count)
{
	text_char(t, '[');
	for (size_t i = 0; i < count; i++)
		text_format(t, i ? ",%" PRIu32 : "%" PRIu32, words[i]);
	text_char(t, ']');
}

static void write_branch(struct text *t, const struct branch *b)
{
	text_format(t, "{\"kind\":\"%s\",\"path\":", seal_kind_word(b->kind));
	write_words(t, b->path, b->path_length);
	text_string(t, ",\"script\":");
	write_words(t, b->script, b->script_length);
	text_char(t, '}');
}

static void write_levels(struct text *t, const uint64_t *per_level)
{
	text_char(t, '[');
	for (int l = 0; l < LEVEL_COUNT; l++) {
		if (l) text_char(t, ',');
		write_number(t, per_level[l]);
	}
	text_char(t, ']');
}

static void write_stats(struct text *t, const struct explore_stats *s)
{
#define COUNT(name)                       \
	text_string(t, "\"" #name "\":"); \
	write_number(t, s->name);         \
	text_char(t, ',');
	FOUND_COUNTS(COUNT)
#undef COUNT
	text_format(t, "\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"stop\":\"%s\"",
	            s->seconds, s->cpu_seconds, stop_file_word(s->stop));
	text_string(t, ",\"per_level\":");
	write_levels(t, s->per_level);
}

static void write_slot(struct text *t, const struct found_slot *s)
{
	text_format(t, "{\"slot\":%" PRIu32 ",\"histories\":", s->slot);
	write_number(t, s->histories);
	text_string(t, ",\"per_level\":");
	write_levels(t, s->per_level);
	text_string(t, ",\"where\":");
	if (s->where)
		write_branch(t, s->where);
	else
		text_string(t, "null");
	text_char(t, '}');
}

static void write_assertion(struct text *t, const struct found_assertion *a)
{
	text_format(t, "{\"slot\":%" PRIu32 ",\"message\":", a->slot);
	write_string(t, a->message);
	text_string(t, ",\"object\":");
	write_string(t, a->object);
	text_string(t, ",\"address\":");
	write_number(t, a->address);
	text_char(t, '}');
}

static void write_found(struct text *t, const struct found *f)
{
	text_string(t, ",\n\"found\":{");
	write_stats(t, &f->stats);
	text_string(t, ",\n\"violations\":[");
	for (size_t i = 0; i < f->slot_count; i++) {
		text_string(t, i ? ",\n" : "\n");
		write_slot(t, &f->slots[i]);
	}
	text_string(t, "],\n\"reached\":");
	write_words(t, f->reached, f->reach_count);
	text_string(t, ",\n\"assertions\":[");
	for (size_t i = 0; i < f->assertion_count; i++) {
		text_string(t, i ? ",\n" : "\n");
		write_assertion(t, &f->assertions[i]);
	}
	text_string(t, "]}");
}

static void write_open(struct text *t, const struct branch_list *open)
{
	text_string(t, ",\n\"open\":[");
	for (size_t i = 0; i < open->count; i++) {
		text_string(t, i ? ",\n" : "\n");
		write_branch(t, open->items[i]);
	}
	text_char(t, ']');
}

/* What belongs to only some of them. */
static void write_rest(struct text *t, const struct unit *u)
{
	if (u->parts) {
		text_format(t, ",\n\"parts\":{\"count\":%" PRIu32 ",\"split\":",
		            u->parts);
		write_hash(t, u->parts_split);
		text_char(t, '}');
	}
	if (u->histories) {
		text_string(t, ",\n\"histories\":{\"path\":");
		write_string(t, u->histories);
		text_string(t, ",\"length\":");
		write_number(t, u->histories_length);
		text_string(t, ",\"end\":");
		write_hash(t, u->histories_end);
		text_char(t, '}');
	}
}

void unit_write(struct text *t, const struct unit *u)
{
	size_t start = t->length;
	text_format(t, "{\"isoscope_unit\":%d,\n\"unit\":", UNIT_VERSION);
	write_string(t, u->id);
	text_string(t, ",\"split\":");
	write_hash(t, u->split);
	write_task(t, &u->task);
	write_rest(t, u);
	write_open(t, &u->open);
	write_found(t, &u->found);
	seal_add(t, start);
}
