#include "audit/mysql.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

struct rewriter {
	struct text *out;
	uint32_t *places;
	const struct sql_words *w;
	uint32_t end; /* of the statement */
};

static bool is(const struct rewriter *r, uint32_t i, const char *what)
{
	return i < r->end && word_is(r->w, i, what);
}

static bool is_one_of(const struct rewriter *r, uint32_t i,
                      const char *const *words, size_t count)
{
	for (size_t k = 0; k < count; k++)
		if (is(r, i, words[k])) return true;
	return false;
}
#define ONE_OF(r, i, list) is_one_of(r, i, list, sizeof(list) / sizeof *(list))

static void put(struct rewriter *r, const char *words)
{
	if (r->out->length) text_char(r->out, ' ');
	text_string(r->out, words);
}

/* A name in quotes, as PostgreSQL has it; MySQL does not tell its case. */
static void put_name(struct rewriter *r, uint32_t i)
{
	const struct sql_word *x = &r->w->items[i];
	const char *s = r->w->text + x->at;
	text_char(r->out, '"');
	for (uint32_t k = 1; k + 1 < x->length; k++) {
		if (s[k] == '`' || s[k] == '"') continue;
		text_char(r->out, (char)tolower((unsigned char)s[k]));
	}
	text_char(r->out, '"');
}

static bool names_function(const struct rewriter *r, uint32_t i)
{
	/* They are words of their own in PostgreSQL. */
	static const char *const functions[] = {
		"VALUES",
		"TIME",
		"TIMESTAMP",
		"CHAR",
		"USER",
		"BIT",
		"CURRENT_TIMESTAMP",
		"CURRENT_DATE",
		"LOCALTIME",
		"CURRENT_TIME",
		"CURRENT_USER",
		"SESSION_USER",
		"INTERVAL",
		"LOCALTIMESTAMP",
	};
	return ONE_OF(r, i, functions) && is(r, i + 1, "(") &&
	       !is(r, i - 1, "AS");
}

/* One word as it is, but for how MySQL writes names, strings and signs. */
/* What stands between its quotes, as PostgreSQL has it. */
static void put_string(struct rewriter *r, const struct sql_word *x)
{
	const char *s = r->w->text + x->at, *end = s + x->length - 1;
	while (s < end && *s != '\'' && *s != '"') s++;
	char quote = *s;
	text_char(r->out, '\'');
	for (s++; s < end; s++) {
		if ((*s == '\\' || *s == quote) && s + 1 < end) s++;
		if (*s == '\'') text_char(r->out, '\'');
		text_char(r->out, *s);
	}
	text_char(r->out, '\'');
}

static void put_word(struct rewriter *r, uint32_t i)
{
	const struct sql_word *x = &r->w->items[i];
	static const struct {
		const char *from, *to;
	} others[] = {
		{ "&&", "AND" },      { "||", "OR" },
		{ "!", "NOT" },       { "<=>", "IS NOT DISTINCT FROM" },
		{ ":=", "=" },        { "REGEXP", "~" },
		{ "RLIKE", "~" },     { "DIV", "/" },
		{ "XOR", "<>" },      { "STRAIGHT_JOIN", "JOIN" },
		{ "SEPARATOR", "," }, { "UNSIGNED", "int" },
		{ "SIGNED", "int" },  { "IFNULL", "COALESCE" },
		{ "LCASE", "LOWER" }, { "UCASE", "UPPER" },
	};
	if (r->out->length) text_char(r->out, ' ');
	r->places[i] = (uint32_t)r->out->length;
	switch (x->kind) {
	case WORD_STRING:
		if (is(r, i - 1, "AS"))
			text_char(r->out, 's');
		else
			put_string(r, x);
		return;
	case WORD_QUOTED: put_name(r, i); return;
	case WORD_VARIABLE: text_char(r->out, '1'); return;
	case WORD_NUMBER:
		if (x->length > 1 && (r->w->text[x->at + 1] | 32) == 'x')
			text_char(r->out, '1');
		else
			text_bytes(r->out, r->w->text + x->at, x->length);
		return;
	default: break;
	}
	if (i && is(r, i - 1, ".")) goto plain;
	for (size_t k = 0; k < sizeof others / sizeof *others; k++)
		if (is(r, i, others[k].from)) {
			text_string(r->out, others[k].to);
			return;
		}
plain:
	text_bytes(r->out, r->w->text + x->at, x->length);
	if (names_function(r, i)) text_char(r->out, '_');
}

/* The word behind the parenthesis that this one opens. */
static uint32_t past_parenthesis(const struct rewriter *r, uint32_t i)
{
	int depth = 0;
	assert(is(r, i, "("));
	for (; i < r->end; i++) {
		depth += is(r, i, "(") - is(r, i, ")");
		if (!depth) return i + 1;
	}
	return r->end;
}

/* The first of these words from `i` on that stands in no parenthesis. */
static uint32_t find(const struct rewriter *r, uint32_t i,
                     const char *const *words, size_t count)
{
	for (; i < r->end; i++) {
		if (is(r, i, "(")) {
			i = past_parenthesis(r, i) - 1;
			continue;
		}
		if (is_one_of(r, i, words, count)) return i;
	}
	return r->end;
}
#define FIND(r, i, ...)                                     \
	find(r, i, (const char *const[]){ __VA_ARGS__ },    \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / \
	             sizeof(const char *))

/* "INTERVAL 1 DAY": PostgreSQL wants a string, and knows other units. */
static uint32_t put_interval(struct rewriter *r, uint32_t i)
{
	uint32_t k = i + 1, depth = 0;
	if (word_is_literal(r->w, k) && k + 1 < r->end &&
	    r->w->items[k + 1].kind == WORD_NAME) {
		put_word(r, k);
		return k + 2;
	}
	for (; k < r->end; k++) {
		if (is(r, k, ")") && !depth) break;
		depth += is(r, k, "(") - is(r, k, ")");
		if (!depth && k > i + 1 && r->w->items[k].kind == WORD_NAME &&
		    (is(r, k + 1, ")") || is(r, k + 1, ",")))
			return k + 1; /* the unit */
		put_word(r, k);
	}
	return k;
}

/* Words of MySQL's at `i` that PostgreSQL has in other ways. Returns where to
 * go on, or `i`. */
static uint32_t put_other(struct rewriter *r, uint32_t i)
{
	static const char *const noise[] = {
		"SQL_CALC_FOUND_ROWS", "SQL_NO_CACHE",
		"SQL_CACHE",           "HIGH_PRIORITY",
		"LOW_PRIORITY",        "DELAYED",
		"SQL_SMALL_RESULT",    "SQL_BIG_RESULT",
		"SQL_BUFFER_RESULT",   "BINARY",
	};
	static const char *const hints[] = { "USE", "FORCE", "IGNORE" };
	if (is(r, i - 1, ".")) return i;
	if (ONE_OF(r, i, noise) && !is(r, i + 1, ",") && !is(r, i + 1, ")") &&
	    !is(r, i + 1, "="))
		return i + 1;
	if (ONE_OF(r, i, hints) &&
	    (is(r, i + 1, "INDEX") || is(r, i + 1, "KEY"))) {
		uint32_t k = i + 2;
		while (k < r->end && !is(r, k, "(")) k++;
		return k < r->end ? past_parenthesis(r, k) : k;
	}
	if (is(r, i, "LIMIT") && is(r, i + 2, ",")) {
		put(r, "LIMIT");
		put_word(r, i + 3);
		put(r, "OFFSET");
		put_word(r, i + 1);
		return i + 4;
	}
	if (is(r, i, "LOCK") && is(r, i + 1, "IN") && is(r, i + 2, "SHARE")) {
		put(r, "FOR SHARE");
		return i + 4;
	}
	if (is(r, i, "INTERVAL") && !is(r, i + 1, "("))
		return put_interval(r, i);
	if (is(r, i, "USING") && !is(r, i + 1, "(")) {
		put(r, ",");
		put(r, "1");
		return i + 2;
	}
	if (is(r, i, "IN") && is(r, i + 1, "(") && is(r, i + 2, ")")) {
		put(r, "IN (NULL)");
		return i + 3;
	}
	if (is(r, i, "COLLATE")) return i + 2;
	return i;
}

static void put_range(struct rewriter *r, uint32_t from, uint32_t to)
{
	assert(to <= r->end);
	for (uint32_t i = from; i < to;) {
		uint32_t next = put_other(r, i);
		if (next == i) put_word(r, i++);
		i = next > i ? next : i;
	}
}

/* "SET a = 1, b = 2" as "(a, b) VALUES (1, 2)". */
static void put_insert_set(struct rewriter *r, uint32_t from, uint32_t to)
{
	struct rewriter part = *r;
	part.end = to;
	for (int values = 0; values < 2; values++) {
		put(r, values ? "VALUES (" : "(");
		for (uint32_t i = from; i < to;) {
			uint32_t equal = FIND(&part, i, "=");
			uint32_t end = FIND(&part, i, ",");
			if (equal > end) equal = end;
			if (i > from) put(r, ",");
			if (values && equal < end)
				put_range(r, equal + 1, end);
			else
				put_range(r, i, values ? i : equal);
			i = end + 1;
		}
		put(r, ")");
	}
}

static void put_insert(struct rewriter *r, uint32_t i)
{
	put(r, "INSERT INTO");
	for (i++; is(r, i, "IGNORE") || is(r, i, "INTO") ||
	          is(r, i, "LOW_PRIORITY") || is(r, i, "DELAYED") ||
	          is(r, i, "HIGH_PRIORITY");)
		i++;
	uint32_t again = FIND(r, i, "ON");
	while (again < r->end && !is(r, again + 1, "DUPLICATE"))
		again = FIND(r, again + 1, "ON");
	uint32_t set = FIND(r, i, "SET", "SELECT", "VALUES", "VALUE");
	if (set < again && is(r, set, "SET")) {
		put_range(r, i, set);
		put_insert_set(r, set + 1, again);
	} else if (set < again &&
	           (is(r, set, "VALUES") || is(r, set, "VALUE"))) {
		put_range(r, i, set);
		if (is(r, set + 1, "(") && is(r, set + 2, ")")) {
			put(r, "DEFAULT VALUES");
		} else {
			put(r, "VALUES");
			put_range(r, set + 1, again);
		}
	} else {
		put_range(r, i, again);
	}
	if (again < r->end) {
		put(r, "ON CONFLICT (x) DO UPDATE SET");
		put_range(r, again + 4, r->end);
	}
}

/* Without ORDER BY and LIMIT, which PostgreSQL does not have there. */
static uint32_t end_of_change(const struct rewriter *r, uint32_t i)
{
	return FIND(r, i, "ORDER", "LIMIT");
}

/* SET of one table, whose name PostgreSQL does not have before its columns. */
static void put_assignments(struct rewriter *r, uint32_t from, uint32_t to)
{
	int depth = 0;
	put_range(r, from, from + 1);
	for (uint32_t i = from + 1, next; i < to; i = next) {
		while (i + 2 < to && is(r, i + 1, ".")) i += 2;
		for (next = i; next < to; next++) {
			depth += is(r, next, "(") - is(r, next, ")");
			if (!depth && is(r, next, ",")) break;
		}
		next += next < to;
		put_range(r, i, next);
	}
}

static void put_update(struct rewriter *r, uint32_t i)
{
	for (i++; is(r, i, "IGNORE") || is(r, i, "LOW_PRIORITY");) i++;
	uint32_t set = FIND(r, i, "SET");
	uint32_t where = FIND(r, set, "WHERE");
	uint32_t end = end_of_change(r, set);
	uint32_t join = FIND(r, i, ",", "JOIN", "INNER", "LEFT", "CROSS",
	                     "STRAIGHT_JOIN", "RIGHT");
	if (where > end) where = end;
	put(r, "UPDATE");
	put_range(r, i, join < set ? join : set);
	if (join < set || set == where)
		put_range(r, set, where);
	else
		put_assignments(r, set, where);
	if (join < set) {
		put(r, "FROM");
		put_range(r, i, set);
	}
	put_range(r, where, end);
}

static void put_delete(struct rewriter *r, uint32_t i)
{
	for (i++; is(r, i, "IGNORE") || is(r, i, "LOW_PRIORITY") ||
	          is(r, i, "QUICK");)
		i++;
	uint32_t from = FIND(r, i, "FROM");
	uint32_t end = end_of_change(r, i);
	put(r, "DELETE FROM");
	if (from > i && from < r->end) { /* DELETE a FROM a JOIN b */
		uint32_t where = FIND(r, from, "WHERE");
		uint32_t stop = FIND(r, i, ",", ".");
		put_range(r, i, stop < from ? stop : from);
		put(r, "USING");
		put_range(r, from + 1, where < end ? where : end);
		put_range(r, where < end ? where : end, end);
	} else {
		put_range(r, from + 1, end);
	}
}

void mysql_rewrite(struct text *out, uint32_t *places,
                   const struct sql_words *w, uint32_t from, uint32_t to)
{
	struct rewriter r = { out, places, w, to };
	assert(from < to && to <= w->count);
	for (uint32_t i = from; i < to; i++) places[i] = UINT32_MAX;
	if (word_is(w, from, "INSERT") || word_is(w, from, "REPLACE"))
		put_insert(&r, from);
	else if (word_is(w, from, "UPDATE"))
		put_update(&r, from);
	else if (word_is(w, from, "DELETE"))
		put_delete(&r, from);
	else
		put_range(&r, from, to);
}
