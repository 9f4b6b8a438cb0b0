#include "prove/prove.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "compile/load.h"
#include "history/history.h"
#include "prove/client.h"
#include "prove/finals.h"
#include "prove/lower.h"
#include "prove/search.h"
#include "prove/wishes.h"
#include "sql/load.h"
#include "vm/bytecode.h"
#include "vm/program.h"

enum {
	CONTEXT_MOST = 6000, /* nodes in one context of the solver */
	MODELS = 6,          /* of one cycle of types that are tried */
	MODELS_SOON = 2,     /* of them, before longer cycles are */
	CLIENTS = 2000       /* of one program that are explored */
};

bool search_is_late(struct search *x)
{
	if (!x->out->stop) x->out->stop = limiter_look(x->limiter);
	return x->out->stop != STOP_NONE;
}

Z3_lbool search_find_model(struct search *x, struct instances *in,
                           const Z3_ast *assumed, unsigned count)
{
	x->out->costs.questions++;
	Z3_lbool answer =
		limiter_ask(x->limiter, in->z, in->solver, assumed, count);
	if (answer == Z3_L_UNDEF) x->out->undecided = true;
	return answer;
}

bool search_has_model(struct search *x, struct instances *in)
{
	return search_find_model(x, in, NULL, 0) != Z3_L_FALSE;
}

static Z3_model model_of(struct instances *in)
{
	Z3_model m = Z3_solver_get_model(in->z, in->solver);
	if (m) Z3_model_inc_ref(in->z, m);
	return m;
}

/* ---- candidates ---- */

static bool holds(const struct instances *in, Z3_model m, Z3_ast a)
{
	Z3_ast v;
	return Z3_model_eval(in->z, m, a, true, &v) &&
	       Z3_get_bool_value(in->z, v) == Z3_L_TRUE;
}

static void name_cycle(struct text *t, const struct instances *in, Z3_model m,
                       uint32_t length)
{
	text_clear(t);
	assert(length <= in->count);
	for (uint32_t i = 0; i < length; i++) {
		uint32_t next = (i + 1) % length;
		const struct between *k = &in->between[i][next];
		client_call(t, in, m, i);
		const char *word = holds(in, m, k->wr)   ? "wr"
		                   : holds(in, m, k->ww) ? "ww"
		                   : holds(in, m, k->rw) ? "rw"
		                                         : "so";
		text_format(t, " -%s-> ", word);
	}
	client_call(t, in, m, 0);
}

/* The transaction of this name. */
static uint32_t number_of(const struct application *a, const char *name)
{
	uint32_t i = 0;
	while (strcmp(a->summaries[i].name, name) != 0) i++;
	assert(i < a->summary_count + a->stale_count);
	return i;
}

/* Explores the model; true if it is confirmed. */
static bool confirm(struct search *x, struct instances *in, Z3_model m,
                    bool own_values)
{
	struct proof *out = x->out;
	struct budget left = limiter_left(x->limiter);
	struct text client = { 0 };
	client_write(&client, in, m, out->options.terms.level, own_values);
	struct client_found found = client_explore(
		out->app->path, &client, out->options.terms.level, &left);
	out->costs.clients++;
	x->clients++;
	out->costs.histories += found.histories;
	if (!found.history) {
		if (!out->candidate.length)
			name_cycle(&out->candidate, in, m, x->length);
		text_free(&client);
		return false;
	}
	name_cycle(&out->cycle, in, m, x->length);
	x->confirmed = 0;
	for (uint32_t i = 0; i < in->count; i++)
		x->confirmed |=
			search_bit(number_of(out->app, in->items[i].s->name));
	out->client = client;
	out->program = found.program;
	out->history = found.history;
	out->verdict = VERDICT_VIOLATED;
	if (!x->unweighed) search_weigh(x, in, m, own_values);
	return true;
}

/* The cycle is asserted, and has a model. Those that are as wished first; not
 * any if that is no longer so. */
static bool concretise(struct search *x, struct instances *in, unsigned models)
{
	wishes_make(in);
	for (unsigned tries = 0;
	     tries < models && x->clients < CLIENTS && !search_is_late(x);) {
		Z3_lbool answer =
			search_find_model(x, in, in->wishes, in->wish_count);
		if (answer != Z3_L_TRUE) {
			if (!wishes_leave_out(in, answer)) return false;
			continue;
		}
		Z3_model m = model_of(in);
		assert(m);
		bool own = !in->app->from_first;
		bool confirmed = (own && confirm(x, in, m, true)) ||
		                 (!in->app->image && confirm(x, in, m, false));
		if (!confirmed) wishes_block(in, m);
		Z3_model_dec_ref(in->z, m);
		if (confirmed) return true;
		tries++;
	}
	return false;
}

/* ---- paths and cycles ---- */

void search_assert_path(struct instances *in, uint32_t m)
{
	assert(m >= 2 && m <= in->count);
	for (uint32_t a = 0; a < m; a++) {
		in->rule = RULE_FIRST;
		if (a + 1 < m)
			instances_assert(in, instances_before(in, m - 1, a));
		for (uint32_t b = 0; b < m; b++) {
			Z3_ast depends = in->between[a][b].depends;
			if (a == b || (a == m - 1 && !b)) continue;
			in->rule = a + 1 == b ? RULE_NONE : RULE_SHORTEST;
			instances_assert(
				in, a + 1 == b ? depends
					       : instances_not(in, depends));
		}
	}
	in->rule = RULE_NONE;
}

struct instances *search_take(struct search *x, const uint32_t *which,
                              uint32_t count)
{
	if (!x->context || x->taken > CONTEXT_MOST) {
		instances_context_free(x->context);
		x->context = instances_context();
		x->taken = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		x->taken += x->out->app->summaries[which[i]].node_count;
	return instances_new(x->context, x->out->app, which, count,
	                     x->out->options.terms);
}

/* The cycle, among executions that begin with what the program has at first. */
static bool ask_from_first(struct search *x, const uint32_t *which,
                           uint32_t length, unsigned models)
{
	const struct application *app = x->out->app;
	struct application *begun = app->begun;
	uint32_t same[INSTANCES_MAX];
	if (!begun) return false;
	begun->allocated = app->allocated;
	for (uint32_t i = 0; i < length; i++) {
		const struct summary *s = &app->summaries[which[i]];
		same[i] = number_of(begun, s->name);
		begun->summaries[same[i]].own = s->own;
	}
	struct instances *in = instances_new(x->context, begun, same, length,
	                                     x->out->options.terms);
	search_assert_path(in, length);
	instances_assert(in, in->between[length - 1][0].depends);
	bool over = concretise(x, in, models);
	instances_free(in);
	return over;
}

/* More clients are not explored; nothing is proved where some were. */
static bool is_over(struct search *x)
{
	x->out->clients_out |= x->clients >= CLIENTS;
	return search_is_late(x) || x->out->clients_out;
}

/* The cycle may need one more transaction, which others read from. */
static bool ask_with_another(struct search *x, const uint32_t *which,
                             uint32_t length, struct answer *known)
{
	uint32_t more[INSTANCES_MAX];
	bool over = false;
	if (length == INSTANCES_MAX) return false;
	for (uint32_t i = 0; i < length; i++) more[i] = which[i];
	for (uint32_t e = 0; e < x->member_count && !over; e++) {
		uint64_t bit = search_bit(x->members[e]);
		if (is_over(x)) return true;
		if (known->tried & bit) continue;
		known->tried |= bit;
		more[length] = x->members[e];
		struct instances *in = search_take(x, more, length + 1);
		search_assert_path(in, length);
		instances_assert(in, in->between[length - 1][0].depends);
		over = concretise(x, in, MODELS);
		instances_free(in);
	}
	return over;
}

void search_tick(struct search *x, uint32_t length)
{
	const struct prove_options *o = &x->out->options;
	if (o->tick)
		o->tick(o->payload, length, x->out->costs.questions,
		        seconds_now() - x->begun);
}

/* True if all is over. */
static bool ask_first(struct search *x, const uint32_t *which, uint32_t length,
                      struct answer *known)
{
	struct instances *in = search_take(x, which, length);
	bool over;
	known->asked = true;
	search_assert_path(in, length);
	known->path = search_has_model(x, in);
	if (known->path) {
		instances_assert(in, in->between[length - 1][0].depends);
		known->cycle = search_has_model(x, in);
	}
	/* A question that was cut off has told nothing. */
	over = search_is_late(x);
	if (over) known->path = known->cycle = false;
	if (known->cycle)
		over = concretise(x, in, MODELS_SOON) ||
		       ask_from_first(x, which, length, MODELS);
	instances_free(in);
	return over;
}

static void note_pending(struct search *x, const uint32_t *which,
                         uint32_t length)
{
	VEC_RESERVE(x->pending, x->pending_count, x->pending_capacity);
	struct pending *p = &x->pending[x->pending_count++];
	p->length = length;
	for (uint32_t i = 0; i < length; i++) p->which[i] = which[i];
}

static struct answer *answer_of(struct search *x, const uint32_t *which,
                                uint32_t length)
{
	return answers_get(x->answers, x->out->app, which, length,
	                   x->out->options.terms.ssi);
}

/* More models of a cycle, and such with another transaction. True if all is
 * over. */
static bool ask_more(struct search *x, const struct pending *p)
{
	struct proof *out = x->out;
	struct answer *known = answer_of(x, p->which, p->length);
	bool undecided = out->undecided, over = false;
	x->length = p->length;
	out->undecided = known->undecided;
	if (!known->deepened) {
		struct instances *in = search_take(x, p->which, p->length);
		search_assert_path(in, p->length);
		instances_assert(in, in->between[p->length - 1][0].depends);
		over = concretise(x, in, MODELS);
		known->deepened = !over;
		instances_free(in);
	}
	over = over || ask_with_another(x, p->which, p->length, known);
	known->undecided = out->undecided;
	out->undecided |= undecided;
	return over;
}

/* The first `count` of them: they wait until the next length was asked for, as
 * a longer cycle may be found at once. True if all is over. */
static bool ask_pending(struct search *x, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_over(x) || ask_more(x, &x->pending[i])) return true;
	x->pending_count -= count;
	if (x->pending_count)
		memmove(x->pending, x->pending + count,
		        x->pending_count * sizeof *x->pending);
	return false;
}

/* Asks about instances of these transactions. True if all is over. */
static bool ask(struct search *x, const uint32_t *which, uint32_t length)
{
	struct proof *out = x->out;
	struct answer *known = answer_of(x, which, length);
	bool undecided = out->undecided, over;
	search_tick(x, length);
	x->length = length;
	out->undecided = known->undecided;
	over = !known->asked && ask_first(x, which, length, known);
	/* The first of each length is reason enough why nothing is proved. */
	if ((known->path && !x->found_paths) ||
	    (known->cycle && !out->unconfirmed))
		for (uint32_t i = 0; i < length; i++)
			x->grounds |= search_bit(which[i]);
	x->found_paths |= known->path;
	out->unconfirmed |= known->cycle;
	if (known->cycle && !over) note_pending(x, which, length);
	known->undecided = out->undecided;
	out->undecided |= undecided;
	return over;
}

/* Can there be an edge at all? What follows in a session is no other edge than
 * one step of it, so of two edges in a row one is a conflict. And all but the
 * first are a path as well, for which was asked before. */
static bool may_be_path(struct search *x, const uint32_t *which,
                        uint32_t length)
{
	bool session = false;
	assert(length >= 2 && length <= INSTANCES_MAX);
	if (length > 2 && !answer_of(x, which + 1, length - 1)->path)
		return false;
	for (uint32_t i = 0; i + 1 < length; i++) {
		bool conflict =
			summaries_conflict(x->out->app, which[i], which[i + 1]);
		if (!conflict && (session || x->out->options.terms.one_each))
			return false;
		session = !conflict;
	}
	return true;
}

/* All sequences of so many transactions. True if all is over. */
static bool ask_all(struct search *x, uint32_t length)
{
	uint32_t at[INSTANCES_MAX] = { 0 }, which[INSTANCES_MAX];
	for (;;) {
		uint32_t i = 0;
		if (is_over(x)) return true;
		for (uint32_t k = 0; k < length; k++)
			which[k] = x->members[at[k]];
		if (may_be_path(x, which, length) && ask(x, which, length))
			return true;
		while (i < length && ++at[i] == x->member_count) at[i++] = 0;
		if (i == length) return false;
	}
}

/* Is it a level, or a mix, of which more may be seen than is said here: dirty
 * reads, or psi beside other levels? */
static bool is_open(const struct search *x)
{
	const struct application *app = x->out->app;
	enum level others = x->out->options.terms.level;
	bool open = level_sight(others) == SIGHT_NOTHING;
	for (uint32_t i = 0; i < x->member_count; i++) {
		own_level own = app->summaries[x->members[i]].own;
		enum level l = own ? (enum level)(own - 1) : others;
		if (own && (!level_mixes(others) || !level_mixes(l) ||
		            level_sight(l) == SIGHT_NOTHING))
			open = true;
	}
	return open;
}

/* Are there serial transactions beside weaker ones that are so among each other
 * only? */
static bool is_ssi(const struct search *x)
{
	const struct application *app = x->out->app;
	bool serial = false, weaker = false;
	for (uint32_t i = 0; i < x->member_count; i++) {
		own_level own = app->summaries[x->members[i]].own;
		bool one = level_is_serial(own ? (enum level)(own - 1)
		                               : x->out->options.terms.level);
		serial |= one;
		weaker |= !one;
	}
	return app->ssi && serial && weaker;
}

/* Nothing is left when there are no paths of a length, and no cycles below. */
static void search_lengths(struct search *x)
{
	struct proof *out = x->out;
	for (uint32_t m = 2; m <= out->options.max_length; m++) {
		uint32_t shorter = x->pending_count;
		out->length = m;
		x->found_paths = false;
		if (ask_all(x, m) || ask_pending(x, shorter)) return;
		if (!x->found_paths) {
			if (!out->open_level && !out->app->uncovered_count &&
			    !out->unconfirmed)
				out->verdict = VERDICT_HOLDS;
			return;
		}
	}
	ask_pending(x, x->pending_count);
}

void search_members(struct search *x)
{
	struct proof *out = x->out;
	out->open_level = is_open(x);
	out->options.terms.ssi = is_ssi(x);
	out->verdict = VERDICT_INCONCLUSIVE;
	x->grounds = 0;
	x->clients = 0;
	if (!x->member_count) return;
	struct answers *all = x->answers;
	if (!all) x->answers = answers_new();
	search_lengths(x);
	if (!all) answers_free(x->answers);
	x->answers = all;
	free(x->pending);
	x->pending = NULL;
	x->pending_count = x->pending_capacity = 0;
}

void search_apart(struct search *x, struct proof *one)
{
	struct proof *all = x->out;
	one->app = all->app;
	one->costs = all->costs;
	x->out = one;
	search_members(x);
	x->out = all;
	all->costs = one->costs;
	all->stop = one->stop;
}

static void on_tree(void *data, const struct syntax *tree, struct sources *all)
{
	struct application *a = data;
	lower(a, tree, all);
	if (a->finals) return;
	a->begun = mem_take0(1, sizeof *a->begun);
	application_init(a->begun, a->path);
	a->begun->from_first = true;
	lower(a->begun, tree, all);
}

struct program *prove_load_texts(struct application *out, const char *path,
                                 const struct load_text *texts, size_t count,
                                 const struct sql_arguments *arguments,
                                 bool finals, struct diags *d)
{
	struct load_edited look = { .texts = texts,
		                    .count = count,
		                    .transactions = true,
		                    .look = on_tree,
		                    .data = out };
	struct sql_arguments given = { .transactions = true };
	size_t length = strlen(path);
	application_init(out, path);
	if (finals) out->finals = finals_new();
	if (arguments) given = *arguments;
	given.transactions = true;
	look.given = &given;
	if (length > 3 && !strcmp(path + length - 3, ".so")) {
		diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
		          "prove reads programs in .tx, routines in .sql, and "
		          "specifications in .spec");
		return NULL;
	}
	struct program *p = load_program_edited(path, &look, d);
	if (p && program_is_sql(p)) lower_sql(out, p);
	if (p && program_is_sql(p)) lower_sql_keep_assertions(out);
	if (p && program_is_sql(p) && finals) lower_sql_finals(out);
	if (p) prove_mark_stale(out, NULL, NULL);
	return p;
}

struct program *prove_load_given(struct application *out, const char *path,
                                 const struct load_text *text,
                                 const struct sql_arguments *arguments,
                                 bool finals, struct diags *d)
{
	return prove_load_texts(out, path, text, text != NULL, arguments,
	                        finals, d);
}

struct program *prove_load(struct application *out, const char *path,
                           const struct load_text *text, struct diags *d)
{
	return prove_load_given(out, path, text, NULL, false, d);
}

void prove(struct proof *out, struct application *app,
           const struct prove_options *o)
{
	struct search x = { .out = out, .begun = seconds_now() };
	*out = (struct proof){ .options = *o, .app = app };
	assert(o->max_length >= 2 && o->max_length <= INSTANCES_MAX);
	assert((!o->subsets && !o->allocate) ||
	       app->summary_count <= SETS_OF_MOST);
	if (app->image) lower_sql_levels(app);
	x.members = mem_take0((size_t)app->summary_count + app->stale_count + 1,
	                      sizeof *x.members);
	for (uint32_t i = 0; i < app->summary_count; i++)
		x.members[x.member_count++] = i;
	x.limiter = limiter_new(&out->options.budget, x.begun);
	if (o->subsets || o->allocate) x.answers = answers_new();
	search_members(&x);
	bool any = x.member_count > 0;
	if (!out->stop && any && o->subsets) search_subsets(&x, app);
	if (!out->stop && any && o->allocate) search_allocations(&x, app);
	if (!out->stop && any && o->allocate) search_promotions(&x);
	if (!out->stop &&
	    (out->options.table || out->verdict != VERDICT_VIOLATED))
		search_pairs(&x);
	if (!out->stop && o->explain && out->verdict == VERDICT_HOLDS)
		search_explain(&x);
	if (!out->stop && out->verdict == VERDICT_HOLDS) search_stale(&x);
	limiter_free(x.limiter);
	answers_free(x.answers);
	free(x.members);
	instances_context_free(x.context);
	out->costs.seconds = seconds_now() - x.begun;
}

static void free_allocation(struct proved_allocation *a)
{
	for (uint32_t i = 0; i < a->weaker_count; i++) {
		text_free(&a->weaker[i].cycle);
		text_free(&a->weaker[i].client);
		consequence_free(&a->weaker[i].consequence);
	}
	free(a->weaker);
	free(a->levels);
}

static void free_promotion(struct proved_promotion *p)
{
	for (uint32_t i = 0; i < p->set_count; i++) {
		struct promoted_reads *set = &p->sets[i];
		for (uint32_t k = 0; k < set->count; k++) {
			text_free(&set->items[k].transaction);
			text_free(&set->items[k].key);
		}
		free(set->items);
		text_free(&set->diff);
	}
	free(p->sets);
}

void prove_free(struct proof *p)
{
	text_free(&p->client);
	text_free(&p->cycle);
	text_free(&p->candidate);
	consequence_free(&p->consequence);
	history_free(p->history);
	program_free(p->program);
	free(p->pairs);
	free(p->conflicts);
	for (uint32_t i = 0; i < p->set_count; i++) {
		text_free(&p->sets[i].cycle);
		text_free(&p->sets[i].client);
		consequence_free(&p->sets[i].consequence);
	}
	free(p->sets);
	for (uint32_t i = 0; i < p->allocation_count; i++)
		free_allocation(&p->allocations[i]);
	free(p->allocations);
	for (uint32_t i = 0; i < p->stale_count; i++) {
		text_free(&p->stale[i].cycle);
		text_free(&p->stale[i].client);
		consequence_free(&p->stale[i].consequence);
	}
	free(p->stale);
	for (uint32_t i = 0; i < p->promotion_count; i++)
		free_promotion(&p->promotions[i]);
	free(p->promotions);
	for (uint32_t i = 0; i < p->exclusion_count; i++)
		free(p->exclusions[i].rules);
	free(p->exclusions);
	*p = (struct proof){ .verdict = VERDICT_INCONCLUSIVE };
}
