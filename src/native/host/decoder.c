#include "native/host/decoder.h"

#include <assert.h>
#include <string.h>

#include "native/host/guest_value.h"
#include "vm/machine.h"

enum {
	NOTES_SHOWN = 256,
	NOTES_MOST = 16384 /* of a session */
};

void decoder_rebase(struct decoder *x, const struct tree_step *last,
                    struct region *r, bool kept)
{
	assert(last && r);
	x->last = last;
	x->findings = last->step.findings;
	x->notes = last->step.notes;
	x->pruned = last->step.pruned;
	x->statement = false;
	x->region = r;
	x->kept = kept;
}

void decoder_begin(struct decoder *x, struct guest *g,
                   const struct tree_step *last, struct region *r, bool kept)
{
	assert(last->session < g->session_count);
	memset(x, 0, sizeof *x);
	x->guest = g;
	x->since = -1;
	decoder_rebase(x, last, r, kept);
}

void decoder_read(struct decoder *x, enum process_answer outcome,
                  uint64_t answers)
{
	assert(outcome == PROCESS_REPLIED || outcome == PROCESS_DIED);
	x->wire = wire_read(process_reply(x->guest->process));
	x->died = outcome == PROCESS_DIED;
	x->more = false;
	x->answers = (int64_t)answers;
}

bool decoder_is_pending(const struct decoder *x)
{
	return x->statement || x->findings != x->last->step.findings ||
	       x->notes != x->last->step.notes;
}

/* ---- What belongs to the next step ---- */

/* Notes without those that a later one replaced, oldest first. */
static uint32_t current_notes(const struct guest_note *newest,
                              struct finding_value *out)
{
	uint32_t count = 0;
	for (const struct guest_note *n = newest; n && count < NOTES_SHOWN;
	     n = n->older) {
		const struct guest_note *later = newest;
		while (later != n && strcmp(later->name, n->name))
			later = later->older;
		if (later != n) continue;
		if (out)
			out[count] =
				(struct finding_value){ n->name, n->value };
		count++;
	}
	assert(count <= NOTES_SHOWN);
	for (uint32_t i = 0; out && i < count / 2; i++) {
		struct finding_value v = out[i];
		out[i] = out[count - 1 - i];
		out[count - 1 - i] = v;
	}
	return count;
}

static struct finding *add_finding(struct decoder *x, enum finding_kind kind,
                                   uint64_t pc)
{
	uint32_t values = current_notes(x->notes, NULL);
	struct finding *f = region_take0(
		x->region, sizeof *f + values * sizeof f->values[0]);
	f->older = x->findings;
	f->kind = kind;
	f->point = guest_point(x->guest, pc);
	f->value_count = values;
	assert(f->value_count == values);
	current_notes(x->notes, f->values);
	x->findings = f;
	return f;
}

/* The session comes to an error here. */
static void fail(struct decoder *x, uint64_t pc, const char *message)
{
	add_finding(x, FINDING_ERROR, pc)->message =
		region_copy_string(x->region, message, strlen(message));
	x->end = x->last->open ? DECODER_ABORTS : DECODER_ENDS;
}

static void died(struct decoder *x)
{
	struct process *p = x->guest->process;
	struct text why = { 0 };
	process_why(p, &why);
	x->given_up = process_gave_up(p);
	fail(x, process_crash_place(p), text_get(&why));
	text_free(&why);
}

static void add_note(struct decoder *x)
{
	size_t length;
	const char *name = wire_get_string(&x->wire, &length);
	struct guest_note *n = region_take(x->region, sizeof *n);
	n->older = x->notes;
	n->count = x->notes ? x->notes->count + 1 : 1;
	n->name = text_of_guest(x->region, name);
	n->value = value_of_wire(x->region, wire_get_value(&x->wire));
	x->notes = n;
	if (n->count <= NOTES_MOST) return;
	process_end(x->guest->process);
	x->given_up = true;
	fail(x, 0,
	     "more than 16,384 notes of one session, the most that "
	     "isoscope holds");
}

static void read_assertion(struct decoder *x, uint64_t pc)
{
	size_t length;
	bool condition = wire_get_u8(&x->wire);
	const char *message = wire_get_string(&x->wire, &length);
	uint32_t i = guest_assertion(x->guest, message, pc);
	if (!condition && !x->wire.bad)
		add_finding(x, FINDING_ASSERT, pc)->assertion = i;
}

static void assume(struct decoder *x, uint64_t pc)
{
	add_finding(x, FINDING_ASSUME, pc);
	x->pruned = true;
	x->end = x->last->open ? DECODER_ABORTS : DECODER_ENDS;
}

/* ---- Steps ---- */

static struct tree_step *new_step(struct decoder *x, enum guest_request kind,
                                  uint64_t pc)
{
	struct tree_step *s = region_take0(x->region, sizeof *s);
	s->step.kind = kind;
	s->step.pruned = x->pruned;
	s->step.point = guest_point(x->guest, pc);
	s->step.findings = x->findings;
	s->step.notes = x->notes;
	s->before = x->last;
	s->serial = ++x->guest->serial;
	s->session = x->last->session;
	s->transactions = x->last->transactions + (kind == GUEST_BEGIN);
	s->accesses = kind == GUEST_BEGIN ? 0 : x->last->accesses;
	s->accesses += kind == GUEST_GET || kind == GUEST_PUT;
	s->groups = kind != GUEST_BEGIN && (x->last->groups || x->statement);
	s->step.joined = x->last->groups && !x->statement &&
	                 (kind == GUEST_GET || kind == GUEST_PUT);
	x->statement = false;
	x->since = -1;
	s->kept = x->kept;
	s->open = kind == GUEST_BEGIN ||
	          (x->last->open && kind != GUEST_COMMIT &&
	           kind != GUEST_ABORT && kind != GUEST_END);
	x->last = s;
	assert(s->before && s->serial > s->before->serial);
	return s;
}

static struct tree_step *end_step(struct decoder *x)
{
	struct tree_step *s;
	assert(x->end == DECODER_ABORTS || x->end == DECODER_ENDS);
	if (x->end == DECODER_ABORTS) {
		x->end = DECODER_ENDS;
		return new_step(x, GUEST_ABORT, 0);
	}
	x->end = DECODER_ENDED;
	s = new_step(x, GUEST_END, 0);
	s->twice = x->given_up;
	s->step.value = value_bool(true);
	return s;
}

/* A loop that may have no end: the session is cut short, as by an assumption
 * that is false. It comes here again if it is run again. */
static struct tree_step *cut(struct decoder *x, uint64_t pc, uint64_t bound,
                             const char *what)
{
	library_meet_bound(x->guest->library, x->last->session,
	                   guest_point(x->guest, pc), bound, what);
	add_finding(x, FINDING_ASSUME, pc)->message = "cut short";
	x->pruned = true;
	x->given_up = true;
	x->end = x->last->open ? DECODER_ABORTS : DECODER_ENDS;
	return NULL;
}

/* Else `why` says what is wrong with the level of a transaction. */
static bool level_is_fine(const struct decoder *x, const char *level,
                          struct text *why)
{
	if (!*level) return true;
	text_format(why, "iso_begin_at(): ");
	const char *problem = own_level_problem(level);
	if (level_number(level) < 0)
		level_unknown(why, level);
	else if (problem)
		text_string(why, problem);
	else if (library_is_uniform(x->guest->library))
		text_string(why, "the others have a level that has no meaning "
		                 "beside another one");
	else
		return true;
	return false;
}

static struct tree_step *begin_step(struct decoder *x, uint64_t pc)
{
	size_t length;
	const char *name = wire_get_string(&x->wire, &length);
	const char *level = wire_get_string(&x->wire, &length);
	uint64_t most = library_bounds(x->guest->library).transactions;
	if (x->last->transactions >= most && !x->wire.bad)
		return cut(x, pc, most, "transactions");
	struct text why = { 0 };
	bool fine = x->wire.bad || level_is_fine(x, level, &why);
	if (!fine) fail(x, pc, text_get(&why));
	text_free(&why);
	if (!fine) return NULL;
	struct tree_step *s = new_step(x, GUEST_BEGIN, pc);
	own_level own = *level ? (own_level)(level_number(level) + 1) : 0;
	s->step.name = library_transaction_number(x->guest->library, name, own);
	return s;
}

static struct tree_step *access_step(struct decoder *x, enum guest_request kind,
                                     uint64_t pc)
{
	static const enum strength strengths[] = {
		[ISO_NO_LOCK] = STRENGTH_PLAIN,
		[ISO_KEY_SHARE] = STRENGTH_KEY_SHARE,
		[ISO_SHARE] = STRENGTH_SHARE,
		[ISO_NO_KEY_UPDATE] = STRENGTH_NO_KEY_UPDATE,
		[ISO_UPDATE] = STRENGTH_UPDATE
	};
	uint64_t most = library_bounds(x->guest->library).accesses;
	if (x->last->accesses >= most)
		return cut(x, pc, most, "reads and writes in a transaction");
	struct tree_step *s = new_step(x, kind, pc);
	s->step.key = value_of_wire(x->region, wire_get_value(&x->wire));
	if (kind == GUEST_PUT)
		s->step.value =
			value_of_wire(x->region, wire_get_value(&x->wire));
	else
		x->answers--;
	uint8_t lock = wire_get_u8(&x->wire);
	if (kind == GUEST_PUT) s->step.joined |= wire_get_u8(&x->wire) == 1;
	if (lock > ISO_UPDATE) x->wire.bad = true;
	s->step.strength =
		x->wire.bad || (kind == GUEST_PUT && lock == ISO_UPDATE)
			? STRENGTH_PLAIN
			: strengths[lock];
	return s;
}

static struct tree_step *noted_step(struct decoder *x, uint64_t pc)
{
	size_t length;
	struct value names[2];
	struct tree_step *s = new_step(x, GUEST_NOTED, pc);
	for (int i = 0; i < 2; i++) {
		const char *name = wire_get_string(&x->wire, &length);
		name = text_of_guest(x->region, name);
		names[i] = value_string(x->region, name, strlen(name));
	}
	s->step.key = value_sequence(x->region, VALUE_TUPLE, names, 2);
	x->answers--;
	return s;
}

static struct tree_step *return_step(struct decoder *x, uint64_t pc)
{
	struct iso_value v = wire_get_value(&x->wire);
	struct tree_step *s = new_step(x, GUEST_END, pc);
	s->step.value = value_bool(v.kind == ISO_INT && v.integer != 0);
	x->end = DECODER_ENDED;
	return s;
}

/* Reads one entry: a step, or something that belongs to the next one. */
static struct tree_step *read_entry(struct decoder *x)
{
	struct wire_reader *w = &x->wire;
	uint8_t kind = wire_get_u8(w);
	uint64_t pc = wire_get_u64(w);
	size_t length;
	switch (kind) {
	case STEP_BEGIN: return begin_step(x, pc);
	case STEP_GET: return access_step(x, GUEST_GET, pc);
	case STEP_PUT: return access_step(x, GUEST_PUT, pc);
	case STEP_COMMIT: return new_step(x, GUEST_COMMIT, pc);
	case STEP_ABORT: return new_step(x, GUEST_ABORT, pc);
	case STEP_NOTED: return noted_step(x, pc);
	case STEP_RETURN: return return_step(x, pc);
	case STEP_ASSERT: read_assertion(x, pc); break;
	case STEP_NOTE: add_note(x); break;
	case STEP_STATEMENT: x->statement = true; break;
	case STEP_ASSUME: assume(x, pc); break;
	case STEP_ERROR: fail(x, pc, wire_get_string(w, &length)); break;
	case STEP_MORE: x->more = true; break;
	default: w->bad = true; break;
	}
	return NULL;
}

/* User code wrote where it should not have: the worker cannot be used on. */
static void reject(struct decoder *x)
{
	process_condemn(x->guest->process);
	x->wire.at = x->wire.end;
	assert(x->wire.at == x->wire.end);
	fail(x, 0,
	     "wrote over memory that is not its own, and spoilt what it "
	     "shares with isoscope");
}

/* A loop that notes and asserts only makes progress, so that the process sees
 * no end of time: but it comes to no access. */
static bool is_over(struct decoder *x)
{
	double most = library_step_timeout(x->guest->library);
	assert(x->end == DECODER_GOES_ON);
	if (!x->more) return false;
	double cpu = process_cpu(x->guest->process);
	if (x->since < 0) x->since = cpu;
	return most > 0 && cpu - x->since > most;
}

static void never_asks(struct decoder *x)
{
	struct text why = { 0 };
	process_end(x->guest->process);
	x->given_up = true;
	text_format(&why,
	            "no access for %g s, only assertions: an endless "
	            "loop?",
	            library_step_timeout(x->guest->library));
	fail(x, 0, text_get(&why));
	text_free(&why);
}

struct tree_step *decoder_step(struct decoder *x)
{
	for (;;) {
		if (x->end == DECODER_ENDED || x->answers < 0) return NULL;
		if (x->end != DECODER_GOES_ON) return end_step(x);
		if (!wire_more(&x->wire)) {
			if (!x->died && !is_over(x)) return NULL;
			if (x->died)
				died(x);
			else
				never_asks(x);
			continue;
		}
		struct decoder before = *x;
		struct tree_step *s = read_entry(x);
		if (x->wire.bad) {
			*x = before;
			reject(x);
		} else if (s) {
			return s;
		}
	}
}
