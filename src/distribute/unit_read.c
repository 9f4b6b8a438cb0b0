/* Reads the text of a unit, which anybody may have made: nothing in it is
 * trusted. What only the program can tell (does it have so many assertions, can
 * it do what a branch says) is found out when it is there. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/memory.h"
#include "distribute/members.h"
#include "distribute/seal.h"
#include "distribute/unit.h"

enum { SESSIONS_MOST = 1 << 16, ID_MOST = 200 };

/* ---- program and options ---- */

static bool read_level(struct members *m, const json_t *object,
                       const char *name, enum level *out)
{
	const char *word = member_string(m, object, name);
	*out = word ? level_from_word(word) : LEVEL_COUNT;
	return *out < LEVEL_COUNT ||
	       (word && member_wrong(m, name, "an isolation level"));
}

static bool read_program(struct members *m, const json_t *unit, struct task *k)
{
	const json_t *o = member_object(m, unit, "program");
	if (!o) return false;
	const char *path = member_string(m, o, "path");
	const char *given = path ? member_string(m, o, "given") : NULL;
	if (!given) return false;
	k->program = mem_copy_string(path);
	k->given = mem_copy_string(given);
	return member_hash(m, o, "hash", &k->digest) &&
	       member_number(m, o, "sessions", SESSIONS_MOST, &k->sessions);
}

static bool read_order(struct members *m, const json_t *o, struct task *k)
{
	if (member_is_null(o, "sessions_order")) return true;
	const char *order = member_string(m, o, "sessions_order");
	if (order) k->order = mem_copy_string(order);
	return order;
}

static bool read_algorithm(struct members *m, const json_t *o, struct task *k)
{
	const char *word = member_string(m, o, "algorithm");
	return word && (task_algorithm_from_word(word, &k->algorithm) ||
	                member_wrong(m, "algorithm", "ce, dfs or orderly"));
}

static bool levels_fit(struct members *m, const struct task *k)
{
	if (k->algorithm != EXPLORE_CE ||
	    (level_is_extensible(k->base) && level_implies(k->level, k->base)))
		return true;
	return member_wrong(m, "base", "a weaker, extensible level");
}

/* Files from before there were bounds in them have the usual ones. */
static bool read_bounds(struct members *m, const json_t *o, struct task *k)
{
	k->bounds = LIBRARY_BOUNDS;
	return !json_object_get(o, "max_transactions") ||
	       (member_count(m, o, "max_transactions", UINT64_MAX,
	                     &k->bounds.transactions) &&
	        member_count(m, o, "max_accesses", UINT64_MAX,
	                     &k->bounds.accesses));
}

static bool read_options(struct members *m, const json_t *unit, struct task *k)
{
	const json_t *o = member_object(m, unit, "options");
	k->max_changes = UINT64_MAX;
	return o && read_algorithm(m, o, k) &&
	       read_level(m, o, "isolation", &k->level) &&
	       read_level(m, o, "base", &k->base) && levels_fit(m, k) &&
	       member_flag(m, o, "robust", &k->robust) &&
	       member_flag(m, o, "classify", &k->classify) &&
	       member_flag(m, o, "symmetry", &k->symmetry) &&
	       (member_is_null(o, "max_changes") ||
	        member_count(m, o, "max_changes", UINT64_MAX,
	                     &k->max_changes)) &&
	       read_bounds(m, o, k) && read_order(m, o, k);
}

/* ---- branches ---- */

/* An array of numbers; NULL if it is none. The caller frees it. */
static uint32_t *read_words(struct members *m, const json_t *object,
                            const char *name, uint32_t *count)
{
	const json_t *array = member_array(m, object, name);
	size_t n = array ? json_array_size(array) : 0;
	if (!array) return NULL;
	if (n > UINT32_MAX) {
		member_wrong(m, name, "shorter");
		return NULL;
	}
	uint32_t *words = mem_take0(n + 1, sizeof *words);
	for (size_t i = 0; i < n; i++) {
		uint64_t word;
		if (value_count(json_array_get(array, i), UINT32_MAX, &word)) {
			words[i] = (uint32_t)word;
			continue;
		}
		member_wrong(m, name, "an array of whole numbers");
		free(words);
		return NULL;
	}
	*count = (uint32_t)n;
	return words;
}

static struct branch *read_parts(struct members *m, const json_t *value,
                                 enum branch_kind kind)
{
	uint32_t path_length, script_length;
	struct branch *b = NULL;
	uint32_t *path = read_words(m, value, "path", &path_length);
	uint32_t *script =
		path ? read_words(m, value, "script", &script_length) : NULL;
	if (script)
		b = branch_new(kind, path, path_length, script, script_length);
	free(path);
	free(script);
	return b;
}

static struct branch *read_branch(struct members *m, const json_t *value,
                                  uint32_t sessions)
{
	enum branch_kind kind;
	const char *word = member_string(m, value, "kind");
	if (!word) return NULL;
	if (!branch_kind_from_word(word, &kind)) {
		member_wrong(m, "kind", "between, pending, fresh, swap or end");
		return NULL;
	}
	struct branch *b = read_parts(m, value, kind);
	if (!b || branch_is_sound(b, sessions)) return b;
	member_wrong(m, "script",
	             "transactions of so many sessions, each "
	             "behind those that it reads from");
	free(b);
	return NULL;
}

static bool read_open(struct members *m, const json_t *unit, struct unit *u)
{
	const json_t *array = member_array(m, unit, "open");
	if (!array) return false;
	for (size_t i = 0; i < json_array_size(array); i++) {
		struct branch *b = read_branch(m, json_array_get(array, i),
		                               u->task.sessions);
		if (!b) return false;
		branch_list_add(&u->open, b);
	}
	return true;
}

/* ---- what was found ---- */

static bool read_levels(struct members *m, const json_t *object,
                        uint64_t *per_level)
{
	const json_t *array = member_array(m, object, "per_level");
	bool good = array && json_array_size(array) == LEVEL_COUNT;
	for (size_t l = 0; good && l < LEVEL_COUNT; l++)
		good = value_count(json_array_get(array, l), UINT64_MAX,
		                   &per_level[l]);
	return good || (array && member_wrong(m, "per_level",
	                                      "a number for each level"));
}

static bool read_stop(struct members *m, const json_t *o, enum stop_reason *out)
{
	const char *word = member_string(m, o, "stop");
	return word && (stop_from_file_word(word, out) ||
	                member_wrong(m, "stop", "why it ended"));
}

static bool read_stats(struct members *m, const json_t *o,
                       struct explore_stats *s)
{
#define COUNT(name) member_count(m, o, #name, UINT64_MAX, &s->name) &&
	return RESULTS_FILE_COUNTS(COUNT)
	               member_seconds(m, o, "seconds", &s->seconds) &&
	       member_seconds(m, o, "cpu_seconds", &s->cpu_seconds) &&
	       read_stop(m, o, &s->stop) && read_levels(m, o, s->per_level);
#undef COUNT
}

/* Where a run-time error happened; other slots have no such member. */
static bool read_place(struct members *m, const json_t *value,
                       struct results_file_slot *s)
{
	if (!json_object_get(value, "at")) return true;
	const json_t *o = member_object(m, value, "at");
	s->is_place = true;
	if (!o) return false;
	if (!member_is_null(o, "file")) {
		const char *file = member_string(m, o, "file");
		if (!file) return false;
		s->at.file = mem_copy_string(file);
	}
	return member_number(m, o, "line", UINT32_MAX, &s->at.line) &&
	       member_number(m, o, "column", UINT32_MAX, &s->at.column);
}

static bool read_slot(struct members *m, const json_t *value,
                      struct results_file_slot *s, uint32_t sessions)
{
	if (!member_number(m, value, "slot", UINT32_MAX, &s->slot) ||
	    !member_count(m, value, "histories", UINT64_MAX, &s->histories) ||
	    !read_levels(m, value, s->per_level) || !read_place(m, value, s))
		return false;
	if (member_is_null(value, "where")) return true;
	const json_t *where = member_object(m, value, "where");
	if (where) s->where = read_branch(m, where, sessions);
	return s->where;
}

static bool read_slots(struct members *m, const json_t *o, struct unit *u)
{
	const json_t *array = member_array(m, o, "violations");
	struct results_file *f = &u->found;
	for (size_t i = 0; array && i < json_array_size(array); i++) {
		VEC_RESERVE(f->slots, f->slot_count, f->slot_capacity);
		struct results_file_slot *s = &f->slots[f->slot_count++];
		*s = (struct results_file_slot){ 0 };
		if (!read_slot(m, json_array_get(array, i), s,
		               u->task.sessions))
			return false;
	}
	return array;
}

static bool read_reached(struct members *m, const json_t *o,
                         struct results_file *f)
{
	uint32_t count = 0;
	f->reached = read_words(m, o, "reached", &count);
	f->reach_count = f->reach_capacity = count;
	return f->reached;
}

static bool read_assertion(struct members *m, const json_t *value,
                           struct results_file_assertion *a)
{
	const char *message = member_string(m, value, "message");
	if (!message) return false;
	a->message = mem_copy_string(message);
	if (!member_is_null(value, "object")) {
		const char *object = member_string(m, value, "object");
		if (!object) return false;
		a->object = mem_copy_string(object);
	}
	return member_number(m, value, "slot", UINT32_MAX, &a->slot) &&
	       member_count(m, value, "address", UINT64_MAX, &a->address);
}

static bool read_assertions(struct members *m, const json_t *o,
                            struct results_file *f)
{
	const json_t *array = member_array(m, o, "assertions");
	for (size_t i = 0; array && i < json_array_size(array); i++) {
		VEC_RESERVE(f->assertions, f->assertion_count,
		            f->assertion_capacity);
		struct results_file_assertion *a =
			&f->assertions[f->assertion_count++];
		*a = (struct results_file_assertion){ 0 };
		if (!read_assertion(m, json_array_get(array, i), a))
			return false;
	}
	return array;
}

static bool read_found(struct members *m, const json_t *unit, struct unit *u)
{
	const json_t *o = member_object(m, unit, "found");
	return o && read_stats(m, o, &u->found.stats) && read_slots(m, o, u) &&
	       read_reached(m, o, &u->found) &&
	       read_assertions(m, o, &u->found);
}

/* ---- the whole ---- */

/* "" or numbers from 1 with dots between them: 3.1. They become names of
 * files. */
static bool id_is_good(const char *id)
{
	bool inside = false; /* of a number */
	size_t length = strlen(id);
	if (!length) return true;
	for (const char *p = id; *p; p++) {
		bool digit = *p >= '0' && *p <= '9';
		if (inside ? !digit && *p != '.' : !digit || *p == '0')
			return false;
		inside = digit;
	}
	return inside && length <= ID_MOST;
}

static bool read_id(struct members *m, const json_t *unit, struct unit *u)
{
	const char *id = member_string(m, unit, "unit");
	if (!id) return false;
	u->id = mem_copy_string(id);
	return (id_is_good(id) ||
	        member_wrong(m, "unit", "a number, or several with dots")) &&
	       member_hash(m, unit, "split", &u->split);
}

static bool read_split(struct members *m, const json_t *unit, struct unit *u)
{
	if (!json_object_get(unit, "parts")) return true;
	const json_t *o = member_object(m, unit, "parts");
	return o && member_number(m, o, "count", UNIT_PARTS_MAX, &u->parts) &&
	       member_hash(m, o, "split", &u->parts_split) &&
	       (u->parts_split || member_wrong(m, "split", "another number"));
}

static bool read_histories(struct members *m, const json_t *unit,
                           struct unit *u)
{
	if (!json_object_get(unit, "histories")) return true;
	const json_t *o = member_object(m, unit, "histories");
	const char *path = o ? member_string(m, o, "path") : NULL;
	if (path) u->histories = mem_copy_string(path);
	return path &&
	       member_count(m, o, "length", INT64_MAX, &u->histories_length) &&
	       member_hash(m, o, "end", &u->histories_end);
}

static bool read_unit(struct members *m, const json_t *unit, struct unit *u)
{
	return read_id(m, unit, u) && read_program(m, unit, &u->task) &&
	       read_options(m, unit, &u->task) && read_split(m, unit, u) &&
	       read_histories(m, unit, u) && read_open(m, unit, u) &&
	       read_found(m, unit, u);
}

static bool version_is_known(const char *file, const json_t *value,
                             struct diags *d)
{
	const json_t *version = json_object_get(value, "isoscope_unit");
	if (!json_is_integer(version)) {
		diags_add(d, DIAG_ERROR, file, 0, 0, NULL,
		          "this is not a work unit, result or checkpoint: it "
		          "has no member \"isoscope_unit\"");
		return false;
	}
	if (json_integer_value(version) == UNIT_VERSION) return true;
	diags_add(d, DIAG_ERROR, file, 0, 0, NULL,
	          "this is in version %lld of the format, and this isoscope "
	          "knows version %d; use the isoscope that made it, or make it "
	          "again",
	          (long long)json_integer_value(version), UNIT_VERSION);
	return false;
}

static json_t *read_json(const char *file, const char *text, size_t length,
                         struct diags *d)
{
	json_error_t error;
	json_t *value =
		json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	if (value) return value;
	if (json_error_code(&error) == json_error_out_of_memory) mem_fail();
	uint32_t line = error.line > 0 ? (uint32_t)error.line : 0;
	uint32_t column = error.column > 0 ? (uint32_t)error.column : 0;
	diags_add(d, DIAG_ERROR, file, line, line ? column : 0, NULL,
	          "the file is damaged: %s; make it again", error.text);
	return NULL;
}

static bool seal_is_whole(const char *file, const char *text, size_t length,
                          struct diags *d)
{
	if (seal_holds(text, length)) return true;
	diags_add(d, DIAG_ERROR, file, 0, 0, NULL,
	          "the file is damaged, or was changed by hand: the hash in "
	          "its last line is not that of the text before; make it "
	          "again");
	return false;
}

static void drop(void *json)
{
	json_decref(json);
}

struct unit *unit_parse(const char *file, const char *text, size_t length,
                        struct diags *d)
{
	struct members m = { .file = file, .diags = d };
	struct unit *u = NULL;
	json_t *value = read_json(file, text, length, d);
	if (value) mem_hold(value, drop);
	if (value && version_is_known(file, value, d) &&
	    seal_is_whole(file, text, length, d)) {
		u = mem_take0(1, sizeof *u);
		if (!read_unit(&m, value, u)) {
			unit_free(u);
			u = NULL;
		}
	}
	mem_let_go(value);
	json_decref(value);
	return u;
}

/* Some devices have no end. */
static bool is_device(FILE *f)
{
	struct stat what;
	return !fstat(fileno(f), &what) &&
	       (S_ISCHR(what.st_mode) || S_ISBLK(what.st_mode));
}

static bool read_stream(FILE *f, struct text *t)
{
	char buffer[1 << 14];
	size_t n;
	while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
		text_bytes(t, buffer, n);
	return !ferror(f);
}

static void close_file(void *f)
{
	fclose(f);
}

struct unit *unit_read(const char *path, struct diags *d)
{
	struct text t = { 0 };
	struct unit *u = NULL;
	FILE *f = fopen(path, "rbe");
	if (f) mem_hold(f, close_file);
	if (f && is_device(f))
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
		          "this is a device; a unit is in a file");
	else if (!f || !read_stream(f, &t))
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL, "cannot read: %s",
		          strerror(errno));
	else
		u = unit_parse(path, text_get(&t), t.length, d);
	mem_let_go(f);
	if (f) fclose(f);
	text_free(&t);
	return u;
}
