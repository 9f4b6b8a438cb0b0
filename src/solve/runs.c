#include "solve/runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/symmetry.h"
#include "base/memory.h"
#include "vm/program.h"

/* Is what a read locks a matter of the order of commits, and more than the
 * level asks of each read anyway? Of statements, it is one of their moments. */
static bool locks_matter(enum level l)
{
	return !level_is_serial(l) && level_sight(l) != SIGHT_NOTHING &&
	       !level_has_statements(l);
}

/* Has some transaction a level that is such, as far as that is known? */
static bool has_any(const struct program *p, enum level l, bool is(enum level))
{
	bool some = is(l);
	for (enum level k = 0; k < LEVEL_COUNT && program_mixes(p); k++)
		some |= is(k) && program_owns(p, (own_level)(k + 1));
	return some;
}

const char *runs_obstacle(const struct program *p, enum level l)
{
	if (program_mixes(p) && !level_mixes(l))
		return "transactions with levels of their own";
	/* By themselves they are as serializable as any. */
	if (program_is_ssi(p) && program_may_mix(p) &&
	    has_any(p, l, level_is_serial))
		return "transactions that are serializable as in PostgreSQL";
	return NULL;
}

size_t runs_bytes(const struct runs *r)
{
	const struct context *c = &r->context;
	return c->region.held + keys_bytes(c->machine.keys) +
	       session_memo_bytes(&c->memo) + r->capacity * sizeof *r->nodes;
}

/* ---- what a transaction knows of itself ---- */

static const struct run_write *own_write(const struct run_write *w,
                                         uint32_t key)
{
	while (w && w->key != key) w = w->older;
	return w;
}

/* Writes are few: those of other keys stay as they are, for who else has them.
 */
static const struct run_write *write(struct region *region,
                                     const struct run_write *w, uint32_t key,
                                     struct value v)
{
	struct run_write *all = region_take(region, sizeof *all);
	*all = (struct run_write){ NULL, key, v };
	struct run_write *last = all;
	for (; w; w = w->older) {
		if (w->key == key) continue;
		struct run_write *copy = region_take(region, sizeof *copy);
		*copy = *w;
		last->older = copy;
		last = copy;
	}
	last->older = NULL;
	return all;
}

/* The newest read of the key by the transaction that `n` is in: the node behind
 * it, whose answer it is. */
static const struct run_node *last_read(const struct run_node *n, uint32_t key,
                                        uint32_t index)
{
	for (; n->parent && n->parent->index == index; n = n->parent)
		if (n->parent->key == key) return n;
	if (!n->joined || n->index != index) return NULL;
	const struct run_known *k = n->known;
	while (k && k->read->parent->key != key) k = k->older;
	return k ? k->read : NULL;
}

/* ---- a stretch ---- */

/* Where it runs. */
struct stretch {
	struct runs *runs;
	struct run_node *node;
	struct session_run live;
	uint32_t index, name; /* of the transaction */
	const struct run_write *writes;
	const struct run_key *settled_keys; /* but what it wrote of these */
	const struct run_hold *holds;
	struct run_moment now; /* of its newest access */
};

static enum level level_of_name(const struct runs *r, uint32_t name)
{
	own_level own = program_transaction_level(r->context.program, name);
	return own ? (enum level)(own - 1) : r->level;
}

static enum level level_here(const struct stretch *s)
{
	return level_of_name(s->runs, s->name);
}

bool runs_repeatable(enum level l)
{
	return level_sight(l) >= SIGHT_DIRECT;
}

/* The session has a transaction of this place. Whatever the run, it is of one
 * level. */
static void count_slot(const struct stretch *s)
{
	struct runs *r = s->runs;
	uint32_t session = s->node->session, count = r->longest[session];
	if (s->index < count) {
		if (r->levels[session][s->index] != level_here(s))
			r->obstacle = "a session whose transactions have one "
				      "level or another";
		return;
	}
	assert(s->index == count);
	r->levels[session] =
		mem_grow(r->levels[session], count + 1, sizeof **r->levels);
	r->levels[session][count] = level_here(s);
	r->longest[session] = count + 1;
	if (++r->slots > SLOTS_MOST)
		r->obstacle = "a program with more than 160 transactions";
}

/* ---- what is locked, where statements have moments ---- */

/* The next access of the transaction. */
static void go_on(struct stretch *s, const struct request *q)
{
	if (q->kind != REQUEST_READ && q->kind != REQUEST_WRITE &&
	    q->kind != REQUEST_GIVE_UP)
		return;
	if (!q->joined) s->now = (struct run_moment){ s->now.statement + 1, 0 };
	if (q->kind != REQUEST_GIVE_UP &&
	    (q->kind == REQUEST_WRITE || q->strength != STRENGTH_PLAIN))
		s->now.lock++;
}

static void hold(struct stretch *s, struct run_hold h)
{
	struct run_hold *new =
		region_take(&s->runs->context.region, sizeof *new);
	h.from = s->now;
	h.end = RUN_END;
	h.older = s->holds;
	*new = h;
	s->holds = new;
}

static void hold_read(struct stretch *s, const struct request *q,
                      const struct run_node *read)
{
	if (!s->runs->statements || q->strength == STRENGTH_PLAIN ||
	    level_sight(level_here(s)) == SIGHT_NOTHING)
		return;
	hold(s, (struct run_hold){
			.key = q->key, .strength = q->strength, .read = read });
}

static void hold_write(struct stretch *s, const struct request *q)
{
	enum strength strength =
		q->strength == STRENGTH_PLAIN ? STRENGTH_UPDATE : q->strength;
	if (!s->runs->statements) return;
	for (const struct run_hold *h = s->holds; h; h = h->older)
		if (h->writes && h->key == q->key && h->strength >= strength)
			return;
	hold(s, (struct run_hold){
			.key = q->key, .strength = strength, .writes = true });
}

/* Copies the list, without `out`, or with another end of it. */
static const struct run_hold *without(struct stretch *s,
                                      const struct run_hold *from,
                                      const struct run_hold *out)
{
	struct run_hold *copy;
	if (from == out && !level_has_statements(level_here(s)))
		return out->older;
	copy = region_take(&s->runs->context.region, sizeof *copy);
	*copy = *from;
	if (from == out)
		copy->end = (struct run_moment){ s->now.statement, 0 };
	else
		copy->older = without(s, from->older, out);
	return copy;
}

static void give_up(struct stretch *s, const struct request *q)
{
	const struct run_hold *h = s->holds;
	while (h &&
	       (h->key != q->key || !h->read || h->end.statement != UINT32_MAX))
		h = h->older;
	if (h) s->holds = without(s, s->holds, h);
}

static struct run_moment earlier(struct run_moment a, struct run_moment b)
{
	return run_moment_before(a, b) ? a : b;
}

/* The first moment of the transaction, of those that it has, that is not before
 * the lock. */
static struct run_moment held_from(const struct stretch *s,
                                   const struct run_hold *h)
{
	struct run_moment from = RUN_END;
	if (!level_has_statements(level_here(s))) return from;
	for (const struct run_node *n = s->node->parent;
	     n && n->index == s->index; n = n->parent)
		if (!run_moment_before(n->moment, h->from))
			from = earlier(from, n->moment);
	for (const struct run_hold *x = s->holds; x; x = x->older)
		if (!run_moment_before(x->end, h->from))
			from = earlier(from, x->end);
	return from;
}

/* Those of the transaction at its end. What it wrote in vain is locked where
 * statements have moments only. */
static const struct run_hold *held(struct stretch *s, bool aborted)
{
	const struct run_hold *all = NULL;
	bool vain = aborted && !level_has_statements(level_here(s));
	for (const struct run_hold *h = s->holds; h; h = h->older) {
		if (vain && h->writes) continue;
		struct run_hold *copy =
			region_take(&s->runs->context.region, sizeof *copy);
		*copy = *h;
		copy->from = held_from(s, h);
		copy->older = all;
		all = copy;
	}
	return all;
}

/* ---- what a stretch does ---- */

static void end_transaction(struct stretch *s, bool aborted)
{
	struct runs *r = s->runs;
	count_slot(s);
	const struct run_hold *holds = held(s, aborted);
	VEC_RESERVE(r->ended, r->ended_count, r->ended_capacity);
	r->ended[r->ended_count++] =
		(struct run_end_of){ .index = s->index++,
		                     .name = s->name,
		                     .aborted = aborted,
		                     .writes = aborted ? NULL : s->writes,
		                     .settled =
		                             aborted ? NULL : s->settled_keys,
		                     .holds = holds };
	s->writes = NULL;
	s->settled_keys = NULL;
	s->holds = NULL;
	s->now = (struct run_moment){ 0 };
}

static bool refuse(struct stretch *s, const char *what, uint32_t point)
{
	s->runs->obstacle = what;
	s->runs->point = point;
	return false;
}

/* In C, only what runs tells of levels. */
static bool mixes_now(struct stretch *s, uint32_t point)
{
	struct runs *r = s->runs;
	r->outgrown = program_transaction_level(r->context.program, s->name);
	if (r->outgrown)
		refuse(s, "a transaction with a level of its own", point);
	return r->outgrown;
}

/* What is read again, the value being known, and locked. */
static void lock_again(struct stretch *s, const struct run_node *read)
{
	struct run_lock *l = region_take(&s->runs->context.region, sizeof *l);
	*l = (struct run_lock){ s->node->locked, read->parent };
	s->node->locked = l;
}

static bool is_locking(const struct request *q)
{
	return q->strength != STRENGTH_PLAIN || q->kind == REQUEST_GIVE_UP;
}

/* A lock that all writers of the row meet, and that stays. */
static bool is_plain_lock(const struct request *q)
{
	return q->kind == REQUEST_READ && q->strength >= STRENGTH_SHARE &&
	       q->strength <= STRENGTH_UPDATE;
}

/* False: it waits for the value, or cannot be decided. */
static bool answer_itself(struct stretch *s, const struct request *q)
{
	const struct run_write *own = own_write(s->writes, q->key);
	const struct run_node *read = last_read(s->node, q->key, s->index);
	struct run_node *n = s->node;
	bool locks = is_locking(q) && locks_matter(level_here(s));
	if (own) {
		hold_read(s, q, NULL);
		session_run_answer(&s->live, own->value);
	} else if (read && runs_repeatable(level_here(s))) {
		if (locks) lock_again(s, read);
		hold_read(s, q, read->parent);
		session_run_answer(&s->live, read->answer);
	} else {
		count_slot(s);
		hold_read(s, q, n);
		n->kind = RUN_READS;
		n->key = q->key;
		n->index = s->index;
		n->name = s->name;
		n->locks = locks;
		n->occurrence = read ? read->parent->occurrence + 1 : 0;
		n->writes = s->writes;
		n->settled_keys = s->settled_keys;
		n->holds = s->holds;
		n->now = s->now;
		n->moment = s->now;
		if (q->strength < STRENGTH_SHARE) n->moment.lock = 0;
		return false;
	}
	return true;
}

/* One request; false at the end of the stretch. */
static bool step(struct stretch *s)
{
	struct request q;
	session_run_step(&s->live, &q);
	if (s->runs->context.machine.stop || s->runs->obstacle) return false;
	go_on(s, &q);
	switch (q.kind) {
	case REQUEST_BEGIN:
		s->name = q.name;
		return s->runs->mixed || !mixes_now(s, q.point);
	case REQUEST_READ:
		if (is_locking(&q) && locks_matter(level_here(s)) &&
		    !is_plain_lock(&q))
			return refuse(s, "a read for a constraint", q.point);
		return answer_itself(s, &q);
	case REQUEST_WRITE:
		s->writes = write(&s->runs->context.region, s->writes, q.key,
		                  q.value);
		hold_write(s, &q);
		return true;
	case REQUEST_GIVE_UP:
		if (locks_matter(level_here(s)))
			return refuse(s, "a lock that is given up", q.point);
		give_up(s, &q);
		return true;
	case REQUEST_COMMIT:
	case REQUEST_ABORT:
		end_transaction(s, q.kind == REQUEST_ABORT);
		return true;
	case REQUEST_DONE: break;
	}
	s->node->kind = machine_pruned(session_run_state(&s->live)) ? RUN_VOID
	                                                            : RUN_OVER;
	return false;
}

/* Runs the node's stretch; false if it cannot be run to its end. */
static bool run_stretch(struct stretch *s)
{
	struct runs *r = s->runs;
	struct run_node *n = s->node;
	struct region *region = &r->context.region;
	r->ended_count = 0;
	while (step(s)) {
	}
	if (r->context.machine.stop || r->obstacle) return false;
	struct run_end_of *ended =
		region_take(region, r->ended_count * sizeof *ended);
	if (r->ended_count)
		memcpy(ended, r->ended, r->ended_count * sizeof *ended);
	n->ended = ended;
	n->ended_count = r->ended_count;
	n->state = session_run_keep(&s->live, region);
	return true;
}

static struct run_node *new_node(struct runs *r, uint32_t session)
{
	struct run_node *n = region_take0(&r->context.region, sizeof *n);
	n->session = session;
	return n;
}

static void keep_node(struct runs *r, struct run_node *n)
{
	VEC_RESERVE(r->nodes, r->count, r->capacity);
	n->number = r->count;
	r->nodes[r->count++] = n;
	r->leaves += n->kind == RUN_OVER || n->kind == RUN_VOID;
}

/* The node's run comes together with others there, or may from now on. */
static void join(struct runs *r, struct run_node *n)
{
	bool inside =
		!r->statements && runs_repeatable(level_of_name(r, n->name));
	if (!joins_may(&r->joins, n, inside)) return;
	struct run_node *form = joins_form(&r->joins, n, &r->context.region);
	n->join = joins_find(&r->joins, form);
	n->kind = RUN_JOINS;
	if (n->join) return;
	n->join = form;
	joins_add(&r->joins, form);
	keep_node(r, form);
}

struct run_node *runs_child(const struct run_node *at, struct value v)
{
	struct run_node *n = at->children;
	assert(at->kind == RUN_READS);
	while (n && !value_equal(n->answer, v)) n = n->next;
	return n;
}

static bool grow(struct runs *r, struct run_node *at, struct value v)
{
	struct run_node *n = new_node(r, at->session);
	struct stretch s = { .runs = r,
		             .node = n,
		             .index = at->index,
		             .name = at->name,
		             .writes = at->writes,
		             .settled_keys = at->settled_keys,
		             .holds = at->holds,
		             .now = at->now };
	assert(at->kind == RUN_READS && !runs_child(at, v));
	n->parent = at;
	n->answer = v;
	session_run_resume(&s.live, &r->context.memo, at->state);
	session_run_answer(&s.live, v);
	if (!run_stretch(&s)) return false;
	join(r, n);
	n->next = at->children;
	at->children = n;
	keep_node(r, n);
	return true;
}

struct run_node *runs_counterpart(const struct runs *r,
                                  const struct run_node *n, uint32_t session)
{
	struct run_node *c = r->roots[session];
	if (n->joined) return joins_counterpart(&r->joins, n, session);
	if (n->parent)
		c = runs_child(runs_counterpart(r, n->parent, session),
		               n->answer);
	assert(c && c->kind == n->kind);
	return c;
}

bool runs_grow(struct runs *r, const struct run_node *at, struct value v)
{
	for (uint32_t i = 0; i < r->context.sessions; i++) {
		if (r->first_same[i] != r->first_same[at->session]) continue;
		struct run_node *n = runs_counterpart(r, at, i);
		if (!runs_child(n, v) && !grow(r, n, v)) return false;
	}
	return true;
}

static bool grow_root(struct runs *r, uint32_t session)
{
	const struct session_point *start = &r->context.start[session];
	struct run_node *n = new_node(r, session);
	struct stretch s = { .runs = r, .node = n, .name = start->name };
	r->roots[session] = n;
	if (start->ended) {
		n->state = start->state;
		n->kind = machine_pruned(start->state) ? RUN_VOID : RUN_OVER;
	} else {
		if (!r->mixed && mixes_now(&s, 0)) return false;
		session_run_resume(&s.live, &r->context.memo, start->state);
		if (!run_stretch(&s)) return false;
	}
	keep_node(r, n);
	return true;
}

void runs_init(struct runs *r, const struct program *p, enum level l,
               const struct machine_limits *limits, bool apart)
{
	*r = (struct runs){ .level = l };
	assert(!runs_obstacle(p, l));
	context_init(&r->context, p, NULL, limits);
	r->mixed = program_mixes(p);
	r->statements = has_any(p, l, level_has_statements);
	r->levels = mem_take0(r->context.sessions + 1, sizeof *r->levels);
	r->longest = mem_take0(r->context.sessions + 1, sizeof *r->longest);
	r->first_same =
		mem_take((r->context.sessions + 1) * sizeof *r->first_same);
	for (uint32_t i = 0; i < r->context.sessions; i++)
		r->first_same[i] = symmetry_first_same(p, i);
	joins_init(&r->joins, p, r->context.sessions,
	           apart ? NULL : r->first_same, r->context.machine.keys);
	r->roots = mem_take0(r->context.sessions + 1, sizeof *r->roots);
	for (uint32_t i = 0; i < r->context.sessions; i++)
		if (!grow_root(r, i)) break;
}

void runs_free(struct runs *r)
{
	for (uint32_t i = 0; i < r->context.sessions; i++) free(r->levels[i]);
	free(r->levels);
	free(r->nodes);
	free(r->roots);
	free(r->longest);
	free(r->first_same);
	free(r->ended);
	joins_free(&r->joins);
	context_free(&r->context);
}
