#include "result/checked.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "result/names.h"

/* ---- verdicts ---- */

enum level check_only(const struct check_case *c)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (c->wanted == 1u << l) return l;
	return LEVEL_COUNT;
}

bool check_has(const struct check_case *c, enum level l, enum verdict verdict)
{
	assert(l < LEVEL_COUNT);
	return c->wanted >> l & 1 && c->results[l].verdict == verdict;
}

static bool any_has(const struct check_case *c, enum verdict verdict)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (check_has(c, l, verdict)) return true;
	return false;
}

enum verdict check_overall(const struct check_case *c)
{
	if (any_has(c, VERDICT_VIOLATED)) return VERDICT_VIOLATED;
	return any_has(c, VERDICT_UNDECIDED) ? VERDICT_UNDECIDED
	                                     : VERDICT_HOLDS;
}

bool check_undecided(const struct check_case *c)
{
	return any_has(c, VERDICT_UNDECIDED);
}

/* A level of statements is told where nothing else says more than the base that
 * it is stronger than. */
static bool is_outshone(enum level l, enum level holds)
{
	return level_implies(holds, l) ||
	       (level_has_statements(l) && !level_implies(l, holds));
}

unsigned check_strongest(const struct check_case *c,
                         enum level out[LEVEL_COUNT])
{
	unsigned count = 0;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		bool implied = false;
		if (!check_has(c, l, VERDICT_HOLDS)) continue;
		for (enum level s = 0; s < LEVEL_COUNT; s++)
			implied |= s != l && check_has(c, s, VERDICT_HOLDS) &&
			           is_outshone(l, s);
		if (!implied) out[count++] = l;
	}
	return count;
}

/* ---- anomalies ---- */

const char *check_anomaly_name(const struct check_case *c, enum level l)
{
	enum trace_anomaly_kind k = check_forbidding(c->trace, l);
	if (k < ANOMALY_COUNT) return trace_anomaly_name(k);
	enum level by = c->witnesses ? c->shown_by[l] : LEVEL_COUNT;
	return by < LEVEL_COUNT ? c->witnesses[by].anomaly : NULL;
}

/* " (h.txt:3)"; nothing if that is where the operation `told` stands, whose
 * place was told. */
static void name_place_of_op(struct text *t, const struct trace *r, uint32_t op,
                             uint32_t told)
{
	if (!r->ops[op].line) return;
	if (told != TRACE_NONE && r->ops[told].line == r->ops[op].line) return;
	text_string(t, " (");
	name_trace_place(t, r, r->ops[op].line);
	text_char(t, ')');
}

/* The read is of a list whose last element is fine: an earlier one is not. */
static bool within_list(const struct trace *r, const struct trace_anomaly *a)
{
	const struct trace_op *o = &r->ops[a->op];
	return o->flags & TRACE_LIST && o->from != TRACE_NOBODY;
}

/* ", a value that 1.3 t4 wrote (h.txt:9) and then ..."; of a list "and has an
 * element, 5, that ..." */
static void name_writer(struct text *t, const struct trace *r,
                        const struct trace_anomaly *a, const char *then)
{
	if (within_list(r, a) && a->other != TRACE_NONE) {
		const struct trace_op *element = &r->ops[a->other];
		text_string(t, " and has an element, ");
		trace_print_value(t, r, element->value, element->flags);
		text_string(t, ", that ");
	} else {
		text_string(t, ", a value that ");
	}
	if (a->writer < r->transaction_count)
		name_trace_transaction(t, r, a->writer);
	else
		text_string(t, "another transaction");
	text_string(t, " wrote");
	if (a->other != TRACE_NONE) name_place_of_op(t, r, a->other, a->op);
	text_string(t, then);
}

/* ", although it writes x = 4 before (h.txt:3)" */
static void name_contradiction(struct text *t, const struct trace *r,
                               const struct trace_anomaly *a)
{
	bool lists = a->kind == ANOMALY_LISTS;
	if (a->other == TRACE_NONE) return;
	text_string(t, ", although ");
	if (lists && a->writer < r->transaction_count)
		name_trace_transaction(t, r, a->writer);
	else
		text_string(t, "it");
	text_char(t, ' ');
	name_trace_operation(t, r, a->other);
	if (!lists) text_string(t, " before");
	name_place_of_op(t, r, a->other, a->op);
	if (lists) text_string(t, ": neither is a prefix of the other");
}

/* What a read is told to be wrong with. */
static void name_fault(struct text *t, const struct trace *r,
                       const struct trace_anomaly *a)
{
	switch (a->kind) {
	case ANOMALY_THIN_AIR:
		text_string(t, within_list(r, a)
		                       ? " and has an element that nobody wrote"
		                       : ", a value that nobody wrote");
		break;
	case ANOMALY_ABORTED: name_writer(t, r, a, " and then aborted"); break;
	case ANOMALY_INTERMEDIATE:
		name_writer(t, r, a, " and then overwrote");
		break;
	case ANOMALY_FUTURE:
		text_string(t, ", a value that it writes only later");
		if (a->other != TRACE_NONE)
			name_place_of_op(t, r, a->other, a->op);
		break;
	case ANOMALY_INTERNAL:
	case ANOMALY_LISTS: name_contradiction(t, r, a); break;
	case ANOMALY_REPEATED:
		text_string(t, " and has an element twice");
		break;
	case ANOMALY_COUNT: break;
	}
}

void name_trace_anomaly(struct text *t, const struct trace *r,
                        const struct trace_anomaly *a)
{
	name_trace_transaction(t, r, a->transaction);
	text_char(t, ' ');
	name_trace_operation(t, r, a->op);
	name_place_of_op(t, r, a->op, TRACE_NONE);
	name_fault(t, r, a);
}

/* ---- names ---- */

const char *checked_level_word(enum check_owns owns, enum level l)
{
	return owns == OWNS_ALL ? "own" : level_word(l);
}

void name_checked_level(struct text *t, enum check_owns owns, enum level l,
                        const char *as, bool several)
{
	const char *their = several ? "their" : "its";
	assert(l < LEVEL_COUNT);
	if (owns == OWNS_ALL)
		text_format(t, "the levels of %s transactions", their);
	if (owns == OWNS_SOME) text_format(t, "%s levels, with ", their);
	if (owns != OWNS_ALL) name_level_as(t, l, as);
	if (owns == OWNS_SOME)
		text_string(t, several ? " for those that have none"
		                       : " for the others");
}

void name_levels(struct text *t, const enum level *levels, unsigned count)
{
	assert(count <= LEVEL_COUNT);
	for (unsigned i = 0; i < count; i++) {
		if (i) text_string(t, i + 1 < count ? ", " : " and ");
		text_string(t, level_word(levels[i]));
	}
}

void name_level_or_levels(struct text *t, const enum level *levels,
                          unsigned count)
{
	if (count == 1)
		name_level(t, levels[0]);
	else
		name_levels(t, levels, count);
}

void name_trace_transaction(struct text *t, const struct trace *r, uint32_t i)
{
	assert(i < r->transaction_count);
	const struct trace_transaction *x = &r->transactions[i];
	if (i == TRACE_INIT) {
		text_string(t, "init");
		return;
	}
	const struct trace_session *s = &r->sessions[x->session];
	name_plain(t, s->name);
	if (s->after_all) return;
	text_format(t, ".%" PRIu32, i - s->first + 1);
	if (x->name && *x->name && strcmp(x->name, "txn")) {
		text_char(t, ' ');
		name_plain(t, x->name);
	} else if (!x->name && x->has_number) {
		text_format(t, " t%" PRId64, x->number);
	}
}

void name_trace_key(struct text *t, const struct trace *r, uint32_t key)
{
	assert(key < r->key_count);
	struct text name = { 0 };
	trace_print_key(&name, r, key);
	name_or_number(t, "key", text_get(&name));
	text_free(&name);
}

void name_trace_operation(struct text *t, const struct trace *r, uint32_t op)
{
	assert(op < r->op_count);
	const struct trace_op *o = &r->ops[op];
	bool read = o->kind == EVENT_READ, list = o->flags & TRACE_LIST;
	if (list && !read) {
		text_string(t, "appends ");
		trace_print_value(t, r, o->value, o->flags);
		text_string(t, " to ");
		name_trace_key(t, r, o->key);
		return;
	}
	if (o->strength == STRENGTH_GIVEN_UP) {
		text_string(t, "gives up the lock of ");
		name_trace_key(t, r, o->key);
		return;
	}
	text_string(t, read ? "reads " : "writes ");
	if (read && o->strength)
		text_format(t, "%s ",
		            strength_word((enum strength)o->strength));
	name_trace_key(t, r, o->key);
	if (r->valueless || o->flags & TRACE_MISSING) return;
	if (!list)
		text_string(t, " = ");
	else if (o->flags & TRACE_NULL)
		text_string(t, " as an empty list");
	else
		text_string(t, " as a list that ends with ");
	if (!list || !(o->flags & TRACE_NULL))
		trace_print_value(t, r, o->value, o->flags);
}

void name_trace_place(struct text *t, const struct trace *r, uint32_t line)
{
	text_string(t, r->file);
	if (line) text_format(t, ":%" PRIu32, line);
}

/* ---- the verdict in words ---- */

static void undecided_levels(struct text *t, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	const char *reason = NULL;
	unsigned count = 0;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!check_has(c, l, VERDICT_UNDECIDED)) continue;
		levels[count++] = l;
		if (!reason) reason = c->results[l].reason;
	}
	name_level_or_levels(t, levels, count);
	text_string(t, " could not be decided");
	if (reason) text_format(t, ": %s", reason);
}

/* `known`: while others are undecided. */
static void strongest_levels(struct text *t, const struct check_case *c,
                             bool known)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(c, levels);
	if (!count) {
		text_string(t, known ? "no level is known to hold"
		                     : "no level allows this history");
		if (c->owns) text_string(t, ", whatever the others have");
		return;
	}
	text_format(t, "the strongest level%s ", count == 1 ? "" : "s");
	if (c->owns) text_string(t, "of the others ");
	text_string(t, known ? "known to hold " : "that hold");
	if (!known) text_string(t, count == 1 ? "s " : " ");
	text_string(t, count == 1 ? "is " : "are ");
	name_level_or_levels(t, levels, count);
}

static void reason_of_one(struct text *t, const struct check_case *c,
                          enum level l)
{
	if (check_has(c, l, VERDICT_UNDECIDED)) {
		undecided_levels(t, c);
		return;
	}
	text_format(t, "the history %s ",
	            check_has(c, l, VERDICT_HOLDS) ? "satisfies" : "violates");
	name_checked_level(t, c->owns, l, c->as, false);
}

void name_check_reason(struct text *t, const struct check_case *c)
{
	enum level only = check_only(c);
	bool open = check_undecided(c);
	if (only < LEVEL_COUNT) {
		reason_of_one(t, c, only);
		return;
	}
	switch (check_overall(c)) {
	case VERDICT_HOLDS:
		text_string(t, "the history satisfies ");
		name_checked_level(t, c->owns, LEVEL_SERIAL, c->as, false);
		text_string(t, ", and so every level");
		return;
	case VERDICT_VIOLATED:
		text_string(t, "not serializable; ");
		strongest_levels(t, c, open);
		if (!open) return;
		text_string(t, "; ");
		undecided_levels(t, c);
		return;
	default:
		undecided_levels(t, c);
		text_string(t, "; ");
		strongest_levels(t, c, true);
		return;
	}
}
