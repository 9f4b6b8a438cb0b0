#include "run/runner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "execution/complete.h"
#include "vm/program.h"

enum {
	STEPS_PER_TICK = 2048,
	STEPS_PER_TEST = 64, /* a test of a level may take its time */
	WORDS_PER_STEP = 8,  /* so may a read among many transactions */
	KEYS_KEPT = 4096     /* from run to run, beside those of the program */
};

/* The writer of an external read of the pending transaction, and what else it
 * could be. Kept for the levels that may forbid the transaction later. */
struct choice {
	struct ledger_mark before; /* the read */
	struct request request;
	/* In runner.kept, up to the mark: the machine, NULL if there is no
	 * other writer; writers, as they are to be tried. */
	const struct machine_state *waiting;
	const uint32_t *order;
	struct region_mark kept;
	uint32_t order_count, cursor;
	uint32_t latest, source;
	bool serial;             /* runner.serial before the read */
	struct region_mark mark; /* of the context's region */
};

struct runner {
	const struct program *program;
	enum level level;
	const atomic_bool *interrupt;
	double deadline;
	uint64_t memory;
	const struct run_chooser *chooser;
	uint64_t steps, next_tick;
	uint64_t asked; /* machine_guest_asked() at the last look */
	/* Made anew when it has met too many keys. */
	bool fresh; /* no run has ended in it */
	uint32_t program_keys;
	struct context context;
	struct execution execution;
	struct region_mark start;
	bool too_many; /* transactions */
	bool locks;    /* some read has locked its row, in some run */
	const char *problem;
	/* The run. */
	bool serial;            /* all reads so far were the latest, in the
	                         * order of the run */
	struct choice *choices; /* of the pending transaction */
	uint32_t choice_count, choice_capacity;
	struct region kept; /* what they remember */
	word *valid;        /* writers of a read */
	uint32_t valid_words;
	struct run_writer *writers; /* likewise */
	uint32_t writer_capacity;
	uint32_t *ready; /* sessions */
	uint64_t taken_back;
	/* What it shows. */
	bool judged;
	bool known[LEVEL_COUNT], allowed[LEVEL_COUNT];
	uint32_t *violated;
	uint32_t violated_count;
	const struct finding **found; /* by slot */
	struct region findings;
};

/* ---- The context ---- */

static void make_context(struct runner *r)
{
	struct machine_limits limits = { r->interrupt, r->deadline,
		                         r->memory / 2 };
	context_init(&r->context, r->program, NULL, &limits);
	r->program_keys = keys_count(r->context.machine.keys);
	r->fresh = true;
	execution_init(&r->execution, &r->context, r->level);
	closure_go_forward(&r->execution.ledger.closure,
	                   !level_is_extensible(r->level) ||
	                           program_may_mix(r->program) ||
	                           program_locks(r->program));
	if (r->locks) ledger_may_lock(&r->execution.ledger);
	r->start = region_mark(&r->context.region);
}

static void drop_context(struct runner *r)
{
	execution_free(&r->execution);
	context_free(&r->context);
}

static void renew_context(struct runner *r)
{
	drop_context(r);
	make_context(r);
}

/* The keys that runs met stay in the table: too many of them, and it is begun
 * anew. */
static bool is_stale(const struct runner *r)
{
	const struct machine *m = &r->context.machine;
	return m->stop || keys_count(m->keys) > r->program_keys + KEYS_KEPT;
}

static void forget_choices(struct runner *r)
{
	r->choice_count = 0;
	region_release(&r->kept, (struct region_mark){ 0 });
}

static bool begin_run(struct runner *r)
{
	if (context_too_many(r->program)) return false;
	if (is_stale(r)) renew_context(r);
	execution_keep(&r->execution, 1);
	assert(r->execution.ledger.closure.count == 1 &&
	       !r->execution.ledger.pending.active);
	ledger_forget_numbers(&r->context.ledgers);
	region_release(&r->context.region, r->start);
	region_release(&r->findings, (struct region_mark){ 0 });
	r->too_many = false;
	r->problem = NULL;
	r->serial = true;
	r->next_tick = r->steps;
	forget_choices(r);
	r->judged = false;
	memset(r->known, 0, sizeof r->known);
	if (r->chooser->begin) r->chooser->begin(r->chooser->data);
	return true;
}

/* ---- Limits ---- */

uint64_t runner_bytes(const struct runner *r)
{
	const struct context *c = &r->context;
	return c->region.held + keys_bytes(c->machine.keys) +
	       session_memo_bytes(&c->memo) + r->findings.held + r->kept.held +
	       level_scratch_bytes(c->ledgers.scratch) +
	       r->choice_capacity * sizeof *r->choices +
	       execution_bytes(&r->execution) +
	       r->writer_capacity * sizeof *r->writers;
}

double runner_guest_cpu(const struct runner *r)
{
	return machine_guest_cpu(&r->context.machine);
}

/* Has a limit been reached, or has somebody asked to stop? */
static bool must_stop(struct runner *r, enum run_end *why)
{
	uint64_t asked = machine_guest_asked(&r->context.machine);
	if (r->steps++ < r->next_tick && asked == r->asked) return false;
	r->next_tick = r->steps + STEPS_PER_TICK;
	r->asked = asked;
	*why = RUN_INTERRUPTED;
	if (r->interrupt && atomic_load(r->interrupt)) return true;
	if (r->deadline > 0 && seconds_now() > r->deadline) return true;
	*why = RUN_MEMORY;
	if (!r->memory || runner_bytes(r) <= r->memory) return false;
	r->problem = "a run needs more memory than the limit allows";
	return true;
}

/* ---- Tests of levels that are not extensible ---- */

static bool level_holds(struct runner *r)
{
	r->steps += STEPS_PER_TEST;
	return ledger_allows(&r->execution.ledger);
}

/* May the pending transaction read this next? All it has read is allowed. */
static bool may_read(struct runner *r, const struct request *q, uint32_t source)
{
	r->steps += STEPS_PER_TEST;
	return ledger_may_read(&r->execution.ledger, request_db_access(q),
	                       source);
}

/* Leaves in the closure the first `reads` choices of the last transaction. */
static void keep_reads(struct runner *r, uint32_t reads)
{
	struct closure *c = &r->execution.ledger.closure;
	assert(reads <= r->choice_count &&
	       !ledger_is_extensible(&r->execution.ledger));
	closure_rewind(c, c->count, r->choices[0].before.reads, true);
	for (uint32_t i = 0; i < reads; i++) {
		const struct choice *choice = &r->choices[i];
		closure_read_locking(c, choice->request.key, choice->source,
		                     choice->request.strength);
	}
}

/* Is the last transaction allowed with its first `reads` choices and, if there
 * is a log, its writes? */
static bool prefix_allowed(struct runner *r, uint32_t reads,
                           const struct ledger_transaction *log)
{
	keep_reads(r, reads);
	if (log)
		closure_end(&r->execution.ledger.closure, log->written,
		            log->written_count);
	return level_holds(r);
}

/* The shortest prefix of the choices that is forbidden; all are. (More reads
 * forbid more, and none forbid nothing.) */
static uint32_t shortest_forbidden(struct runner *r,
                                   const struct ledger_transaction *log)
{
	uint32_t good = 0, bad = r->choice_count;
	while (bad - good > 1) {
		uint32_t middle = good + (bad - good) / 2;
		if (prefix_allowed(r, middle, log))
			good = middle;
		else
			bad = middle;
	}
	assert(bad == good + 1 && bad <= r->choice_count);
	return bad;
}

/* Number of the choice, from 1, that makes the last transaction forbidden; 0
 * if it is allowed. A transaction that reads nothing always is, and one whose
 * first reads are forbidden by themselves is not blamed on its writes. What was
 * tested read by read is allowed if nothing was written; but locks, and what
 * constraints look for, count up to the end. */
static uint32_t forbidden_choice(struct runner *r)
{
	const struct ledger *l = &r->execution.ledger;
	assert(l->closure.count > 1 && !l->pending.active);
	uint32_t id = l->closure.order[l->closure.count - 1];
	const struct ledger_transaction *log = l->transactions[id];
	uint32_t all = r->choice_count;
	bool tested = !r->chooser->likely; /* the reads, each by itself */
	if (r->serial || !all) return 0;
	if (tested && !log->written_count && !ledger_heeds_locks(l)) return 0;
	if (level_holds(r)) return 0;
	if (!tested && !prefix_allowed(r, all, NULL)) log = NULL;
	return shortest_forbidden(r, log);
}

/* ---- Choices ---- */

/* Takes the next writer that is allowed; false if there is none. The state
 * waits for it. */
static bool take_writer(struct runner *r, struct choice *c)
{
	bool only = c->order_count == 1 &&
	            !ledger_heeds_locks(&r->execution.ledger);
	bool tested = !r->chooser->likely && !only;
	assert(c->order_count && c->cursor <= c->order_count);
	while (c->cursor < c->order_count) {
		uint32_t source = c->order[c->cursor++];
		bool latest = c->serial && source == c->latest;
		if (tested && !latest && !may_read(r, &c->request, source))
			continue;
		c->source = source;
		r->serial = latest;
		execution_read(&r->execution, &c->request, source, NULL);
		return true;
	}
	return false;
}

/* The state as it was before the choice, waiting for a writer. */
static void take_back(struct runner *r, const struct choice *c)
{
	assert(c->waiting && c->order_count > 1);
	r->taken_back++;
	execution_rewind(&r->execution, &c->before);
	region_release(&r->context.region, c->mark);
	region_release(&r->kept, c->kept);
	session_run_resume(&r->execution.live, &r->context.memo, c->waiting);
}

/* The last choice goes on with the next writer; where there is none left, the
 * choice before. A choice of the latest writer in a commit order is never taken
 * back, so it ends. */
static void choose_another(struct runner *r)
{
	for (;; r->choice_count--) {
		assert(r->choice_count);
		struct choice *c = &r->choices[r->choice_count - 1];
		if (c->cursor == c->order_count) continue;
		take_back(r, c);
		if (take_writer(r, c)) return;
	}
}

/* Takes back the choice of this number and those after it. */
static void choose_again(struct runner *r, uint32_t number)
{
	keep_reads(r, number);
	r->choice_count = number;
	choose_another(r);
}

static void note_writer(struct runner *r, uint32_t count, uint32_t id)
{
	const struct ledger_transaction *log =
		r->execution.ledger.transactions[id];
	r->writers[count] = (struct run_writer){
		.id = id,
		.session = log ? log->session : UINT32_MAX,
		.index = log ? log->index : 0,
	};
}

/* The transactions of the set, in the order in which they ran. */
static uint32_t list_writers(struct runner *r)
{
	const struct closure *c = &r->execution.ledger.closure;
	uint32_t count = 0;
	if (c->count > r->writer_capacity) {
		r->writer_capacity = 2 * c->count;
		r->writers = mem_grow(r->writers, r->writer_capacity,
		                      sizeof *r->writers);
	}
	for (uint32_t i = 0; i < c->count; i++)
		if (bits_has(r->valid, c->order[i]))
			note_writer(r, count++, c->order[i]);
	assert(count);
	return count;
}

static const uint32_t *keep_order(struct runner *r, uint32_t count)
{
	uint32_t *order = region_take(&r->kept, count * sizeof *order);
	for (uint32_t i = 0; i < count; i++) order[i] = r->writers[i].id;
	return order;
}

static void ask_writers(struct runner *r, const struct request *request,
                        uint32_t count)
{
	const struct ledger *l = &r->execution.ledger;
	const struct closure *c = &l->closure;
	struct run_read read = {
		.session = l->pending.session,
		.index = l->pending.index,
		.number = c->read_count - c->blocks[c->count - 1].first_read,
		.total = c->read_count,
		.key = keys_name(r->context.machine.keys, request->key),
		.key_number = request->key,
	};
	r->chooser->writers(r->chooser->data, &read, r->writers, count);
}

/* Takes the first of the writers listed, and remembers the others. */
static void choose(struct runner *r, const struct request *request,
                   uint32_t count, uint32_t latest)
{
	const struct ledger *l = &r->execution.ledger;
	struct choice c = {
		.before = ledger_mark(l),
		.request = *request,
		.order = keep_order(r, count),
		.order_count = count,
		.latest = latest,
		.serial = r->serial,
	};
	if (count > 1)
		c.waiting = session_run_keep(&r->execution.live, &r->kept);
	c.kept = region_mark(&r->kept);
	c.mark = region_mark(&r->context.region);
	VEC_RESERVE(r->choices, r->choice_count, r->choice_capacity);
	r->choices[r->choice_count++] = c;
	/* There may be none: locks have decided what the transaction does not
	 * see, or, where its writes count already (in statements), one that
	 * waits for it would have to end first. */
	if (!take_writer(r, &r->choices[r->choice_count - 1]))
		choose_another(r);
}

static void on_read(struct runner *r, const struct request *request)
{
	struct ledger *l = &r->execution.ledger;
	if (l->closure.words > r->valid_words) {
		r->valid_words = l->closure.words;
		r->valid = mem_grow(r->valid, r->valid_words, sizeof(word));
	}
	r->steps += l->closure.words / WORDS_PER_STEP;
	ledger_writers(l, request_db_access(request), r->valid);
	uint32_t count = list_writers(r);
	uint32_t latest = r->writers[count - 1].id;
	ask_writers(r, request, count);
	if (!ledger_is_extensible(l)) {
		choose(r, request, count, latest);
		return;
	}
	uint32_t source = r->writers[0].id;
	assert(bits_has(r->valid, source)); /* one of those that were told */
	r->serial = r->serial && source == latest;
	execution_read(&r->execution, request, source, NULL);
}

static void on_end(struct runner *r)
{
	if (ledger_is_extensible(&r->execution.ledger)) return;
	uint32_t number = forbidden_choice(r);
	if (number)
		choose_again(r, number);
	else
		forget_choices(r);
}

/* Native code locks, which was not known: what this run chose so far was not
 * noted as it has to be then. True if it has to begin anew. */
static bool begins_to_lock(struct runner *r, const struct request *request)
{
	if (request->strength == STRENGTH_PLAIN || r->execution.ledger.locks)
		return false;
	r->locks = true;
	ledger_may_lock(&r->execution.ledger);
	return true;
}

/* ---- The run ---- */

static uint32_t list_ready(struct runner *r)
{
	uint32_t count = 0, from = 0, session;
	while ((session = execution_next_session(&r->execution, from)) !=
	       UINT32_MAX) {
		r->ready[count++] = session;
		from = session + 1;
	}
	return count;
}

/* False when there is no transaction left, or there are too many. */
static bool begin_next(struct runner *r)
{
	uint32_t count = list_ready(r);
	if (!count) return false;
	uint32_t session =
		r->chooser->session(r->chooser->data, r->ready, count);
	assert(session >= r->ready[0] && session <= r->ready[count - 1]);
	r->too_many = !execution_begin(&r->execution, session);
	return !r->too_many;
}

_Static_assert(TRANSACTIONS_MAX == 16384 && KEYS_MAX == 1048576 &&
                       EVENTS_MAX == 65535,
               "the limits are as the problems say");

static enum run_end too_many_transactions(struct runner *r)
{
	r->problem = "the program runs more than 16,383 transactions, the most "
		     "that isoscope holds";
	return RUN_TOO_LARGE;
}

/* There was no room for a key, or for an event; or native code failed. */
static enum run_end too_full(struct runner *r)
{
	if (r->context.machine.stop == MACHINE_INTERRUPTED)
		return RUN_INTERRUPTED;
	r->problem = r->context.machine.stop == MACHINE_FAULT
	                     ? "the program does not do the same again"
	             : r->context.machine.stop
	                     ? "the program touches more than "
	                       "1,048,576 keys, the most that "
	                       "isoscope holds"
	                     : "a transaction makes more than "
	                       "65,535 reads and writes, the "
	                       "most that isoscope holds";
	return RUN_TOO_LARGE;
}

static enum run_end finish(struct runner *r)
{
	if (r->too_many) return too_many_transactions(r);
	if (!execution_pruned(&r->execution)) return RUN_COMPLETE;
	return execution_cut_short(&r->execution) ? RUN_BOUND : RUN_PRUNED;
}

static enum run_end run_once(struct runner *r)
{
	struct request request;
	enum run_end why;
	if (!begin_run(r)) return too_many_transactions(r);
	for (;;) {
		if (must_stop(r, &why)) return why;
		if (r->context.machine.stop) return too_full(r);
		if (!r->execution.ledger.pending.active && !begin_next(r))
			return finish(r);
		switch (execution_run(&r->execution, &request)) {
		case ADVANCE_READ:
			if (begins_to_lock(r, &request))
				begin_run(r);
			else
				on_read(r, &request);
			break;
		case ADVANCE_ENDED: on_end(r); break;
		case ADVANCE_FULL: return too_full(r);
		}
	}
}

enum run_end runner_run(struct runner *r, const struct run_chooser *c)
{
	assert(!r->chooser && c->session && c->writers);
	r->chooser = c;
	enum run_end end = run_once(r);
	if (end == RUN_TOO_LARGE && !r->fresh &&
	    r->context.machine.stop == MACHINE_KEYS_FULL) {
		renew_context(r);
		end = run_once(r);
	}
	r->fresh = false;
	r->chooser = NULL;
	return end;
}

/* ---- What the run shows ---- */

const struct execution *runner_execution(const struct runner *r)
{
	return &r->execution;
}

struct history *runner_history(const struct runner *r)
{
	return execution_history(&r->execution);
}

uint64_t runner_hash(const struct runner *r)
{
	return execution_hash(&r->execution);
}

uint64_t runner_outcome(const struct runner *r)
{
	return execution_outcome(&r->execution);
}

bool runner_satisfies(struct runner *r, enum level l)
{
	assert(l < LEVEL_COUNT && !r->chooser);
	const struct ledger *ledger = &r->execution.ledger;
	if (r->serial) return true;
	bool implies = program_checks(r->program)
	                       ? level_implies_checks(r->level, l)
	                       : level_implies(r->level, l);
	if (!ledger->closure.owns && implies) return true;
	if (!r->known[l]) r->allowed[l] = ledger_satisfies(ledger, l);
	r->known[l] = true;
	return r->allowed[l];
}

uint32_t runner_reads(const struct runner *r)
{
	return r->execution.ledger.closure.read_count;
}

static void violate(struct runner *r, uint32_t slot)
{
	uint32_t at = r->violated_count++;
	assert(slot <= program_assertion_count(r->program) &&
	       at <= program_assertion_count(r->program));
	for (; at && r->violated[at - 1] > slot; at--)
		r->violated[at] = r->violated[at - 1];
	r->violated[at] = slot;
}

static void note_finding(void *data, uint32_t slot, const struct finding *f)
{
	struct runner *r = data;
	assert(f && slot <= program_assertion_count(r->program));
	if (r->found[slot]) return;
	r->found[slot] = finding_copy(&r->findings, f);
	violate(r, slot);
}

static void judge(struct runner *r)
{
	uint32_t assertions = program_assertion_count(r->program);
	r->judged = true;
	r->violated_count = 0;
	memset(r->found, 0, (assertions + 1) * sizeof *r->found);
	execution_findings(&r->execution, note_finding, r);
	if (program_is_native(r->program)) return;
	for (uint32_t i = 0; i < assertions; i++)
		if (program_assertion(r->program, i)->kind ==
		            ASSERTION_SERIALIZABLE &&
		    !runner_satisfies(r, LEVEL_SERIAL))
			violate(r, i);
}

const uint32_t *runner_violated(struct runner *r, uint32_t *count)
{
	if (!r->judged) judge(r);
	*count = r->violated_count;
	return r->violated;
}

const struct finding *runner_finding(const struct runner *r, uint32_t slot)
{
	assert(r->judged && slot <= program_assertion_count(r->program));
	return r->found[slot];
}

/* ---- Making and asking ---- */

struct runner *runner_new(const struct program *p, enum level l,
                          const atomic_bool *interrupt)
{
	struct runner *r = mem_take0(1, sizeof *r);
	assert(l < LEVEL_COUNT);
	uint32_t slots = program_assertion_count(p) + 1;
	r->program = p;
	r->level = l;
	r->interrupt = interrupt;
	r->ready = mem_take0(program_session_count(p) + 1, sizeof *r->ready);
	r->violated = mem_take0(slots, sizeof *r->violated);
	r->found = mem_take0(slots, sizeof *r->found);
	region_init(&r->findings);
	region_init(&r->kept);
	make_context(r);
	return r;
}

void runner_free(struct runner *r)
{
	if (!r) return;
	drop_context(r);
	region_free(&r->findings);
	region_free(&r->kept);
	free(r->choices);
	free(r->valid);
	free(r->writers);
	free(r->ready);
	free(r->violated);
	free(r->found);
	free(r);
}

const struct program *runner_program(const struct runner *r)
{
	return r->program;
}

enum level runner_level(const struct runner *r)
{
	return r->level;
}

void runner_deadline(struct runner *r, double seconds)
{
	assert(seconds >= 0);
	r->deadline = seconds;
}

void runner_memory(struct runner *r, uint64_t bytes)
{
	r->memory = bytes;
}

const char *runner_problem(const struct runner *r)
{
	return r->problem;
}

uint64_t runner_taken_back(const struct runner *r)
{
	return r->taken_back;
}
