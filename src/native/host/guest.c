#include "native/host/guest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/seconds.h"
#include "native/host/divergence.h"
#include "native/host/decoder.h"
#include "native/host/guest_value.h"

enum {
	LEAVES_MOST = 4096,     /* run once more in the end, */
	RUNS_IN_THE_END = 1024, /* in other orders too if there are so
	                         * few of them that the runs are no
	                         * more than this, */
	ORDERS_MOST = 8         /* and no more orders */
};

#define ORDERS_SECONDS 0.3 /* for all of this, after which no more orders */

/* ---- Points ---- */

uint32_t guest_point(struct guest *g, uint64_t pc)
{
	struct table_probe probe = table_probe(hash_mix(0, pc));
	uint64_t in_file = 0;
	uint32_t i;
	if (!pc) return 0;
	while ((i = table_next(&g->points_by_pc, &probe)) != TABLE_NONE)
		if (g->points[i].pc == pc) return g->points[i].point;
	const char *object = process_object(g->process, pc, &in_file);
	assert(pc);
	uint32_t point =
		object ? library_point(g->library, object, in_file) : 0;
	VEC_RESERVE(g->points, g->point_count, g->point_capacity);
	table_put(&g->points_by_pc, probe, g->point_count);
	g->points[g->point_count++] = (struct point_at){ pc, point };
	assert(g->point_count == g->points_by_pc.count);
	return point;
}

uint32_t guest_assertion(struct guest *g, const char *message, uint64_t pc)
{
	return library_assertion_number(g->library, message,
	                                guest_point(g, pc));
}

/* ---- Making ---- */

static void make_root(struct guest *g, uint32_t session)
{
	struct session_tree *m = &g->sessions[session];
	assert(session < g->session_count);
	m->root.step.kind = GUEST_START;
	m->root.serial = ++g->serial;
	m->root.session = session;
	m->root.kept = true;
}

struct guest *guest_new(struct library *l, const struct worker_job *job,
                        uint32_t sessions)
{
	struct guest *g = mem_take0(1, sizeof *g);
	assert(l && job);
	g->library = l;
	g->process = process_new(job, library_step_timeout(l),
	                         library_shows_output(l));
	region_init(&g->region);
	region_init(&g->scratch);
	table_init(&g->points_by_pc, 0);
	table_init(&g->tree.by_answer, 0);
	g->budget = library_budget(l);
	g->session_count = sessions;
	g->sessions = mem_take0(sessions + 1, sizeof *g->sessions);
	for (uint32_t i = 0; i < sessions; i++) make_root(g, i);
	return g;
}

void guest_free(struct guest *g)
{
	if (!g) return;
	process_free(g->process);
	step_tree_free(&g->tree);
	known_calls_free(g->calls);
	free(g->sessions);
	table_free(&g->points_by_pc);
	free(g->points);
	free(g->leaves);
	region_free(&g->region);
	region_free(&g->scratch);
	free(g);
}

size_t guest_bytes(const struct guest *g)
{
	return g->region.held + g->extra_bytes + g->scratch.held +
	       g->session_count * sizeof *g->sessions +
	       g->leaf_capacity * sizeof *g->leaves +
	       step_tree_bytes(&g->tree) + table_bytes(&g->points_by_pc) +
	       g->point_capacity * sizeof *g->points;
}

uint64_t guest_asked(const struct guest *g)
{
	return g->asked;
}

double guest_cpu(const struct guest *g)
{
	return process_cpu(g->process);
}

const struct guest_step *guest_start(struct guest *g, uint32_t session)
{
	assert(session < g->session_count);
	return &g->sessions[session].root.step;
}

/* ---- Asking the worker ---- */

static bool refuse(struct guest *g, const char *what, const char *why)
{
	struct text t = { 0 };
	text_format(&t, "%s%s", what, why);
	library_set_fault(g->library, &t);
	return false;
}

/* Why the process could not be started, or died. */
static bool refuse_process(struct guest *g)
{
	struct text why = { 0 };
	process_why(g->process, &why);
	refuse(g, "the native code cannot be run: ", text_get(&why));
	text_free(&why);
	return false;
}

static void forget_worker(struct guest *g)
{
	for (uint32_t i = 0; i < g->session_count; i++) g->sessions[i].live = 0;
	table_clear(&g->points_by_pc);
	g->point_count = 0;
}

static bool is_same_client(struct guest *g)
{
	struct text why = { 0 };
	bool same =
		library_declares(g->library, process_reply(g->process), &why);
	if (!same) refuse(g, text_get(&why), "");
	text_free(&why);
	return same;
}

/* Sees to it that a worker runs; forgets where the last one stood. */
static bool have_worker(struct guest *g)
{
	enum process_answer a = process_start(g->process);
	if (a == PROCESS_INTERRUPTED) return false;
	if (a != PROCESS_REPLIED) return refuse_process(g);
	if (!process_is_new(g->process)) return true;
	forget_worker(g);
	return is_same_client(g);
}

/* The way to a step: what is behind the root, in order. */
struct path {
	const struct tree_step **steps;
	uint64_t length;
	uint64_t answers; /* given on it */
};

static struct path path_to(struct guest *g, const struct tree_step *to)
{
	struct path p = { 0 };
	for (const struct tree_step *s = to; s->before; s = s->before) {
		p.length++;
		p.answers += step_waits(s->before);
	}
	p.steps = region_take(&g->scratch, (p.length + 1) * sizeof *p.steps);
	uint64_t at = p.length;
	for (const struct tree_step *s = to; s->before; s = s->before)
		p.steps[--at] = s;
	assert(!at);
	return p;
}

static void begin_command(struct wire_writer *w, struct guest *g,
                          uint32_t session, bool fresh, uint64_t answers)
{
	assert(session < g->session_count);
	wire_clear(process_command(g->process));
	*w = wire_write(process_command(g->process));
	wire_put_u8(w, COMMAND_SESSION);
	wire_put_u32(w, session);
	wire_put_u8(w, fresh);
	wire_put_u64(w, answers);
}

/* Sends the command; its outcome. */
static enum process_answer ask(struct guest *g, struct wire_writer *w)
{
	if (!wire_commit(w)) {
		refuse(g,
		       "a session reads values of more than 64 MiB, the "
		       "most that isoscope passes on",
		       "");
		return PROCESS_NOT_STARTED;
	}
	g->asked++;
	enum process_answer a = process_ask(g->process);
	if (a == PROCESS_NOT_STARTED) refuse_process(g);
	return a;
}

/* Lets the session go on where it stands, with the answer if it waits. */
static enum process_answer ask_on(struct guest *g, uint32_t session,
                                  const struct value *answer)
{
	struct wire_writer w;
	assert(session < g->session_count);
	begin_command(&w, g, session, false, answer != NULL);
	if (answer) wire_put_value(&w, wire_of_value(&g->scratch, *answer));
	return ask(g, &w);
}

/* Begins the session anew, with all answers of the path, and one more. */
static enum process_answer ask_anew(struct guest *g, uint32_t session,
                                    const struct path *p,
                                    const struct value *answer)
{
	struct wire_writer w;
	assert(!p->length || p->steps[p->length - 1]->session == session);
	begin_command(&w, g, session, true, p->answers + (answer != NULL));
	for (uint64_t i = 0; i < p->length; i++)
		if (step_waits(p->steps[i]->before))
			wire_put_value(&w, wire_of_value(&g->scratch,
			                                 p->steps[i]->answer));
	if (answer) wire_put_value(&w, wire_of_value(&g->scratch, *answer));
	return ask(g, &w);
}

/* False if there is no reply: the user does not want it, or it is the library's
 * fault. */
static bool is_answered(struct decoder *x, enum process_answer a,
                        uint64_t answers)
{
	if (a != PROCESS_REPLIED && a != PROCESS_DIED) return false;
	assert(x->guest);
	decoder_read(x, a, answers);
	return true;
}

/* The next step of the session, asking on while the worker has more. */
static struct tree_step *next_step(struct guest *g, struct decoder *x)
{
	for (;;) {
		struct tree_step *s = decoder_step(x);
		if (s || !x->more) return s;
		enum process_answer a = ask_on(g, x->last->session, NULL);
		if (!is_answered(x, a, (uint64_t)x->answers)) return NULL;
	}
}

static void diverged(struct guest *g, const struct tree_step *first,
                     const struct tree_step *again, uint64_t same)
{
	struct text t = { 0 };
	text_format(&t,
	            "%s '%s' is not deterministic: run again with the "
	            "same reads, it does something else\n",
	            first->session < library_session_count(g->library)
	                    ? "session"
	                    : "the expectation",
	            library_session_name(g->library, first->session));
	print_divergence(&t, g->library, first, again, same);
	text_string(&t,
	            "what a session does may depend on its reads only: not on "
	            "the clock, random numbers, addresses, or variables that "
	            "keep their value from one run to the next");
	library_set_fault(g->library, &t);
}

/* All steps that are still to come, for the report of a difference. */
static void read_rest(struct guest *g, struct decoder *x)
{
	enum { ENOUGH = 16 };
	for (int i = 0; i < ENOUGH && next_step(g, x); i++) continue;
}

/* Reads the steps of a session begun anew and compares them with the path.
 * `known` is the last step known of the session, for reports. */
static bool same_as_before(struct guest *g, struct decoder *x,
                           const struct path *p, const struct tree_step *known)
{
	for (uint64_t i = 0; i < p->length; i++) {
		const struct tree_step *old = p->steps[i];
		struct tree_step *s = next_step(g, x);
		if (s) s->answer = old->answer;
		if (s && steps_agree(old, s)) continue;
		/* What another session wrote over is no choice of this one. */
		if (process_crash(g->process) == CRASH_SPOILT)
			return refuse_process(g);
		if (s) read_rest(g, x);
		diverged(g, known, x->last, i);
		return false;
	}
	return true;
}

/* ---- What comes next ---- */

/* Notes where the worker stands now. */
static void set_live(struct guest *g, const struct decoder *x)
{
	const struct tree_step *s = x->last;
	bool stands = !x->died && s->step.kind != GUEST_END;
	assert(s->session < x->guest->session_count);
	g->sessions[s->session].live = stands ? s->serial : 0;
}

/* One of this reply; if there is none yet, or something is noted that would get
 * lost, the worker is asked on. */
static struct tree_step *step_at_hand(struct guest *g, struct decoder *x,
                                      bool enough)
{
	struct tree_step *s = decoder_step(x);
	if (s || (enough && !decoder_is_pending(x))) return s;
	return next_step(g, x);
}

/* Takes all steps of the reply behind `from`; the first of them, or NULL if
 * there is none. Steps that are not kept follow each other as long as they
 * live, since they are made together, but not `from`, which may live longer. */
static struct tree_step *take_steps(struct guest *g, struct decoder *x,
                                    struct tree_step *from, struct value answer)
{
	struct tree_step *first = NULL, *last = from, *s;
	while ((s = step_at_hand(g, x, first != NULL))) {
		if (!first) {
			first = s;
			if (step_waits(from))
				s->answer = value_copy(x->region, answer);
		}
		if (x->kept || last != from) step_tree_add(&g->tree, last, s);
		assert(s->before == last);
		last = s;
	}
	set_live(g, x);
	return first;
}

/* Runs the session once more, to its end. */
static bool runs_again(struct guest *g, struct tree_step *end)
{
	struct decoder x;
	assert(end->kept && end->step.kind == GUEST_END);
	if (!have_worker(g)) return false;
	struct region_mark mark = region_mark(&g->scratch);
	struct path p = path_to(g, end);
	decoder_begin(&x, g, &g->sessions[end->session].root, &g->scratch,
	              false);
	enum process_answer a = ask_anew(g, end->session, &p, NULL);
	bool same =
		is_answered(&x, a, p.answers) && same_as_before(g, &x, &p, end);
	region_release(&g->scratch, mark);
	return same;
}

/* A session that is at its end stands nowhere, so nothing is lost by running it
 * twice. */
static bool runs_twice(struct guest *g, struct tree_step *end)
{
	if (end->twice) return true;
	end->twice = true;
	if (!runs_again(g, end)) return false;
	if (g->leaf_count >= LEAVES_MOST) return true;
	VEC_RESERVE(g->leaves, g->leaf_count, g->leaf_capacity);
	g->leaves[g->leaf_count++] = end;
	return true;
}

/* Until the time, or to the end if that is 0. */
static bool run_leaves(struct guest *g, double until)
{
	for (size_t i = g->leaf_count; i--;) {
		if (until > 0 && seconds_now() > until) return true;
		if (!runs_again(g, g->leaves[i])) return false;
	}
	return true;
}

static void shuffle_leaves(struct guest *g, struct rng *rng)
{
	for (size_t i = g->leaf_count; i > 1; i--) {
		size_t j = rng_below(rng, i);
		struct tree_step *leaf = g->leaves[i - 1];
		g->leaves[i - 1] = g->leaves[j];
		g->leaves[j] = leaf;
	}
}

/* State that outlives a run, in static variables for example, was the same in
 * all that was seen if the first run has left it: so there is a new process,
 * and the last comes first. Then other orders, since one session may leave
 * something to another. */
void guest_settle(struct guest *g)
{
	struct rng rng = { 1 };
	size_t rounds = g->leaf_count ? RUNS_IN_THE_END / g->leaf_count : 0;
	if (!g->leaf_count) return;
	assert(g->leaf_count <= LEAVES_MOST);
	process_end(g->process);
	double until = seconds_now() + ORDERS_SECONDS;
	bool same = run_leaves(g, 0);
	for (size_t i = 0;
	     same && i < rounds && i < ORDERS_MOST && seconds_now() < until;
	     i++) {
		shuffle_leaves(g, &rng);
		same = run_leaves(g, until);
	}
	g->leaf_count = 0;
}

/* The last of the steps that follow without a read. */
static struct tree_step *last_of(struct tree_step *s)
{
	while (!step_waits(s) && s->next) s = s->next;
	return s;
}

/* Lets the session go on from where it stands. */
static bool go_on(struct guest *g, struct decoder *x, struct tree_step *from,
                  const struct value *given, struct region *r, bool kept)
{
	decoder_begin(x, g, from, r, kept);
	return is_answered(x, ask_on(g, from->session, given), 0);
}

/* Runs the session from its beginning up to what is behind `from`. */
static bool go_again(struct guest *g, struct decoder *x, struct tree_step *from,
                     const struct value *given, struct region *r, bool kept)
{
	struct path p = path_to(g, from);
	decoder_begin(x, g, &g->sessions[from->session].root, &g->scratch,
	              false);
	enum process_answer a = ask_anew(g, from->session, &p, given);
	if (!is_answered(x, a, p.answers + (given != NULL))) return false;
	/* A reply that was spoilt is empty. */
	if (process_crash(g->process) != CRASH_SPOILT &&
	    !same_as_before(g, x, &p, from))
		return false;
	decoder_rebase(x, from, r, kept);
	return true;
}

/* What follows steps that do not wait is kept always: there is one such way
 * behind each read, and it is linked to them. */
static bool has_room(const struct guest *g)
{
	return guest_bytes(g) < g->budget;
}

/* Asks the worker for what follows. */
static struct tree_step *follow(struct guest *g, struct tree_step *from,
                                struct value answer, struct region *r)
{
	bool kept = from->kept && (!step_waits(from) || has_room(g));
	const struct value *given = step_waits(from) ? &answer : NULL;
	struct region *to = kept ? &g->region : r;
	struct decoder x;
	if (!have_worker(g)) return NULL;
	if (g->sessions[from->session].live == from->serial
	            ? !go_on(g, &x, from, given, to, kept)
	            : !go_again(g, &x, from, given, to, kept))
		return NULL;
	struct tree_step *s = take_steps(g, &x, from, answer);
	if (!s) {
		diverged(g, from, x.last, path_to(g, from).length);
		return NULL;
	}
	struct tree_step *end = last_of(s);
	if (end->kept && end->step.kind == GUEST_END && !runs_twice(g, end))
		return NULL;
	return s;
}

const struct guest_step *guest_next(struct guest *g,
                                    const struct guest_step *step,
                                    struct value answer, struct region *r)
{
	struct tree_step *from = (struct tree_step *)step;
	struct tree_step *s = step_tree_find(&g->tree, from, answer);
	assert(from->session < g->session_count);
	if (s) return &s->step;
	struct region_mark mark = region_mark(&g->scratch);
	s = follow(g, from, answer, r);
	region_release(&g->scratch, mark);
	assert(!s || s->before == from);
	return s ? &s->step : NULL;
}
