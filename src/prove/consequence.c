/* An anomaly is the worse, the more it leaves behind.
 *
 * - An assertion fails in some execution of the client that is not
 *   serializable, and in none that is.
 * - Without reads that no write depends on, the execution that was found is not
 *   serializable either. Else the transactions, one after the other in some
 *   order, write the same: only answers are out of date.
 *
 * A write of a transaction depends on a read if what it writes, where, or
 * whether, is computed from what is read; where that is not known, on all of
 * them.
 */
#include "prove/consequence.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "history/history.h"
#include "prove/client.h"
#include "prove/search.h"
#include "prove/spots.h"
#include "prove/words.h"

const char *consequence_word(enum consequence_kind k)
{
	switch (k) {
	case CONSEQUENCE_ANSWER: return "answer";
	case CONSEQUENCE_WRITE: return "write";
	case CONSEQUENCE_ASSERTION: return "assertion";
	}
	assert(!"no such consequence");
	return NULL;
}

void consequence_copy(struct consequence *out, const struct consequence *from)
{
	*out = (struct consequence){ .kind = from->kind };
	text_string(&out->fails, text_get(&from->fails));
	text_string(&out->cause, text_get(&from->cause));
}

void consequence_free(struct consequence *c)
{
	text_free(&c->fails);
	text_free(&c->cause);
}

/* ---- which reads writes depend on ---- */

struct slice {
	const struct summary *s;
	bool *nodes, *reads; /* what writes depend on; by access */
	bool unknown;        /* on what nobody knows */
};

static void mark(struct slice *x, uint32_t node)
{
	x->nodes[node] = true;
}

static void mark_access(struct slice *x, const struct access *a,
                        uint32_t value_count)
{
	mark(x, a->happens);
	for (uint32_t i = 0; i < a->index_count; i++) mark(x, a->indexes[i]);
	for (uint32_t v = 0; a->write && v < value_count; v++)
		mark(x, a->values[v]);
}

static void mark_parts(struct slice *x, const struct application *app,
                       const struct node *n)
{
	uint32_t parts[NODE_PARTS], count = node_parts(n, parts);
	for (uint32_t i = 0; i < count; i++) mark(x, parts[i]);
	x->unknown |= n->op == NODE_GUESS || n->op == NODE_UNKNOWN;
	if (n->op != NODE_FIRST && n->op != NODE_READ) return;
	const struct access *a = &x->s->accesses[n->a];
	x->reads[n->a] = true;
	mark_access(x, a, app->families[a->family].value_count);
}

/* Parts come before what is made of them, but for the conditions of reads,
 * which are there before the read's node as well. */
static void follow(struct slice *x, const struct application *app)
{
	for (uint32_t i = x->s->node_count; i-- > 0;)
		if (x->nodes[i]) mark_parts(x, app, &x->s->nodes[i]);
}

static struct slice slice_of(const struct application *app,
                             const struct summary *s)
{
	struct slice x = { .s = s };
	x.nodes = mem_take0((size_t)s->node_count + 1, sizeof *x.nodes);
	x.reads = mem_take0((size_t)s->access_count + 1, sizeof *x.reads);
	for (uint32_t i = 0; i < s->access_count; i++) {
		const struct access *a = &s->accesses[i];
		if (!a->write) continue;
		mark_access(&x, a, app->families[a->family].value_count);
		x.unknown |= a->many;
		mark(&x, s->commits);
	}
	bool again = true;
	while (again) { /* a read may happen under a condition behind it */
		uint32_t before = 0, after = 0;
		for (uint32_t i = 0; i < s->node_count; i++)
			before += x.nodes[i];
		follow(&x, app);
		for (uint32_t i = 0; i < s->node_count; i++)
			after += x.nodes[i];
		again = after > before;
	}
	return x;
}

static bool is_family(const char *family, const char *key)
{
	size_t length = strlen(family);
	return !strncmp(family, key, length) &&
	       (!key[length] || key[length] == '[');
}

/* A client, and what its transactions are called there. */
struct named_client {
	const struct instances *in;
	struct text names[INSTANCES_MAX];
};

static const struct summary *summary_of(struct named_client *c,
                                        const char *transaction)
{
	for (uint32_t i = 0; i < c->in->count && transaction; i++)
		if (!strcmp(text_get(&c->names[i]), transaction))
			return c->in->items[i].s;
	return NULL;
}

/* May a write of the transaction depend on what it reads there? */
static bool may_matter(const struct application *app, const struct summary *s,
                       const char *key)
{
	if (!s) return true;
	struct slice x = slice_of(app, s);
	bool known = false, matters = x.unknown;
	for (uint32_t k = 0; k < s->access_count; k++) {
		uint32_t f = s->accesses[k].family;
		if (s->accesses[k].write ||
		    !is_family(app->families[f].name, key))
			continue;
		known = true;
		matters |= x.reads[k];
	}
	free(x.nodes);
	free(x.reads);
	return matters || !known;
}

/* Is it serializable but for what is only answered? */
static bool is_answer_only(struct named_client *c, const struct history *h)
{
	const struct application *app = c->in->app;
	struct history less = *h;
	uint32_t events = 0, kept = 0;
	for (uint32_t t = 0; t < h->transaction_count; t++)
		events += h->transactions[t].event_count;
	struct event *all = mem_take0((size_t)events + 1, sizeof *all);
	less.transactions =
		mem_take0(h->transaction_count, sizeof *less.transactions);
	for (uint32_t t = 0; t < h->transaction_count; t++) {
		struct transaction *to = &less.transactions[t];
		const struct summary *s =
			summary_of(c, h->transactions[t].name);
		*to = h->transactions[t];
		to->events = &all[kept];
		to->event_count = 0;
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			struct event e = h->transactions[t].events[i];
			if (e.kind == EVENT_READ &&
			    !may_matter(app, s, h->keys[e.key].name))
				continue;
			e.joined &= to->event_count > 0;
			all[kept++] = e;
			to->event_count++;
		}
	}
	bool serial = level_allows_history(LEVEL_SERIAL, &less);
	free(less.transactions);
	free(all);
	return serial;
}

/* ---- the read at the root ---- */

/* On the path that closes to a cycle the last one is the first to commit, and
 * the one before it has read what the last one has overwritten. */
static void name_cause(struct text *out, const struct instances *in, Z3_model m,
                       uint32_t length)
{
	uint32_t from = length - 2, to = length - 1;
	const struct summary *s = in->items[from].s, *t = in->items[to].s;
	for (uint32_t i = 0; i < s->access_count; i++)
		for (uint32_t j = 0; j < t->access_count; j++) {
			const struct access *r = &s->accesses[i],
					    *w = &t->accesses[j];
			Z3_ast met = r->write ? NULL
			                      : instances_conflict(in, from, i,
			                                           to, j);
			if (!met || !client_true(in, m, met)) continue;
			text_format(out, "%s reads ", s->name);
			words_key(out, in->app, s, r);
			text_format(out,
			            " (line %" PRIu32 "), which %s has "
			            "overwritten (line %" PRIu32 ")",
			            r->line, t->name, w->line);
			return;
		}
}

/* ---- what fails ---- */

static bool fails(struct search *x, const struct instances *in, Z3_model m,
                  bool own_values)
{
	struct proof *out = x->out;
	struct text client = { 0 };
	struct budget left = limiter_left(x->limiter);
	if (!in->app->asserted.length || search_is_late(x)) return false;
	client_write_finals(&client, in, m, out->options.terms.level,
	                    own_values, in->count);
	bool found = client_explore_failing(
		out->app->path, &client, out->options.terms.level, &left,
		&out->consequence.fails, &out->costs.histories);
	out->costs.clients++;
	text_free(&client);
	return found;
}

void search_weigh(struct search *x, const struct instances *in, Z3_model m,
                  bool own_values)
{
	struct proof *out = x->out;
	struct consequence *c = &out->consequence;
	name_cause(&c->cause, in, m, x->length);
	c->kind = CONSEQUENCE_ASSERTION;
	if (fails(x, in, m, own_values) ||
	    (own_values && fails(x, in, m, false)))
		return;
	struct named_client client = { .in = in };
	client_names(in, m, client.names);
	c->kind = is_answer_only(&client, out->history) ? CONSEQUENCE_ANSWER
	                                                : CONSEQUENCE_WRITE;
	for (uint32_t i = 0; i < in->count; i++) text_free(&client.names[i]);
}
