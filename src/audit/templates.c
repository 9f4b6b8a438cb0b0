#include "audit/templates.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "audit/mysql.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/utf8.h"

enum { TEXT_MOST = 4000 };

void templates_init(struct templates *f, struct catalog *c,
                    struct sql_parser *p)
{
	*f = (struct templates){ .catalog = c, .parser = p };
	table_init(&f->by_hash, 256);
	table_init(&f->shapes_by_hash, 256);
}

void templates_free(struct templates *f)
{
	for (uint32_t i = 0; i < f->count; i++) {
		free(f->items[i].places);
		free(f->items[i].text);
		free(f->items[i].why);
		free(f->items[i].sql);
		free(f->items[i].literals);
	}
	for (uint32_t i = 0; i < f->shape_count; i++) {
		free(f->shapes[i].items);
		free(f->shapes[i].tables);
	}
	free(f->items);
	free(f->shapes);
	free(f->values);
	free(f->value_at);
	free(f->parameters);
	free(f->parameter_at);
	free(f->places);
	text_free(&f->text);
	words_free(&f->parameter_words);
	table_free(&f->by_hash);
	table_free(&f->shapes_by_hash);
}

/* ---- values ---- */

/* 5 and '5' are the same: applications write either. Never 0. */
static uint64_t value_of(const struct sql_words *w, uint32_t i)
{
	const char *s = w->text + w->items[i].at;
	size_t n = w->items[i].length;
	if (w->items[i].kind == WORD_STRING && n >= 2) {
		const char *open = memchr(s, *s == '"' ? '"' : '\'', n);
		size_t front = open ? (size_t)(open + 1 - s) : 0;
		s += front;
		n -= front + (n > front);
	}
	uint64_t h = hash_bytes(1, s, n);
	return h ? h : 1;
}

static void add_value(struct templates *f, uint64_t value, uint32_t word)
{
	if (f->value_count == f->value_capacity) {
		f->value_capacity =
			f->value_capacity ? 2 * f->value_capacity : 32;
		f->values = mem_grow(f->values, f->value_capacity,
		                     sizeof *f->values);
		f->value_at = mem_grow(f->value_at, f->value_capacity,
		                       sizeof *f->value_at);
	}
	f->values[f->value_count] = value;
	f->value_at[f->value_count++] = word;
}

void templates_parameters(struct templates *f, const char *text, size_t length)
{
	struct sql_words *w = &f->parameter_words;
	f->parameter_count = 0;
	if (!text) return;
	words_read(w, text, length, false);
	for (uint32_t i = 0; i + 2 < w->count; i++) {
		if (w->items[i].kind != WORD_PARAMETER ||
		    !word_is(w, i + 1, "="))
			continue;
		if (f->parameter_count == f->parameter_capacity) {
			VEC_RESERVE(f->parameters, f->parameter_count,
			            f->parameter_capacity);
			f->parameter_at =
				mem_grow(f->parameter_at, f->parameter_capacity,
			                 sizeof *f->parameter_at);
		}
		f->parameter_at[f->parameter_count] = i + 2;
		f->parameters[f->parameter_count++] =
			word_is(w, i + 2, "NULL") ? 0 : value_of(w, i + 2);
	}
}

static uint64_t value(const struct templates *f, uint32_t literal)
{
	if (literal < PLACE_PARAMETER)
		return literal < f->value_count ? f->values[literal] : 0;
	uint32_t n = literal - PLACE_PARAMETER;
	return n && n <= f->parameter_count ? f->parameters[n - 1] : 0;
}

uint64_t templates_literal(struct templates *f, const struct sql_words *w,
                           uint32_t template, uint32_t literal, bool mysql,
                           struct text *out)
{
	assert(f->keeps_sql && literal < f->items[template].literal_count);
	uint32_t which = f->items[template].literals[literal].which;
	uint64_t v = value(f, which);
	if (!v) return 0;
	if (which >= PLACE_PARAMETER) {
		w = &f->parameter_words;
		mysql = false;
		which = f->parameter_at[which - PLACE_PARAMETER - 1];
	} else {
		which = f->value_at[which];
	}
	if (mysql) {
		struct text one = { 0 };
		uint32_t *places = mem_take(w->count * sizeof *places);
		mysql_rewrite(&one, places, w, which, which + 1);
		text_bytes(out, text_get(&one), one.length);
		text_free(&one);
		free(places);
	} else {
		text_bytes(out, w->text + w->items[which].at,
		           w->items[which].length);
	}
	return v;
}

uint64_t templates_row(const struct templates *f, uint32_t template,
                       uint32_t place)
{
	assert(template <f->count && f->items[template].kind == TEMPLATE_DATA);
	assert(place < f->shapes[f->items[template].shape].place_count);
	const struct operation_place *p = &f->items[template].places[place];
	uint64_t h = 0;
	for (uint32_t i = 0; i < p->literal_count; i++) {
		uint64_t v = value(f, p->literals[i]);
		if (!v) return 0;
		/* A single column is known by its value alone: so it is the
		 * same row that another table refers to by it. */
		h = i ? hash_mix(h, v) : v;
	}
	return h;
}

/* ---- the hash of a template ---- */

/* Past further rows of VALUES, from the end of the first. */
static uint32_t past_rows(const struct sql_words *w, uint32_t i, uint32_t to)
{
	while (i + 2 < to && word_is(w, i + 1, ",") && word_is(w, i + 2, "(")) {
		int depth = 0;
		for (i += 2; i < to; i++) {
			depth += word_is(w, i, "(") - word_is(w, i, ")");
			if (!depth) break;
		}
		if (i == to) return to - 1;
	}
	return i;
}

/* The last word of a list of literals that begins at `i`. */
static uint32_t end_of_list(const struct sql_words *w, uint32_t i, uint32_t to)
{
	while (i + 2 < to && word_is(w, i + 1, ",") &&
	       word_is_literal(w, i + 2))
		i += 2;
	return i;
}

static uint64_t hash_word(uint64_t h, const struct sql_words *w, uint32_t i)
{
	const struct sql_word *x = &w->items[i];
	char low[64];
	if (x->kind != WORD_NAME || x->length > sizeof low)
		return hash_bytes(h + x->kind, w->text + x->at, x->length);
	for (uint32_t k = 0; k < x->length; k++)
		low[k] = (char)tolower((unsigned char)w->text[x->at + k]);
	return hash_bytes(h, low, x->length);
}

/* Takes the values out; lists and rows of any number are alike if there are
 * several. */
static uint64_t hash_of(struct templates *f, const struct sql_words *w,
                        uint32_t from, uint32_t to)
{
	uint64_t h = 1;
	int depth = 0, rows_at = -1;
	f->value_count = 0;
	for (uint32_t i = from; i < to; i++) {
		if (word_is_literal(w, i)) {
			uint32_t end = end_of_list(w, i, to);
			bool list = end > i && word_is(w, end + 1, ")") &&
			            word_is(w, i - 1, "(") && i >= 2 &&
			            word_is(w, i - 2, "IN");
			add_value(f, list ? 0 : value_of(w, i), i);
			h = hash_mix(h, list ? 2 : 1);
			/* What SET does is up to its value. */
			if (word_is(w, from, "SET"))
				h = hash_mix(h, f->values[f->value_count - 1]);
			if (list) i = end;
			continue;
		}
		h = hash_word(h, w, i);
		if (word_is(w, i, "VALUES") && word_is(w, i + 1, "("))
			rows_at = depth;
		depth += word_is(w, i, "(") - word_is(w, i, ")");
		if (rows_at != depth || !word_is(w, i, ")")) continue;
		uint32_t past = past_rows(w, i, to);
		if (past > i) h = hash_mix(h, 3);
		i = past;
		rows_at = -1;
	}
	return h;
}

/* ---- what it does ---- */

static bool is_any(const struct sql_words *w, uint32_t i,
                   const char *const *words)
{
	for (; *words; words++)
		if (word_is(w, i, *words)) return true;
	return false;
}

static enum template_kind kind_of_set(const struct sql_words *w, uint32_t from,
                                      uint32_t to)
{
	for (uint32_t i = from + 1; i + 2 < to; i++) {
		const struct sql_word *x = &w->items[i];
		bool variable =
			x->kind == WORD_VARIABLE && x->length >= 10 &&
			memmem(w->text + x->at, x->length, "autocommit", 10);
		if (!variable && !word_is(w, i, "AUTOCOMMIT")) continue;
		const char *value = w->text + w->items[i + 2].at;
		return *value == '0' || word_is(w, i + 2, "OFF") ||
		                       word_is(w, i + 2, "FALSE")
		               ? TEMPLATE_AUTOCOMMIT_OFF
		               : TEMPLATE_AUTOCOMMIT_ON;
	}
	return TEMPLATE_NOTHING;
}

static enum template_kind kind_of(const struct sql_words *w, uint32_t from,
                                  uint32_t to)
{
	static const char *const data[] = { "SELECT",  "INSERT", "UPDATE",
		                            "DELETE",  "WITH",   "VALUES",
		                            "(",       "TABLE",  "COPY",
		                            "DECLARE", NULL };
	static const char *const schema[] = { "CREATE", "ALTER",    "DROP",
		                              "RENAME", "TRUNCATE", NULL };
	static const char *const nothing[] = {
		"SHOW",    "USE",      "DESCRIBE",   "DESC",       "EXPLAIN",
		"ANALYZE", "VACUUM",   "LOCK",       "UNLOCK",     "FLUSH",
		"KILL",    "GRANT",    "REVOKE",     "RESET",      "DISCARD",
		"PREPARE", "CLOSE",    "DEALLOCATE", "FETCH",      "MOVE",
		"LISTEN",  "NOTIFY",   "UNLISTEN",   "CHECKPOINT", "COMMENT",
		"REINDEX", "OPTIMIZE", "CHECK",      "REPAIR",     "SAVEPOINT",
		"RELEASE", "HELP",     "CACHE",      NULL
	};
	if (word_is(w, from, "START") && word_is(w, from + 1, "TRANSACTION"))
		return TEMPLATE_BEGIN;
	if (word_is(w, from, "BEGIN")) return TEMPLATE_BEGIN;
	if (word_is(w, from, "COMMIT") || word_is(w, from, "END"))
		return TEMPLATE_COMMIT;
	/* What is prepared is hardly rolled back. */
	if (word_is(w, from, "PREPARE") && word_is(w, from + 1, "TRANSACTION"))
		return TEMPLATE_COMMIT;
	if (word_is(w, from, "ROLLBACK") || word_is(w, from, "ABORT")) {
		for (uint32_t i = from + 1; i < to; i++)
			if (word_is(w, i, "TO")) return TEMPLATE_ROLLBACK_TO;
		return TEMPLATE_ROLLBACK;
	}
	if (word_is(w, from, "SET")) return kind_of_set(w, from, to);
	/* A function of that name cannot begin a statement. */
	if (is_any(w, from, data) || word_is(w, from, "REPLACE"))
		return TEMPLATE_DATA;
	if (is_any(w, from, schema)) return TEMPLATE_SCHEMA;
	return is_any(w, from, nothing) ? TEMPLATE_NOTHING : TEMPLATE_UNREAD;
}

/* Logs may be in other codes: as many bytes, those that are not UTF-8 made
 * an 'x', which may stand in names as well.
 */
static void make_utf8(struct text *t)
{
	size_t n;
	for (size_t i = 0; i < t->length; i += n ? n : 1) {
		n = utf8_length(t->data + i, t->length - i);
		if (!n) t->data[i] = 'x';
	}
}

/* The statement on one line, its comments and blanks made one. */
static char *text_of(const struct sql_words *w, uint32_t from, uint32_t to)
{
	struct text t = { 0 };
	uint32_t begin = w->items[from].at;
	uint32_t end = w->items[to - 1].at + w->items[to - 1].length;
	bool blank = false;
	for (uint32_t k = begin; k < end && t.length < TEXT_MOST; k++) {
		unsigned char c = (unsigned char)w->text[k];
		if (isspace(c)) {
			blank = true;
			continue;
		}
		if (blank) text_char(&t, ' ');
		blank = false;
		text_char(&t, c < ' ' || c == 127 ? '?' : (char)c);
	}
	make_utf8(&t);
	if (t.length >= TEXT_MOST) text_string(&t, " ..");
	char *copy = mem_copy_string(text_get(&t));
	text_free(&t);
	return copy;
}

/* ---- shapes ---- */

static bool same_shape(const struct shape *s, const struct operations *a)
{
	return s->count == a->count && s->place_count == a->place_count &&
	       (!a->count ||
	        !memcmp(s->items, a->items, a->count * sizeof *a->items));
}

static uint32_t shape_of(struct templates *f, const struct operations *a)
{
	uint32_t i;
	uint64_t h = hash_bytes(a->place_count, a->items,
	                        a->count * sizeof *a->items);
	struct table_probe p = table_probe(h);
	while ((i = table_next(&f->shapes_by_hash, &p)) != TABLE_NONE)
		if (same_shape(&f->shapes[i], a)) return i;
	VEC_RESERVE(f->shapes, f->shape_count, f->shape_capacity);
	i = f->shape_count++;
	struct shape *s = &f->shapes[i];
	*s = (struct shape){ .count = a->count, .place_count = a->place_count };
	s->items = mem_take(a->count * sizeof *s->items + 1);
	if (a->count) memcpy(s->items, a->items, a->count * sizeof *s->items);
	for (uint32_t k = 0; k < a->count; k++)
		s->counted += !(a->items[k].flags & OPERATION_UNCOUNTED);
	s->tables = mem_take(a->place_count * sizeof *s->tables + 1);
	for (uint32_t k = 0; k < a->place_count; k++)
		s->tables[k] = a->places[k].table;
	table_put(&f->shapes_by_hash, p, i);
	return i;
}

/* Where its literals are in the text that is parsed. */
static void literal_places(struct templates *f, const struct sql_words *w,
                           uint32_t from, uint32_t to, bool mysql,
                           struct literal_places *out, uint32_t *at,
                           uint32_t *which)
{
	if (to > f->place_capacity) {
		f->place_capacity = to;
		f->places = mem_grow(f->places, to, sizeof *f->places);
	}
	text_clear(&f->text);
	if (mysql) {
		mysql_rewrite(&f->text, f->places, w, from, to);
	} else {
		uint32_t begin = w->items[from].at;
		uint32_t end = w->items[to - 1].at + w->items[to - 1].length;
		text_bytes(&f->text, w->text + begin, end - begin);
		for (uint32_t i = from; i < to; i++)
			f->places[i] = w->items[i].at - begin;
	}
	make_utf8(&f->text);
	for (uint32_t i = 0; i < f->value_count; i++) {
		uint32_t place = f->places[f->value_at[i]];
		if (place == UINT32_MAX) continue;
		/* Those of LIMIT may change places: they are no keys. */
		if (out->count && at[out->count - 1] >= place) continue;
		at[out->count] = place;
		which[out->count++] = i;
	}
	assert(out->count <= f->value_count);
	out->at = at;
	out->which = which;
}

/* Keeps the text that was parsed, and where what may vary stands in it. */
static void keep_sql(struct templates *f, struct template *x,
                     const struct literal_places *literals)
{
	struct sql_words w = { 0 };
	x->sql = mem_copy_string(text_get(&f->text));
	words_read(&w, x->sql, f->text.length, false);
	x->literals = mem_take((w.count + 1) * sizeof *x->literals);
	for (uint32_t i = 0, k = 0; i < w.count; i++) {
		const struct sql_word *word = &w.items[i];
		while (k < literals->count && literals->at[k] < word->at) k++;
		bool is = k < literals->count && literals->at[k] == word->at;
		uint32_t which = CATALOG_NONE;
		if (is && word_is_literal(&w, i) &&
		    f->values[literals->which[k]])
			which = literals->which[k];
		if (word->kind == WORD_PARAMETER)
			which = PLACE_PARAMETER +
			        (uint32_t)strtoul(x->sql + word->at + 1, NULL,
			                          10);
		if (which == CATALOG_NONE) continue;
		assert(!x->literal_count ||
		       x->literals[x->literal_count - 1].at < word->at);
		x->literals[x->literal_count++] =
			(struct template_literal){ word->at, word->length,
			                           which };
	}
	words_free(&w);
}

static void parse(struct templates *f, struct template *x,
                  const struct sql_words *w, uint32_t from, uint32_t to,
                  bool mysql)
{
	uint32_t n = f->value_count + 1;
	uint32_t *at = mem_take(n * sizeof *at);
	uint32_t *which = mem_take(n * sizeof *which);
	struct literal_places literals = { 0 };
	struct sql_refusal why = { 0 };
	struct operations a = { 0 };
	literal_places(f, w, from, to, mysql, &literals, at, which);
	json_t *all =
		sql_parse(f->parser, text_get(&f->text), f->text.length, &why);
	if (all) {
		operations_of(&a, f->catalog,
		              json_object_get(json_array_get(all, 0), "stmt"),
		              &literals);
		json_decref(all);
		if (f->keeps_sql) keep_sql(f, x, &literals);
		x->shape = shape_of(f, &a);
		x->places = a.places;
		a.places = NULL;
		if (!a.count) x->kind = TEMPLATE_NOTHING;
		if (a.cut) {
			x->kind = TEMPLATE_UNREAD;
			x->why = mem_copy_string(
				"expressions are nested too deep");
		}
	} else {
		x->kind = TEMPLATE_UNREAD;
		x->why = mem_copy_string(text_get(&why.message));
	}
	text_free(&why.message);
	operations_free(&a);
	free(at);
	free(which);
}

uint32_t templates_read(struct templates *f, const struct sql_words *w,
                        uint32_t from, uint32_t to, bool mysql, uint32_t file,
                        uint32_t line)
{
	uint32_t i;
	assert(from < to && to <= w->count);
	uint64_t h = hash_of(f, w, from, to) ^ (mysql ? 1 : 0);
	struct table_probe p = table_probe(h);
	while ((i = table_next(&f->by_hash, &p)) != TABLE_NONE)
		if (f->items[i].hash == h) break;
	if (i == TABLE_NONE) {
		VEC_RESERVE(f->items, f->count, f->capacity);
		i = f->count++;
		struct template *x = &f->items[i];
		*x = (struct template){ .hash = h,
			                .kind = kind_of(w, from, to),
			                .chains = word_is(w, to - 1, "CHAIN") &&
			                          !word_is(w, to - 2, "NO"),
			                .text = text_of(w, from, to),
			                .file = file,
			                .line = line };
		table_put(&f->by_hash, p, i);
		if (x->kind == TEMPLATE_DATA) parse(f, x, w, from, to, mysql);
		if (x->kind == TEMPLATE_UNREAD && !x->why)
			x->why = mem_copy_string(
				"what this statement does is not known");
	}
	f->items[i].count++;
	return i;
}
