/* prc of large histories: one where each statement that reads is a transaction
 * of its own, and so is the rest, which writes and commits.
 *
 * Their points are those of levels.h's lines: p of the statements, c of the
 * rest. A statement reads the newest versions at its point, which is what ser
 * asks of it; session order keeps the points of a transaction in their order.
 * What remains are the locks (axioms/points.h): a row is locked from u, the
 * next point of the transaction that locks it, to c, and of two such intervals,
 * unless both share it, one ends before the other begins.
 *
 * A read that keeps writers away reads at u: nobody can have written the row
 * since it was locked. So it is one of the next part's. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/strong.h"

struct statements {
	const struct facts *f;
	struct facts part;   /* one transaction for each point */
	uint32_t *owner;     /* by part: the transaction */
	uint32_t *commit_of; /* by transaction: its last part */
	struct strong_locks locks;
};

bool check_reads_for_constraints(const struct facts *f)
{
	for (uint32_t i = 0; i < f->read_first[f->n]; i++)
		if (strength_is_beside(f->reads[i].strength)) return true;
	return false;
}

bool check_has_plain_reads(const struct facts *f)
{
	for (uint32_t i = 0; i < f->read_first[f->n]; i++)
		if (f->reads[i].strength != STRENGTH_PLAIN) return false;
	for (uint32_t i = 0; i < f->lock_first[f->n]; i++)
		if (f->locks[i].reads_own) return false;
	return true;
}

/* Does it keep writers away, or is it plain and not behind one of its statement
 * that does? */
static bool is_known_read(const struct facts *f, uint32_t t, uint32_t i)
{
	const struct facts_read *r = &f->reads[i];
	if (r->strength != STRENGTH_PLAIN)
		return r->strength >= STRENGTH_SHARE &&
		       r->strength != STRENGTH_INSERT;
	return i == f->read_first[t] || r[-1].strength == STRENGTH_PLAIN ||
	       r[-1].statement != r->statement;
}

bool check_has_known_locks(const struct facts *f)
{
	for (uint32_t t = 1; t < f->n; t++)
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++)
			if (!is_known_read(f, t, i)) return false;
	for (uint32_t i = 0; i < f->lock_first[f->n]; i++)
		if (f->locks[i].strength < STRENGTH_SHARE ||
		    f->locks[i].strength == STRENGTH_GIVEN_UP ||
		    f->locks[i].strength == STRENGTH_INSERT)
			return false;
	return true;
}

/* ---- parts ---- */

/* Is this read the first plain one of its statement? `last` is the plain one
 * before it, or UINT32_MAX. */
static bool begins_part(const struct facts *f, uint32_t i, uint32_t last)
{
	return f->reads[i].strength == STRENGTH_PLAIN &&
	       (last == UINT32_MAX ||
	        f->reads[i].statement != f->reads[last].statement);
}

/* Statements with plain reads, of one transaction. */
static uint32_t count_statements(const struct facts *f, uint32_t t)
{
	uint32_t count = 0, last = UINT32_MAX;
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++) {
		count += begins_part(f, i, last);
		if (f->reads[i].strength == STRENGTH_PLAIN) last = i;
	}
	return count;
}

/* Parts have the order of their transactions. */
static uint32_t first_part(const struct statements *s, uint32_t t)
{
	return s->commit_of[t - 1] + 1;
}

/* Has it anything to do when it commits? */
static bool has_rest(const struct facts *f, uint32_t t)
{
	uint32_t reads = f->read_first[t + 1];
	return f->lock_first[t] < f->lock_first[t + 1] ||
	       f->read_first[t] == reads ||
	       f->reads[reads - 1].strength != STRENGTH_PLAIN;
}

static void take_arrays(struct statements *s)
{
	const struct facts *f = s->f;
	struct facts *p = &s->part;
	uint32_t n = 1;
	s->commit_of = mem_take0(f->n, sizeof *s->commit_of);
	for (uint32_t t = 1; t < f->n; t++) {
		n += count_statements(f, t) + has_rest(f, t);
		s->commit_of[t] = n - 1;
	}
	*p = (struct facts){ .n = n,
		             .key_count = f->key_count,
		             .session_count = f->session_count,
		             .after_all = f->after_all,
		             .reads = mem_take(
				     (f->read_first[f->n] + (size_t)1) *
				     sizeof *p->reads),
		             .writes = f->writes,
		             .known_count = f->known_count };
	s->owner = mem_take0(n, sizeof *s->owner);
	p->session_first = mem_take0(f->session_count + (size_t)1,
	                             sizeof *p->session_first);
	p->session_of = mem_take0(n, sizeof *p->session_of);
	p->session_of[HISTORY_INIT] = UINT32_MAX;
	p->read_first = mem_take0(n + (size_t)1, sizeof *p->read_first);
	p->write_first = mem_take0(n + (size_t)1, sizeof *p->write_first);
	p->lock_first = mem_take0(n + (size_t)1, sizeof *p->lock_first);
	p->order = mem_take0(n, sizeof *p->order);
	p->rank = mem_take0(n, sizeof *p->rank);
}

static void begin_part(struct statements *s, uint32_t t, uint32_t part,
                       uint32_t first_read)
{
	s->owner[part] = t;
	s->part.session_of[part] = s->f->session_of[t];
	s->part.read_first[part] = first_read;
}

/* The parts of a transaction: their reads and their owner. */
static void take_transaction(struct statements *s, uint32_t t, uint32_t *part)
{
	const struct facts *f = s->f;
	struct facts *p = &s->part;
	uint32_t first = f->read_first[t], last = UINT32_MAX;
	for (uint32_t i = first; i < f->read_first[t + 1]; i++) {
		struct facts_read r = f->reads[i];
		uint32_t begin = last == UINT32_MAX ? first : last + 1;
		if (begins_part(f, i, last)) begin_part(s, t, (*part)++, begin);
		if (r.strength == STRENGTH_PLAIN) last = i;
		r.from = s->commit_of[r.from];
		p->reads[i] = r;
	}
	if (has_rest(f, t))
		begin_part(s, t, (*part)++,
		           last == UINT32_MAX ? first : last + 1);
}

static void take_parts(struct statements *s)
{
	const struct facts *f = s->f;
	struct facts *p = &s->part;
	uint32_t part = 1, writers = f->writer_first[f->key_count];
	take_arrays(s);
	for (uint32_t i = 0; i <= f->session_count; i++) {
		uint32_t t = f->session_first[i];
		p->session_first[i] = first_part(s, t);
	}
	for (uint32_t t = 1; t < f->n; t++) {
		take_transaction(s, t, &part);
		assert(part == s->commit_of[t] + 1);
		p->write_first[part - 1] = f->write_first[t];
		p->write_first[part] = f->write_first[t + 1];
	}
	p->read_first[p->n] = f->read_first[f->n];
	/* Parts that write nothing begin where the next one does. */
	for (uint32_t i = p->n; i-- > 1;)
		if (i != s->commit_of[s->owner[i]])
			p->write_first[i] = p->write_first[i + 1];
	p->writer_first = f->writer_first;
	p->writers = mem_take((writers + (size_t)1) * sizeof *p->writers);
	for (uint32_t i = 0; i < writers; i++)
		p->writers[i] = s->commit_of[f->writers[i]];
	p->known = mem_take((f->known_count + (size_t)1) * sizeof *p->known);
	for (uint32_t i = 0; i < f->known_count; i++)
		p->known[i] =
			(struct history_known){ s->commit_of[f->known[i].from],
			                        s->commit_of[f->known[i].to],
			                        f->known[i].key };
}

static void order_parts(struct statements *s)
{
	struct facts *p = &s->part;
	uint32_t count = 1;
	for (uint32_t k = 1; k < s->f->n; k++) {
		uint32_t t = s->f->order[k];
		for (uint32_t i = first_part(s, t); i <= s->commit_of[t]; i++)
			p->order[count++] = i;
	}
	assert(count == p->n);
	for (uint32_t i = 0; i < count; i++) p->rank[p->order[i]] = i;
}

/* ---- locks ---- */

/* The last transaction that has a lock of the key. */
struct taken_locks {
	uint32_t shared, alone;
};

/* The next lock of the transaction, of those that reads take and the others,
 * of which these are the next ones. */
static bool next_lock(const struct facts *f, uint32_t t, uint32_t *read,
                      uint32_t *other, struct facts_lock *to)
{
	uint32_t reads = f->read_first[t + 1], others = f->lock_first[t + 1];
	const struct facts_read *r = &f->reads[*read];
	for (; *read < reads && r->strength == STRENGTH_PLAIN; r++) ++*read;
	if (*read == reads && *other == others) return false;
	if (*read == reads ||
	    (*other < others && f->locks[*other].statement < r->statement)) {
		*to = f->locks[(*other)++];
		return true;
	}
	*to = (struct facts_lock){ r->key, r->statement, r->strength, false };
	++*read;
	return true;
}

/* The first part of the transaction from this one on that is behind what the
 * statement locks. */
static uint32_t part_behind(const struct statements *s, uint32_t part,
                            uint32_t statement)
{
	const struct facts *p = &s->part;
	uint32_t commit = s->commit_of[s->owner[part]];
	while (part < commit &&
	       p->reads[p->read_first[part + 1] - 1].statement <= statement)
		part++;
	return part;
}

/* Of each key that the transaction locks, from its first lock on; and from the
 * first that is not shared. */
static void take_locks(struct statements *s, uint32_t t,
                       struct taken_locks *taken)
{
	struct strong_locks *l = &s->locks;
	uint32_t until = first_part(s, t);
	uint32_t read = s->f->read_first[t], other = s->f->lock_first[t];
	struct facts_lock k;
	while (next_lock(s->f, t, &read, &other, &k)) {
		bool shared = k.strength == STRENGTH_SHARE;
		struct taken_locks *has = &taken[k.key];
		until = part_behind(s, until, k.statement);
		if (has->alone == t || (shared && has->shared == t)) continue;
		l->items[l->count++] =
			(struct strong_lock){ .commit = s->commit_of[t],
			                      .until = until,
			                      .key = k.key,
			                      .shared = shared,
			                      .upgrades = has->shared == t };
		*(shared ? &has->shared : &has->alone) = t;
	}
}

static void list_locks(struct statements *s)
{
	const struct facts *f = s->f;
	struct strong_locks *l = &s->locks;
	size_t most = (size_t)f->lock_first[f->n] + f->read_first[f->n];
	struct taken_locks *taken =
		mem_take0(f->key_count + (size_t)1, sizeof *taken);
	l->items = mem_take((most + 1) * sizeof *l->items);
	for (uint32_t t = 1; t < f->n; t++) take_locks(s, t, taken);
	free(taken);
}

static void statements_init(struct statements *s, const struct facts *f)
{
	*s = (struct statements){ .f = f };
	take_parts(s);
	order_parts(s);
	list_locks(s);
}

static void statements_free(struct statements *s)
{
	free(s->part.session_first);
	free(s->part.session_of);
	free(s->part.read_first);
	free(s->part.write_first);
	free(s->part.lock_first);
	free(s->part.reads);
	free(s->part.writers);
	free(s->part.known);
	free(s->part.order);
	free(s->part.rank);
	free(s->owner);
	free(s->commit_of);
	free(s->locks.items);
}

/* ---- the answer, of transactions ---- */

static void take_order(const struct statements *s, struct check_result *r)
{
	uint32_t count = 1;
	if (!r->order) return;
	for (uint32_t i = 1; i < s->part.n; i++) {
		uint32_t part = r->order[i], t = s->owner[part];
		if (part == s->commit_of[t]) r->order[count++] = t;
	}
	assert(count == s->f->n);
}

static void take_schedule(const struct statements *s,
                          const struct check_result *r, struct schedule *to)
{
	const struct facts *p = &s->part;
	for (uint32_t i = 1; i < p->n; i++) {
		uint32_t part = r->order[i], t = s->owner[part];
		bool reads = p->read_first[part] < p->read_first[part + 1];
		if (reads)
			schedule_add(to, t,
			             p->reads[p->read_first[part]].statement);
		if (part == s->commit_of[t]) schedule_add(to, t, SCHEDULE_ENDS);
	}
}

static void take_core(const struct statements *s, struct check_result *r)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < r->core_count; i++) {
		uint32_t t = s->owner[r->core[i]];
		if (!count || r->core[count - 1] != t) r->core[count++] = t;
	}
	r->core_count = count;
}

void check_statements(const struct facts *f, enum level l,
                      struct check_clock *c, struct check_result *out)
{
	struct statements s;
	assert(f->order && check_has_known_locks(f));
	statements_init(&s, f);
	check_strong_locks(&s.part, l, &s.locks, c, out);
	take_order(&s, out);
	take_core(&s, out);
	statements_free(&s);
}

bool check_schedule_by_statements(const struct facts *f, enum level l,
                                  struct check_clock *c, struct schedule *to)
{
	struct statements s;
	struct check_result found;
	assert(f->order && check_has_plain_reads(f));
	statements_init(&s, f);
	check_strong_locks(&s.part, l, &s.locks, c, &found);
	bool holds = found.order != NULL;
	if (holds) take_schedule(&s, &found, to);
	statements_free(&s);
	check_result_free(&found);
	return holds;
}
