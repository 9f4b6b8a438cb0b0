/* What a step that breaks the assertions looks like, and clients that do it: a
 * transaction alone, and beside another one that commits before it. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "prove/client.h"
#include "prove/invariant_parts.h"
#include "prove/spots.h"
#include "prove/wishes.h"

enum {
	MODELS = 5,   /* of a few transactions that are tried */
	CLIENTS = 200 /* that are explored */
};

/* ---- in words ---- */

static void name_key(struct text *out, const struct question *q, Z3_model m,
                     const struct instance *t, const struct access *a)
{
	text_string(out, q->x.app->families[a->family].name);
	for (uint32_t i = 0; i < a->index_count; i++) {
		text_string(out, i ? ", " : "[");
		client_value(out, &q->x, m, t->nodes[a->indexes[i]].value);
	}
	if (a->index_count) text_char(out, ']');
}

static void name_values(struct text *out, const struct question *q, Z3_model m,
                        const struct instance *t, const struct access *a)
{
	const struct family *f = &q->x.app->families[a->family];
	if (!f->parts) {
		client_value(out, &q->x, m, t->nodes[a->values[0]].value);
		return;
	}
	if (!client_number(&q->x, m, t->nodes[a->values[0]].value.number)) {
		text_string(out, "no row");
		return;
	}
	text_char(out, '{');
	for (uint32_t p = 1; p < f->value_count; p++) {
		text_format(out, "%s%s: ", p > 1 ? ", " : "",
		            f->parts[p] ? f->parts[p] : "?");
		client_value(out, &q->x, m, t->nodes[a->values[p]].value);
	}
	text_char(out, '}');
}

/* `x = 1, y["a"] = 2`: its reads, or its writes, each once. */
static void name_accesses(struct text *out, const struct question *q,
                          Z3_model m, const struct instance *t, bool write)
{
	struct text one = { 0 };
	for (uint32_t i = 0; t && i < t->s->access_count; i++) {
		const struct access *a = &t->s->accesses[i];
		if (a->write != write ||
		    !client_true(&q->x, m, t->nodes[a->happens].truth))
			continue;
		text_clear(&one);
		name_key(&one, q, m, t, a);
		text_string(&one, " = ");
		name_values(&one, q, m, t, a);
		if (out->length && strstr(out->data, text_get(&one))) continue;
		if (out->length) text_string(out, ", ");
		text_string(out, text_get(&one));
	}
	text_free(&one);
}

static void name_totals(struct text *out, const struct question *q, Z3_model m,
                        const struct instance *t)
{
	for (uint32_t i = 0; t && i < t->s->total_count; i++) {
		const struct found_total *c = &t->s->totals[i];
		if (out->length) text_string(out, ", ");
		text_format(out, "%s = ", q->finals->totals[c->total].name);
		client_value(out, &q->x, m, t->nodes[c->node].value);
	}
}

static Z3_model model_of(struct question *q)
{
	Z3_model m = Z3_solver_get_model(q->x.z, q->x.solver);
	if (m) Z3_model_inc_ref(q->x.z, m);
	return m;
}

/* What a client has, or the words for one. */
static void put(struct question *q, const struct instance *t)
{
	uint32_t a = q->x.count++;
	assert(a < INSTANCES_MAX);
	q->x.items[a] = *t;
	for (uint32_t b = 0; b < INSTANCES_MAX; b++)
		q->x.between[a][b].session = q->x.between[b][a].session =
			Z3_mk_false(q->x.z);
}

void invariant_describe(struct invariant_search *x, struct question *q,
                        const struct invariant_step *step)
{
	struct invariance *out = x->out;
	Z3_model m = model_of(q);
	if (!m) return;
	if (!out->call.length) {
		put(q, step->t);
		client_call(&out->call, &q->x, m, 0);
		name_accesses(&out->reads, q, m, step->t, false);
		name_totals(&out->reads, q, m, step->t);
		name_accesses(&out->writes, q, m, step->t, true);
		uint32_t k = 0;
		while (k + 1 < q->finals->count &&
		       !client_true(&q->x, m, step->fails[k]))
			k++;
		name_accesses(&out->over, q, m, step->before[k], false);
		name_totals(&out->over, q, m, step->before[k]);
		name_accesses(&out->after, q, m, step->after[k], false);
		name_totals(&out->after, q, m, step->after[k]);
	}
	Z3_model_dec_ref(q->x.z, m);
}

/* ---- a few transactions ---- */

/* Reads what is there at first, or what U leaves of it. */
static void reads_either(struct question *q, const struct instance *t,
                         uint32_t i, const struct view *first,
                         const struct view *later, Z3_ast which)
{
	struct spot read = { t, i };
	const struct access *a = access_at(read);
	struct term *index = question_index(t, i);
	struct term *one = question_look(q, first, a->family, index);
	struct term *other = question_look(q, later, a->family, index);
	Z3_context z = q->x.z;
	for (uint32_t p = 0; p < q->x.app->families[a->family].value_count;
	     p++) {
		struct term v = t->nodes[a->values[p]].value;
		implies(&q->x, both(z, happens(read), Z3_mk_not(z, which)),
		        same_term(&q->x, v, one[p]));
		implies(&q->x, both(z, happens(read), which),
		        same_term(&q->x, v, other[p]));
	}
	instances_assert(&q->x, Z3_mk_eq(z, t->source[i],
	                                 Z3_mk_ite(z, which, number(z, 1),
	                                           number(z, 0))));
	free(index);
	free(one);
	free(other);
}

struct attempt {
	struct invariant_search *x;
	struct question *q;
	const struct instance *t, *u; /* u: NULL, or commits before */
	struct view first, between, after;
};

/* T and perhaps U, so that an assertion fails behind them. */
static void assert_attempt(struct attempt *a, const struct summary *s,
                           const struct summary *other)
{
	struct question *q = a->q;
	Z3_context z = q->x.z;
	enum level others = a->x->out->options.terms.level;
	const struct instance *at_first[INSTANCES_MAX];
	uint32_t claims = 0;
	Z3_ast fails = NULL;
	struct view plain = { .state = question_state(q) };
	a->first = plain;
	a->between = plain;
	if (other) {
		a->u = question_instance(q, other, others);
		invariant_runs(q, a->u);
		for (uint32_t i = 0; i < other->access_count; i++)
			if (!other->accesses[i].write)
				reads_either(q, a->u, i, &a->first, &a->first,
				             Z3_mk_false(z));
		for (uint32_t i = 0; i < other->total_count; i++)
			question_finds_total(q, a->u, &other->totals[i],
			                     &a->first, NULL);
		a->between =
			(struct view){ .under = &a->first, .writer = a->u };
	}
	a->t = question_instance(q, s, others);
	invariant_runs(q, a->t);
	Z3_ast later = instances_fresh(z, true);
	bool once = reading_of(a->x, a->t->level).how == READ_ONCE;
	for (uint32_t i = 0; i < s->access_count; i++) {
		if (s->accesses[i].write) continue;
		Z3_ast which = !other ? Z3_mk_false(z)
		               : once ? later
		                      : instances_fresh(z, true);
		reads_either(q, a->t, i, &a->first, &a->between, which);
	}
	for (uint32_t i = 0; i < s->total_count; i++) {
		const struct found_total *f = &s->totals[i];
		Z3_ast which = once ? later : instances_fresh(z, true);
		question_finds_total(q, a->t, f, &a->first,
		                     other ? Z3_mk_not(z, which) : NULL);
		if (other) question_finds_total(q, a->t, f, &a->between, which);
	}
	a->after = (struct view){ .under = &a->between, .writer = a->t };
	struct claim_reads before = { .view = &a->first };
	struct claim_reads behind = { .view = &a->after };
	const struct instance **all =
		mem_take0((size_t)q->finals->count + 2, sizeof *all);
	uint32_t count = 0;
	all[count++] = a->t;
	if (a->u) all[count++] = a->u;
	for (uint32_t k = 0; k < q->finals->count; k++) {
		const struct claim *c = &q->finals->items[k];
		struct instance *told, *asked;
		/* An assertion is to fail, not to end by an error. */
		Z3_ast ends = question_fails(q, c, NULL, &behind, &told);
		fails = some(z, fails,
		             both(z, ends,
		                  Z3_mk_not(z, told->nodes[c->s.errs].truth)));
		all[count++] = told;
		struct term *same = invariant_parameters(c, told);
		Z3_ast no = question_fails(q, c, same, &before, &asked);
		free(same);
		instances_assert(&q->x, Z3_mk_not(z, no));
		question_same(q, c, asked, no, told, ends);
		for (uint32_t i = 0; i < c->s.access_count; i++)
			instances_assert(&q->x, Z3_mk_eq(z, asked->source[i],
			                                 number(z, 0)));
		if (claims + 3 < INSTANCES_MAX) at_first[claims++] = asked;
	}
	/* If no state breaks them, the last transaction reads of several. */
	if (a->x->out->obstacle != INVARIANT_READS)
		instances_assert(&q->x, fails);
	invariant_assume(q, all, count);
	free(all);
	instances_assert(&q->x, Z3_mk_lt(z, number(z, 1), a->t->commit));
	put(q, a->t);
	if (a->u) {
		instances_assert(&q->x,
		                 Z3_mk_eq(z, a->u->commit, number(z, 1)));
		put(q, a->u);
	}
	for (uint32_t i = 0; i < claims; i++) put(q, at_first[i]);
}

/* What is read at first is what the program has, as far as that is known. */
static Z3_ast as_declared(struct question *q)
{
	Z3_context z = q->x.z;
	Z3_ast same = Z3_mk_true(z);
	for (uint32_t a = 0; a < q->x.count; a++) {
		const struct instance *t = &q->x.items[a];
		for (uint32_t i = 0; i < t->s->access_count; i++) {
			const struct access *r = &t->s->accesses[i];
			uint32_t initial =
				q->x.app->families[r->family].initial;
			if (r->write || initial == UINT32_MAX) continue;
			struct value v = q->x.app->constants[initial];
			struct term have = t->nodes[r->values[0]].value;
			int64_t n =
				v.tag < VALUE_STRING ? v.i : (int64_t)initial;
			int64_t tag = v.tag < VALUE_STRING ? (int64_t)v.tag
			                                   : VALUE_STRING;
			Z3_ast first =
				both(z, happens((struct spot){ t, i }),
			             Z3_mk_eq(z, t->source[i], number(z, 0)));
			Z3_ast is =
				both(z, Z3_mk_eq(z, have.tag, number(z, tag)),
			             Z3_mk_eq(z, have.number, number(z, n)));
			same = both(z, same, Z3_mk_implies(z, first, is));
		}
	}
	return same;
}

static Z3_ast assumption(struct question *q, Z3_ast condition)
{
	Z3_ast name = instances_fresh(q->x.z, true);
	implies(&q->x, name, condition);
	return name;
}

/* Do the assertions really hold of the values of the model? */
static bool begins_well(struct attempt *a, Z3_model m)
{
	struct text idle = { 0 };
	uint32_t line = client_write_finals(
		&idle, &a->q->x, m, a->x->out->options.terms.level, true, 0);
	bool holds = invariant_holds_in(a->x, &idle, line);
	text_free(&idle);
	return holds;
}

/* True if an assertion fails in it. */
static bool explore(struct attempt *a, Z3_model m, bool own_values)
{
	struct invariance *out = a->x->out;
	uint32_t sessions = a->u ? 2 : 1;
	if (own_values && !begins_well(a, m)) return false;
	text_clear(&out->client);
	uint32_t line = client_write_finals(&out->client, &a->q->x, m,
	                                    out->options.terms.level,
	                                    own_values, sessions);
	if (!invariant_explore(a->x, &out->client, line, NULL)) {
		text_clear(&out->client);
		return false;
	}
	out->declared = !own_values;
	for (uint32_t i = 0; i < sessions; i++) {
		if (i) text_string(&out->calls, ", ");
		client_call(&out->calls, &a->q->x, m, i);
	}
	return true;
}

static bool confirm(struct attempt *a)
{
	struct invariant_search *x = a->x;
	struct question *q = a->q;
	Z3_ast plain = Z3_mk_true(q->x.z);
	for (uint32_t i = 0; i < q->x.count; i++)
		plain = both(q->x.z, plain,
		             instance_plain(&q->x, &q->x.items[i]));
	plain = both(q->x.z, plain, question_alone(q, &a->first, a->t, a->u));
	Z3_ast wanted[] = { assumption(q, plain),
		            assumption(q, as_declared(q)) };
	bool found = false;
	for (unsigned tries = 0, least = 2; tries < MODELS && !found &&
	                                    !invariant_is_late(x) &&
	                                    x->out->costs.clients < CLIENTS;) {
		Z3_lbool answer = invariant_ask(x, q, wanted, least);
		if (answer != Z3_L_TRUE) {
			if (!least--) break;
			continue;
		}
		Z3_model m = model_of(q);
		if (!m) break;
		found = explore(a, m, false) || explore(a, m, true);
		if (!found) wishes_block(&q->x, m);
		Z3_model_dec_ref(q->x.z, m);
		tries++;
	}
	return found;
}

/* True if all is over. */
static bool try_client(struct invariant_search *x, const struct summary *s,
                       const struct summary *other)
{
	Z3_context z = instances_context();
	struct attempt a = {
		.x = x, .q = question_new(z, x->out->app, x->out->options.terms)
	};
	assert_attempt(&a, s, other);
	bool found = confirm(&a);
	question_free(a.q);
	instances_context_free(z);
	return found || invariant_is_late(x);
}

void invariant_find_client(struct invariant_search *x)
{
	const struct application *a = x->out->app;
	for (uint32_t i = 0; i < a->summary_count; i++)
		if (x->breaks[i] && try_client(x, &a->summaries[i], NULL))
			return;
	for (uint32_t i = 0; i < a->summary_count; i++)
		for (uint32_t k = 0; k < a->summary_count && x->breaks[i]; k++)
			if (try_client(x, &a->summaries[i], &a->summaries[k]))
				return;
}
