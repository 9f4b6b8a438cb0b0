/* What there is to change in a program in SQL: a SELECT locks what it finds, a
 * value that is read, changed and written is changed where it stands, and a
 * transaction, or all, have another level.
 *
 * Edits are made in the text, and what they make is loaded and explored: so
 * what is proposed here need not be right, but only worth trying.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "repair/edits_parts.h"
#include "repair/sql_parents.h"
#include "repair/sql_text.h"
#include "sql/image.h"
#include "sql/load.h"
#include "sql/resolve.h"
#include "vm/bytecode.h"
#include "vm/program.h"

struct look {
	struct edits *edits;
	const struct program *program;
	const struct sql_image *image;
	bool *written; /* by table: some session can write it */
	bool *own;     /* the transaction or routine at hand does */
	const struct sql_routine *routine; /* the one at hand */
	struct place first; /* where it begins, for what is put before all */
	uint32_t first_point;
};

/* ---- texts ---- */

static struct part part_of(const struct look *l, const struct sql_statement *s)
{
	const struct edit_file *f = &l->edits->files[s->at.source];
	assert(s->at.offset <= s->end && s->end <= f->length);
	return (struct part){ f->text, s->at.offset, s->end };
}

/* Texts that are given on the command line are not edited. */
static bool is_in_file(const struct look *l, struct place at)
{
	return strncmp(l->edits->files[at.source].path, "--", 2) != 0;
}

/* ---- what is written ---- */

static void note_written(const struct sql_statement *s, bool *written)
{
	if (s->kind == STATEMENT_INSERT || s->kind == STATEMENT_UPDATE ||
	    s->kind == STATEMENT_DELETE)
		written[s->table->number] = true;
}

static void each_of_code(struct look *l, const struct sql_code *c,
                         void (*take)(struct look *l, const struct sql_code *c))
{
	for (; c; c = c->next) {
		if (c->statement) take(l, c);
		each_of_code(l, c->body, take);
		each_of_code(l, c->other, take);
		for (uint32_t i = 0; i < c->handler_count; i++)
			each_of_code(l, c->handlers[i].body, take);
	}
}

static void note_code(struct look *l, const struct sql_code *c)
{
	note_written(c->statement, l->own);
}

static void note_routine(struct look *l, const struct sql_routine *r)
{
	each_of_code(l, r->body, note_code);
	for (uint32_t i = 0; i < r->statement_count; i++)
		note_written(r->statements[i], l->own);
}

/* Those that some statement calls, or all, and those of triggers. */
static void each_routine(struct look *l,
                         void (*take)(struct look *l,
                                      const struct sql_routine *r))
{
	const struct sql_catalog *c = &l->image->catalog;
	for (uint32_t i = 0; i < c->routine_count; i++)
		if (c->routines[i]->called ||
		    (l->edits->terms.uncalled && !c->routines[i]->trigger))
			take(l, c->routines[i]);
	for (uint32_t i = 0; i < c->table_count; i++)
		for (const struct sql_trigger *t = c->tables[i]->triggers; t;
		     t = t->next)
			take(l, t->routine);
}

static void note_all(struct look *l)
{
	const struct sql_image *image = l->image;
	bool *own = l->own;
	l->own = l->written;
	for (uint32_t i = 0; i < image->session_count; i++)
		for (uint32_t k = 0; k < image->sessions[i].count; k++)
			note_written(image->sessions[i].items[k].statement,
			             l->written);
	each_routine(l, note_routine);
	l->own = own;
}

static void forget_own(struct look *l)
{
	memset(l->own, 0, l->image->catalog.table_count * sizeof *l->own);
}

/* ---- locks ---- */

/* A trigger's function stands once in the text, for several tables. */
static bool is_locked_already(const struct edits *e, struct place at)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (e->items[i].kind == EDIT_LOCK &&
		    e->items[i].source == at.source &&
		    e->items[i].offset == at.offset)
			return true;
	return false;
}

/* Where nobody writes, such locks keep out only others of the same kind. */
static void add_lock(struct look *l, const struct sql_statement *s)
{
	const struct sql_query *q = s->query;
	const struct sql_table *written = NULL, *any = NULL;
	bool own = false;
	if (s->kind != STATEMENT_QUERY || q->locks || q->grouped ||
	    q->distinct || q->combination || q->value_count ||
	    !is_in_file(l, s->at) ||
	    is_locked_already(l->edits, (struct place){ s->at.source, s->end }))
		return;
	for (uint32_t i = 0; i < q->relation_count; i++) {
		if (q->relations[i].kind != RELATION_TABLE) continue;
		const struct sql_table *t = q->relations[i].table;
		if (l->written[t->number] && (!written || l->own[t->number]))
			written = t;
		own |= l->own[t->number];
		any = t;
	}
	if (!written && any && !l->edits->terms.locks_write)
		parents_lock_read(l->edits, s, any);
	if (!written) return;
	struct edit *new = edits_add(
		l->edits, EDIT_LOCK,
		l->edits->terms.weights
			.lock[own ? STRENGTH_UPDATE : STRENGTH_SHARE]);
	new->transaction = l->edits->transaction_count - 1;
	new->read = s->point;
	new->strength = own ? STRENGTH_UPDATE : STRENGTH_SHARE;
	new->key = edits_text(l->edits, "", written->name, "");
	new->source = s->at.source;
	new->offset = s->end;
	new->text = own ? " FOR UPDATE" : " FOR SHARE";
}

/* ---- locks before ---- */

/* What stands behind SELECT where rows are put together: they cannot be locked
 * there. */
static bool is_aggregate(const struct part *p, uint32_t at, uint32_t end)
{
	static const char *const names[] = {
		"count", "sum",      "min",     "max",       "avg",
		"every", "bool_and", "bool_or", "array_agg", "string_agg"
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (part_word_is(p, at, end, names[i])) return true;
	return false;
}

/* FROM and WHERE of the query that begins there, up to what ends it. */
static struct part rows_of(const struct part *p, uint32_t at)
{
	static const char *const ends[] = { "group", "having", "order",
		                            "limit", "union",  "intersect",
		                            "except" };
	struct part q = { p->text, at, at };
	for (int depth = 0; q.to < p->to && depth >= 0; q.to++)
		depth += (p->text[q.to] == '(') - (p->text[q.to] == ')');
	if (q.to > at && p->text[q.to - 1] == ')') q.to--;
	struct part rows = { p->text, part_find_word(&q, "from"), q.to };
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		uint32_t end = part_find_word(&rows, ends[i]);
		if (end < rows.to) rows.to = end;
	}
	return between(p, rows.from, rows.to);
}

/* The table that FROM names first, if some session writes it. */
static const struct sql_table *written_table(const struct look *l,
                                             const struct part *rows)
{
	const struct sql_catalog *c = &l->image->catalog;
	uint32_t end, at = part_next_word(rows, rows->from, &end);
	at = part_next_word(rows, end, &end);
	for (uint32_t i = 0; i < c->table_count; i++)
		if (part_word_is(rows, at, end, c->tables[i]->name) &&
		    l->written[c->tables[i]->number])
			return c->tables[i];
	return NULL;
}

/* The rows that the part puts together are locked by statements before it,
 * which begin with this word. */
static void add_lock_before(struct look *l, const struct part *p,
                            struct place at, uint32_t point, const char *word)
{
	const struct sql_table *first = NULL;
	struct text t = { 0 };
	uint32_t end;
	if (!is_in_file(l, at) || is_locked_already(l->edits, at)) return;
	for (uint32_t i = part_next_word(p, p->from, &end); i < p->to;
	     i = part_next_word(p, end, &end)) {
		if (!part_word_is(p, i, end, "select")) continue;
		uint32_t behind_it, what = part_next_word(p, end, &behind_it);
		if (!is_aggregate(p, what, behind_it)) continue;
		struct part rows = rows_of(p, i);
		const struct sql_table *table = written_table(l, &rows);
		if (!table) continue;
		if (!first) first = table;
		text_format(&t, "%s 1 ", word);
		text_bytes(&t, rows.text + rows.from, rows.to - rows.from);
		text_string(&t, " FOR UPDATE; ");
	}
	if (first) {
		struct edit *new = edits_add(
			l->edits, EDIT_LOCK,
			l->edits->terms.weights.lock[STRENGTH_UPDATE]);
		new->transaction = l->edits->transaction_count - 1;
		new->read = point;
		new->strength = STRENGTH_UPDATE;
		new->key = edits_text(l->edits, "", first->name, "");
		new->source = at.source;
		new->offset = at.offset;
		new->text = edits_text(l->edits, "", text_get(&t), "");
	}
	text_free(&t);
}

static void lock_before_statement(struct look *l, const struct sql_statement *s)
{
	struct part p = part_of(l, s);
	if (s->kind <= STATEMENT_DELETE)
		add_lock_before(l, &p, s->at, s->point, "SELECT");
}

/* Where the statement of PL/pgSQL begins, which is known behind its IF. False:
 * nothing can be put before it. */
static bool find_begin(const struct look *l, const struct sql_code *c,
                       struct part *out)
{
	const struct edit_file *f = &l->edits->files[c->at.source];
	uint32_t at = c->at.offset, end = at, word;
	*out = (struct part){ f->text, at, (uint32_t)f->length };
	if (c->dynamic || (c->kind != CODE_SQL && c->kind != CODE_ASSIGN &&
	                   c->kind != CODE_RETURN && c->kind != CODE_IF))
		return false;
	out->to = part_find_word(out, c->kind == CODE_IF ? "then" : ";");
	if (c->kind == CODE_SQL) { /* but PERFORM */
		part_next_word(out, at, &word);
		return part_word_is(out, at, word, "select") ||
		       c->statement->kind != STATEMENT_QUERY;
	}
	if (c->kind != CODE_IF) return true;
	while (end && isspace((unsigned char)f->text[end - 1])) end--;
	if (end < 3 || !part_word_is(out, end - 2, end, "if") ||
	    goes_on_word(f->text[end - 3]))
		return false;
	out->from = end - 2;
	return true;
}

static void lock_before_code(struct look *l, const struct sql_code *c)
{
	for (; c; c = c->next) {
		struct part p;
		if (find_begin(l, c, &p))
			add_lock_before(l, &p,
			                (struct place){ c->at.source, p.from },
			                c->point, "PERFORM");
		lock_before_code(l, c->body);
		lock_before_code(l, c->other);
		for (uint32_t i = 0; i < c->handler_count; i++)
			lock_before_code(l, c->handlers[i].body);
	}
}

/* ---- updates ---- */

static void add_atomic(struct look *l, const struct sql_statement *read,
                       const struct sql_statement *write, uint32_t from,
                       uint32_t to, const struct text *text)
{
	struct edit *new = edits_add(l->edits, EDIT_ATOMIC,
	                             l->edits->terms.weights.atomic);
	assert(from < to);
	new->transaction = l->edits->transaction_count - 1;
	new->read = read->point;
	new->write = write->point;
	new->key = edits_text(l->edits, "", write->table->name, "");
	new->source = write->at.source;
	new->offset = from;
	new->removed = to - from;
	new->text = edits_text(l->edits, "", text_get(text), "");
}

/* SET v = (SELECT v + 1 FROM t WHERE ..) WHERE the same: the row that is
 * changed is the one that is read. */
static void add_inner_read(struct look *l, const struct sql_statement *s)
{
	if (s->kind != STATEMENT_UPDATE || !is_in_file(l, s->at)) return;
	struct part p = part_of(l, s);
	struct part table = behind(&p, "update", "set");
	struct part where = behind(&p, "where", "returning");
	uint32_t end, open = p.from;
	while (open < p.to && p.text[open] != '(')
		open = part_next_word(&p, open + 1, &end);
	if (open == p.to) return;
	uint32_t shut = open;
	int depth = 0;
	do depth += (p.text[shut] == '(') - (p.text[shut] == ')');
	while (++shut < p.to && depth);
	if (depth) return;
	struct part inner = { p.text, open + 1, shut - 1 };
	struct part value = behind(&inner, "select", "from");
	struct part from = behind(&inner, "from", "where");
	struct part of = behind(&inner, "where", "where");
	if (value.from == value.to || where.from == where.to ||
	    !same_words(&from, &table) || !same_words(&of, &where))
		return;
	struct text t = { 0 };
	text_char(&t, '(');
	text_bytes(&t, p.text + value.from, value.to - value.from);
	text_char(&t, ')');
	add_atomic(l, s, s, open, shut, &t);
	text_free(&t);
}

/* Of a variable: where the part mentions it so many times, the last one. */
static bool is_mentioned(const struct part *p, const char *name, uint32_t times,
                         uint32_t *at, uint32_t *end)
{
	uint32_t count = 0, to;
	for (uint32_t i = part_next_word(p, p->from, &to); i < p->to;
	     i = part_next_word(p, to, &to))
		if (part_word_is(p, i, to, name)) {
			count++;
			*at = i;
			*end = to;
		}
	return count == times;
}

/* SELECT n INTO v FROM t WHERE ..; UPDATE t SET n = v + 1 WHERE the same; where
 * v is not used elsewhere. */
static void add_read_before(struct look *l, const struct sql_code *c)
{
	const struct sql_routine *r = l->routine;
	const struct sql_code *d = c->next;
	if (c->kind != CODE_SQL || !c->into || c->strict || c->dynamic ||
	    c->target_count != 1 || c->statement->kind != STATEMENT_QUERY ||
	    !d || d->kind != CODE_SQL || !d->statement || d->dynamic ||
	    d->statement->kind != STATEMENT_UPDATE)
		return;
	const struct sql_query *q = c->statement->query;
	const struct sql_table *t = d->statement->table;
	if (q->relation_count != 1 || q->relations[0].table != t || q->locks ||
	    q->targets[0].value->kind != EXPR_COLUMN)
		return;
	for (uint32_t i = 0; i < r->out_count; i++)
		if (r->out_slots[i] == c->targets[0].slot) return;
	struct part read = part_of(l, c->statement);
	struct part write = part_of(l, d->statement);
	struct part found = behind(&read, "where", "for");
	struct part changed = behind(&write, "where", "returning");
	struct part set = behind(&write, "set", "where");
	const char *shut = strstr(write.text + write.to, "$$");
	struct part all = { read.text, r->at.offset,
		            shut ? (uint32_t)(shut - read.text) : write.to };
	const char *name = r->slots[c->targets[0].slot].name;
	uint32_t at = 0, end = 0;
	if (found.from == found.to || !same_words(&found, &changed) ||
	    !is_mentioned(&all, name, 3, &at, &end) || at < set.from ||
	    end > set.to)
		return;
	struct text new = { 0 };
	text_bytes(&new, write.text + write.from, at - write.from);
	text_string(&new, t->columns[q->targets[0].value->column].name);
	add_atomic(l, c->statement, d->statement, read.from, end, &new);
	text_free(&new);
}

/* ---- levels ---- */

/* NULL where PostgreSQL has no such level. */
static const char *words_of(enum level l)
{
	return sql_level_words(level_word(l));
}

/* Where BEGIN, or SET TRANSACTION, says the level: the words, or no byte behind
 * its first ones. False: it cannot be found. */
static bool find_level(const struct part *p, struct part *out)
{
	static const char *const first[] = { "begin",       "start",
		                             "set",         "work",
		                             "transaction", "isolation",
		                             "level" };
	static const char *const levels[] = { "read", "committed",
		                              "uncommitted", "repeatable",
		                              "serializable" };
	uint32_t end, at = part_next_word(p, p->from, &end), last = p->from;
	bool said = false, more = true;
	for (; at < p->to && more; at = part_next_word(p, end, &end)) {
		more = false;
		for (size_t i = 0; i < sizeof first / sizeof *first; i++)
			more |= part_word_is(p, at, end, first[i]);
		said |= part_word_is(p, at, end, "level");
		if (!more) break;
		last = end;
	}
	*out = (struct part){ p->text, last, last };
	if (!said) return last > p->from;
	out->from = at;
	for (more = true; at < p->to && more;
	     at = part_next_word(p, end, &end)) {
		more = false;
		for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
			more |= part_word_is(p, at, end, levels[i]);
		if (more) out->to = end;
	}
	return out->to > out->from;
}

/* The text with which the statement says a level, in place of these bytes; a
 * statement that is no BEGIN and the like has it before it. */
static const char *text_of_level(struct look *l, const struct sql_statement *s,
                                 const char *words, struct part *at)
{
	struct part p = part_of(l, s);
	if (s->kind != STATEMENT_BEGIN &&
	    s->kind != STATEMENT_SET_TRANSACTION) {
		*at = (struct part){ p.text, p.from, p.from };
		return edits_text(l->edits, "SET TRANSACTION ISOLATION LEVEL ",
		                  words, "; ");
	}
	if (!find_level(&p, at)) return NULL;
	return at->from < at->to
	               ? words
	               : edits_text(l->edits, " ISOLATION LEVEL ", words, "");
}

/* Each level that it can have of its own, but the one that it has. `says` is
 * the statement that says it, or could. */
static void add_transaction_levels(struct look *l,
                                   const struct sql_statement *says,
                                   own_level own)
{
	struct edits *e = l->edits;
	enum level now = own ? (enum level)(own - 1) : e->terms.level;
	if (e->terms.level_said || !level_mixes(e->terms.level) ||
	    !is_in_file(l, says->at))
		return;
	for (enum level i = 0; i < LEVEL_COUNT; i++) {
		const char *words = words_of(i);
		struct part at;
		if (i == now || !words) continue;
		const char *text = text_of_level(l, says, words, &at);
		if (!text) return;
		struct edit *new = edits_add(e, EDIT_TRANSACTION,
		                             e->terms.weights.transaction[i]);
		new->transaction = e->transaction_count - 1;
		new->level = i;
		new->source = says->at.source;
		new->offset = at.from;
		new->removed = at.to - at.from;
		new->text = text;
	}
}

/* A file of SQL has no place for it. */
static void add_program_levels(struct look *l, bool all_own, uint32_t counted)
{
	struct edits *e = l->edits;
	const struct sql_image *image = l->image;
	if (all_own && !e->terms.level_said) return;
	for (enum level i = 0; i < LEVEL_COUNT; i++) {
		if (i == e->terms.level || !words_of(i)) continue;
		struct edit *new = edits_add(e, EDIT_PROGRAM,
		                             e->terms.weights.program[i] *
		                                     (counted ? counted : 1));
		new->level = i;
		new->text = e->terms.level_said
		                    ? ""
		                    : edits_text(e, "isolation ", level_word(i),
		                                 "\n");
		if (e->terms.level_said || !image->isolation) continue;
		const struct edit_file *f =
			&e->files[image->isolation_at.source];
		bool quoted = f->text[image->isolation_at.offset] == '"';
		new->source = image->isolation_at.source;
		new->offset = image->isolation_at.offset;
		new->removed = (uint32_t)strlen(image->isolation) + 2 * quoted;
		new->text = level_word(i);
	}
}

/* ---- transactions ---- */

static void add_transaction(struct look *l, const char *name, struct place at,
                            own_level own, bool fixed)
{
	struct edits *e = l->edits;
	VEC_RESERVE(e->transactions, e->transaction_count,
	            e->transaction_capacity);
	e->transactions[e->transaction_count++] = (struct edit_transaction){
		.name = edits_text(e, "", name, ""),
		.source = at.source,
		.line = edits_line_at(&e->files[at.source], at.offset),
		.own = own,
		.fixed = fixed,
	};
}

static bool ends_transaction(const struct sql_item *x)
{
	return x->statement->kind == STATEMENT_COMMIT ||
	       x->statement->kind == STATEMENT_ROLLBACK;
}

static bool begins_transaction(const struct sql_session *x, uint32_t i)
{
	enum sql_statement_kind kind = x->items[i].statement->kind;
	return kind == STATEMENT_BEGIN || sql_is_access(kind) ||
	       (kind == STATEMENT_SET_TRANSACTION &&
	        i + 1 < x->items[i].next_step);
}

/* Behind its last item: its COMMIT, or the end of the step where there is no
 * BEGIN. */
static uint32_t end_of_transaction(const struct sql_session *x, uint32_t begin)
{
	bool block = false;
	for (uint32_t i = begin; i < x->count; i++) {
		block |= x->items[i].statement->kind == STATEMENT_BEGIN;
		if (ends_transaction(&x->items[i]) ||
		    (!block && i + 1 == x->items[i].next_step))
			return i + 1;
	}
	return x->count;
}

static void lock_parents_first(struct look *l, const struct sql_session *x,
                               uint32_t begin, uint32_t end)
{
	const struct sql_statement *first = NULL;
	for (uint32_t i = begin; i < end; i++) {
		const struct sql_statement *s = x->items[i].statement;
		if (!first && s->kind <= STATEMENT_DELETE) first = s;
		if (first && s->kind == STATEMENT_INSERT &&
		    is_in_file(l, first->at))
			parents_lock_before(l->edits, s, l->written, "SELECT",
			                    first->at, first->point);
	}
}

static void look_at_transaction(struct look *l, const struct sql_session *x,
                                uint32_t begin, uint32_t end)
{
	const struct sql_statement *says = x->items[begin].statement;
	own_level own = 0;
	assert(begin < end && end <= x->count);
	forget_own(l);
	for (uint32_t i = begin; i < end; i++)
		note_written(x->items[i].statement, l->own);
	for (uint32_t i = begin; i < end; i++) {
		const struct sql_statement *s = x->items[i].statement;
		if (s->kind != STATEMENT_BEGIN &&
		    s->kind != STATEMENT_SET_TRANSACTION)
			break;
		if (!s->modes.level) continue;
		own = s->modes.level;
		says = s;
	}
	if (l->edits->terms.level_said) own = 0;
	add_transaction(l,
	                x->items[begin].step == SQL_NO_STEP
	                        ? x->name
	                        : program_transaction_name(
					  l->program, x->items[begin].name),
	                says->at, own, false);
	add_transaction_levels(l, says, own);
	for (uint32_t i = begin; i < end; i++) {
		add_lock(l, x->items[i].statement);
		lock_before_statement(l, x->items[i].statement);
		add_inner_read(l, x->items[i].statement);
	}
	lock_parents_first(l, x, begin, end);
}

static void look_at_session(struct look *l, const struct sql_session *x)
{
	for (uint32_t i = 0; i < x->count;) {
		if (!begins_transaction(x, i)) {
			i++;
			continue;
		}
		uint32_t end = end_of_transaction(x, i);
		look_at_transaction(l, x, i, end);
		i = end;
	}
}

/* What EXECUTE runs stands in no file by itself. */
static void look_at_code(struct look *l, const struct sql_code *c)
{
	if (c->dynamic) return;
	add_lock(l, c->statement);
	add_inner_read(l, c->statement);
}

static void lock_parents_of(struct look *l, const struct sql_code *c)
{
	if (c->statement->kind == STATEMENT_INSERT && !c->dynamic)
		parents_lock_before(l->edits, c->statement, l->written,
		                    "PERFORM", l->first, l->first_point);
}

/* Before the first statement of the routine, if something can be put there. */
static void lock_parents_in_routine(struct look *l, const struct sql_routine *r)
{
	const struct sql_code *c = r->body;
	struct part begin;
	while (c && c->kind == CODE_BLOCK) c = c->body;
	if (c && find_begin(l, c, &begin) && is_in_file(l, c->at)) {
		l->first = (struct place){ c->at.source, begin.from };
		l->first_point = c->point;
		each_of_code(l, r->body, lock_parents_of);
	}
	for (uint32_t i = 0; i < r->statement_count; i++)
		if (r->statements[i]->kind == STATEMENT_INSERT &&
		    is_in_file(l, r->at))
			parents_lock_before(l->edits, r->statements[i],
			                    l->written, "SELECT",
			                    r->statements[0]->at,
			                    r->statements[0]->point);
}

static void look_at_routine(struct look *l, const struct sql_routine *r)
{
	forget_own(l);
	l->routine = r;
	note_routine(l, r);
	add_transaction(l, r->name, r->at, 0, true);
	each_of_code(l, r->body, look_at_code);
	lock_before_code(l, r->body);
	each_of_code(l, r->body, add_read_before);
	for (uint32_t i = 0; i < r->statement_count; i++) {
		add_lock(l, r->statements[i]);
		lock_before_statement(l, r->statements[i]);
		add_inner_read(l, r->statements[i]);
	}
	lock_parents_in_routine(l, r);
}

void edits_find_sql(struct edits *e, const struct program *p)
{
	const struct sql_image *image = sql_image_of(p->library);
	struct look l = { .edits = e, .program = p, .image = image };
	uint32_t tables = image->catalog.table_count, name, own = 0;
	struct position at;
	assert(e->sql && !e->count && !e->transaction_count);
	edits_copy_files(e, &image->all);
	if (sql_is_script(e->path) && !program_finds_own_level(p, &name, &at))
		e->terms.level_said = true;
	l.written = mem_take0(tables + (size_t)1, sizeof *l.written);
	l.own = mem_take0(tables + (size_t)1, sizeof *l.own);
	note_all(&l);
	e->session_count = image->session_count;
	e->session_transactions =
		region_take(&e->region, (image->session_count + (size_t)1) *
	                                        sizeof(uint32_t));
	for (uint32_t i = 0; i < image->session_count; i++) {
		uint32_t before = e->transaction_count;
		look_at_session(&l, &image->sessions[i]);
		e->session_transactions[i] = e->transaction_count - before;
	}
	uint32_t counted = e->transaction_count;
	for (uint32_t t = 0; t < counted; t++)
		own += e->transactions[t].own != 0;
	each_routine(&l, look_at_routine);
	parents_keep(e, l.written, image->catalog.tables, counted);
	add_program_levels(&l, counted && own == counted, counted);
	free(l.written);
	free(l.own);
}
