#include "proof_checker.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct clause {
	size_t first;
	uint32_t count;
};

struct watchers {
	uint32_t *items;
	uint32_t count, capacity;
};

struct checker {
	int *literals; /* of clauses; the first two of each are watched */
	size_t literal_count, literal_capacity;
	struct clause *clauses;
	uint32_t count, capacity;
	int variables;
	struct watchers *watchers; /* by index of the literal */
	signed char *truth;        /* by index: of it. 0: open */
	int *trail;
	size_t trail_count, propagated;
	bool refuted; /* by unit propagation */
	int *line;    /* the clause that is read */
	uint32_t line_count, line_capacity;
	const char *why;
};

static size_t index_of(int literal)
{
	return 2 * (size_t)abs(literal) + (literal < 0);
}

static int truth(const struct checker *c, int literal)
{
	return c->truth[index_of(literal)];
}

/* ---- propagation ---- */

static void assign(struct checker *c, int literal)
{
	c->truth[index_of(literal)] = 1;
	c->truth[index_of(-literal)] = -1;
	c->trail[c->trail_count++] = literal;
}

static void take_back(struct checker *c, size_t count)
{
	while (c->trail_count > count) {
		int literal = c->trail[--c->trail_count];
		c->truth[index_of(literal)] = 0;
		c->truth[index_of(-literal)] = 0;
	}
	c->propagated = count;
}

static void watch(struct checker *c, int literal, uint32_t clause)
{
	struct watchers *w = &c->watchers[index_of(literal)];
	VEC_RESERVE(w->items, w->count, w->capacity);
	w->items[w->count++] = clause;
}

/* Moves a literal that is not false to `place`, behind it in the clause. */
static bool find_watch(const struct checker *c, struct clause k, uint32_t place)
{
	int *l = c->literals + k.first;
	for (uint32_t i = place; i < k.count; i++)
		if (truth(c, l[i]) >= 0) {
			int moved = l[i];
			l[i] = l[place];
			l[place] = moved;
			return true;
		}
	return false;
}

/* The clause's watched literal has become false. True if it is watched no
 * longer; *conflict: there is none that is not false. */
static bool visit(struct checker *c, uint32_t clause, int falsified,
                  bool *conflict)
{
	struct clause k = c->clauses[clause];
	int *l = c->literals + k.first;
	if (l[0] == falsified) {
		l[0] = l[1];
		l[1] = falsified;
	}
	if (truth(c, l[0]) > 0) return false;
	for (uint32_t i = 2; i < k.count; i++) {
		if (truth(c, l[i]) < 0) continue;
		l[1] = l[i];
		l[i] = falsified;
		watch(c, l[1], clause);
		return true;
	}
	if (truth(c, l[0]) < 0)
		*conflict = true;
	else
		assign(c, l[0]);
	return false;
}

/* False: some clause is false. */
static bool propagate(struct checker *c)
{
	bool conflict = false;
	while (c->propagated < c->trail_count && !conflict) {
		int falsified = -c->trail[c->propagated++];
		struct watchers *w = &c->watchers[index_of(falsified)];
		uint32_t kept = 0, i = 0;
		for (; i < w->count && !conflict; i++) {
			uint32_t clause = w->items[i];
			if (visit(c, clause, falsified, &conflict)) continue;
			w->items[kept++] = clause;
		}
		for (; i < w->count; i++) w->items[kept++] = w->items[i];
		w->count = kept;
	}
	return !conflict;
}

/* ---- clauses ---- */

static void make_room(struct checker *c, int variable)
{
	size_t old = c->variables ? 2 * (size_t)c->variables + 2 : 0;
	if (variable <= c->variables) return;
	c->variables = 2 * variable;
	size_t count = 2 * (size_t)c->variables + 2;
	c->watchers = mem_grow0(c->watchers, old, count, sizeof *c->watchers);
	c->truth = mem_grow0(c->truth, old, count, sizeof *c->truth);
	c->trail = mem_grow(c->trail, count, sizeof *c->trail);
}

/* The clause that was read. What is known by then is known for good. */
static void add(struct checker *c)
{
	VEC_RESERVE(c->clauses, c->count, c->capacity);
	uint32_t clause = c->count++;
	struct clause k = { c->literal_count, c->line_count };
	c->clauses[clause] = k;
	for (uint32_t i = 0; i < k.count; i++) {
		VEC_RESERVE(c->literals, c->literal_count, c->literal_capacity);
		c->literals[c->literal_count++] = c->line[i];
	}
	bool some = find_watch(c, k, 0), two = some && find_watch(c, k, 1);
	int *l = c->literals + k.first;
	if (k.count > 1) {
		watch(c, l[0], clause);
		watch(c, l[1], clause);
	}
	if (!some)
		c->refuted = true;
	else if (!two && !truth(c, l[0]))
		assign(c, l[0]);
	if (!c->refuted) c->refuted = !propagate(c);
}

/* Does unit propagation refute that all of these are false, and those of the
 * other clause but `without`? */
static bool follows_with(struct checker *c, const int *other, uint32_t count,
                         int without)
{
	size_t before = c->trail_count;
	bool follows = false;
	for (uint32_t i = 0; i < c->line_count + count && !follows; i++) {
		int l = i < c->line_count ? c->line[i]
		                          : other[i - c->line_count];
		if (i >= c->line_count && l == without) continue;
		follows = truth(c, l) > 0;
		if (!truth(c, l)) assign(c, -l);
	}
	follows = follows || !propagate(c);
	take_back(c, before);
	return follows;
}

static bool is_asymmetric(struct checker *c)
{
	if (!c->line_count) return false;
	int without = -c->line[0];
	for (uint32_t i = 0; i < c->count; i++) {
		const struct clause *k = &c->clauses[i];
		const int *l = c->literals + k->first;
		uint32_t at = 0;
		while (at < k->count && l[at] != without) at++;
		if (at == k->count) continue;
		int *copy = mem_take((k->count + 1) * sizeof *copy);
		memcpy(copy, l, k->count * sizeof *copy);
		bool follows = follows_with(c, copy, k->count, without);
		free(copy);
		if (!follows) return false;
	}
	return true;
}

/* ---- texts ---- */

/* The next clause of the text; false at its end. */
static bool read_clause(struct checker *c, const char **text)
{
	c->line_count = 0;
	for (;;) {
		char *end;
		long literal = strtol(*text, &end, 10);
		if (end == *text) return false;
		*text = end;
		if (!literal) return true;
		make_room(c, abs((int)literal));
		VEC_RESERVE(c->line, c->line_count, c->line_capacity);
		c->line[c->line_count++] = (int)literal;
	}
}

static bool read_formula(struct checker *c, const char *text)
{
	long clauses = 0;
	while (*text == 'c') text = strchr(text, '\n') + 1;
	if (strncmp(text, "p cnf ", 6) != 0) return false;
	char *end;
	long variables = strtol(text + 6, &end, 10);
	long expected = strtol(end, &end, 10);
	text = end;
	make_room(c, (int)variables + 1);
	for (; read_clause(c, &text); clauses++)
		if (!c->refuted) add(c);
	return clauses == expected && !c->line_count;
}

static bool check_steps(struct checker *c, const char *text)
{
	while (!c->refuted) {
		while (*text == ' ' || *text == '\n') text++;
		if (*text == 'd') {
			text = strchr(text, '\n');
			continue;
		}
		if (!read_clause(c, &text)) {
			c->why = "it ends before the empty clause";
			return false;
		}
		if (!follows_with(c, NULL, 0, 0) && !is_asymmetric(c)) {
			c->why = "a step does not follow";
			return false;
		}
		add(c);
	}
	return true;
}

bool proof_is_fine(const char *formula, const char *proof, const char **why)
{
	struct checker c = { 0 };
	make_room(&c, 1);
	bool fine = read_formula(&c, formula);
	if (!fine) c.why = "the formula is malformed";
	fine = fine && check_steps(&c, proof);
	*why = c.why;
	for (size_t i = 0; i < 2 * (size_t)c.variables + 2; i++)
		free(c.watchers[i].items);
	free(c.watchers);
	free(c.truth);
	free(c.trail);
	free(c.literals);
	free(c.clauses);
	free(c.line);
	return fine;
}
