#include "result/names.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "history/history.h"
#include "result/numbers.h"
#include "result/result.h"
#include "vm/machine.h"

static const struct history_session *session_of(const struct history *h,
                                                uint32_t i)
{
	assert(i < h->transaction_count && i != HISTORY_INIT);
	return &h->sessions[h->transactions[i].session];
}

void name_plain(struct text *t, const char *name)
{
	size_t left = strlen(name), n;
	for (; left; name += n, left -= n) {
		n = utf8_length(name, left);
		bool control = (unsigned char)*name < ' ' || *name == 127;
		if (!n || control)
			text_char(t, '?');
		else
			text_bytes(t, name, n);
		if (!n) n = 1;
	}
}

void name_transaction_short(struct text *t, const struct history *h, uint32_t i)
{
	if (i == HISTORY_INIT) {
		text_string(t, "init");
		return;
	}
	const struct history_session *s = session_of(h, i);
	name_plain(t, s->name);
	if (!s->after_all)
		text_format(t, ".%" PRIu32, h->transactions[i].index + 1);
}

void name_transaction(struct text *t, const struct history *h, uint32_t i)
{
	name_transaction_short(t, h, i);
	if (i == HISTORY_INIT || session_of(h, i)->after_all) return;
	const char *name = h->transactions[i].name;
	if (name && *name && strcmp(name, "txn")) {
		text_char(t, ' ');
		name_plain(t, name);
	}
}

const char *transaction_level(const struct history *h, uint32_t i)
{
	own_level own = h->transactions[i].own;
	return i == HISTORY_INIT ? NULL : own_level_word(own ? own : h->others);
}

void name_transaction_at(struct text *t, const struct history *h, uint32_t i)
{
	const char *level = transaction_level(h, i);
	name_transaction(t, h, i);
	if (level) text_format(t, " at %s", level);
}

const char *name_moment(struct schedule_moment m, enum level l, bool ssi,
                        bool aborted)
{
	if (m.statement != SCHEDULE_ENDS) return "starts";
	if (aborted) return "aborts";
	return level_is_serial(l) && !ssi ? "runs" : "commits";
}

void name_or_number(struct text *t, const char *word, const char *name)
{
	const char *digits = name + (*name == '-');
	if (*digits && !digits[strspn(digits, "0123456789")])
		text_format(t, "%s ", word);
	name_plain(t, name);
}

void name_key(struct text *t, const struct history *h, uint32_t key)
{
	assert(key < h->key_count);
	name_or_number(t, "key", h->keys[key].name);
}

void name_event(struct text *t, const struct history *h, const struct event *e)
{
	assert(e->key < h->key_count);
	if (event_gives_up(e)) {
		text_string(t, "give up the lock of ");
		name_key(t, h, e->key);
		return;
	}
	text_string(t, e->kind == EVENT_READ ? "read " : "write ");
	if (e->kind == EVENT_READ && e->strength != STRENGTH_PLAIN)
		text_format(t, "%s ", strength_word(e->strength));
	name_key(t, h, e->key);
	if (h->valueless) return;
	text_string(t, " = ");
	value_print(t, e->value);
}

void name_session(struct text *t, const struct history *h, uint32_t session)
{
	assert(session < h->session_count);
	name_or_number(t, "session", h->sessions[session].name);
}

void name_position(struct text *t, struct position at)
{
	if (!at.file) return;
	text_string(t, at.file);
	if (at.line) text_format(t, ":%" PRIu32, at.line);
	if (at.line && at.column) text_format(t, ":%" PRIu32, at.column);
}

/* Native code tells a message, if that, and not what it checks. */
static void name_condition(struct text *t, const struct program *p,
                           const char *text)
{
	/* The condition itself, perhaps, which has quotes of its own. */
	const char *quote = !program_is_native(p) ? ""
	                    : strchr(text, '"')   ? "'"
	                                          : "\"";
	text_string(t, quote);
	name_plain(t, text);
	text_string(t, quote);
	if (!*text) text_string(t, " (no message)");
}

void name_program_slot(struct text *t, const struct program *p, uint32_t slot)
{
	uint32_t assertions = program_assertion_count(p);
	assert(slot <= assertions + 1);
	if (slot == assertions) {
		text_string(t, "run-time error");
	} else if (slot > assertions) {
		text_string(t, "robust: every history is serializable");
	} else if (program_assertion(p, slot)->kind == ASSERTION_SERIALIZABLE) {
		text_string(t, "assert serializable");
	} else {
		text_string(t, "assert ");
		name_condition(t, p, program_assertion(p, slot)->text);
	}
}

struct position name_program_slot_position(const struct program *p,
                                           uint32_t slot,
                                           const struct finding *f)
{
	uint32_t assertions = program_assertion_count(p);
	if (slot < assertions) return program_assertion(p, slot)->at;
	if (slot == assertions && f) return program_position(p, f->point);
	return (struct position){ 0 };
}

const char *name_slot_kind(const struct program *p, uint32_t slot)
{
	uint32_t assertions = program_assertion_count(p);
	assert(slot <= assertions + 1);
	if (slot >= assertions) return slot == assertions ? "error" : "robust";
	switch (program_assertion(p, slot)->kind) {
	case ASSERTION_INLINE: return "inline";
	case ASSERTION_FINAL: return "final";
	case ASSERTION_SERIALIZABLE: break;
	}
	return "serializable";
}

void name_finding_value(struct text *t, const struct finding_value *v)
{
	name_plain(t, v->name);
	text_string(t, " = ");
	value_print(t, v->value);
}

void name_level(struct text *t, enum level l)
{
	assert(l < LEVEL_COUNT);
	text_format(t, "%s (%s)", level_name(l), level_word(l));
}

void name_level_as(struct text *t, enum level l, const char *as)
{
	name_level(t, l);
	if (as) text_format(t, ", as %s", as);
}

void name_ssi(struct text *t, bool ssi)
{
	if (ssi) text_string(t, ", ser as in PostgreSQL");
}

void name_program_level(struct text *t, const struct program *p, enum level l,
                        const char *as)
{
	if (program_owns_all(p)) {
		text_string(t, "the levels of its transactions");
	} else {
		name_level_as(t, l, as);
		if (program_mixes(p))
			text_string(t, ", beside transactions with levels of "
			               "their own");
	}
	bool serial = level_is_serial(l) && !program_owns_all(p);
	serial |= program_owns(p, (own_level)(LEVEL_SERIAL + 1));
	name_ssi(t, program_is_ssi(p) && program_mixes(p) && serial);
}

void result_level(struct result *r, enum level l, const char *as)
{
	result_text(r, &r->settings, "level", level_word(l));
	if (as) result_text(r, &r->settings, "deployment", as);
	if (r->program && program_is_ssi(r->program))
		result_text(r, &r->settings, "serializable", "postgres");
}

void name_failing(struct text *t, uint32_t count, uint32_t of)
{
	assert(count && count <= of);
	text_format(t, "%" PRIu32 " of %" PRIu32 " assertion%s %s", count, of,
	            of == 1 ? "" : "s", count == 1 ? "fails" : "fail");
}

void name_errors(struct text *t, uint32_t places)
{
	assert(places);
	if (places == 1)
		text_string(t, "a run-time error happens");
	else
		text_format(t, "run-time errors happen at %" PRIu32 " places",
		            places);
}

void name_nothing_fails(struct text *t, uint32_t checked)
{
	if (!checked)
		text_string(t, "nothing is asserted, and no run-time error "
		               "happens, in ");
	else if (checked == 1)
		text_string(t, "the assertion is true in ");
	else if (checked == 2)
		text_string(t, "both assertions are true in ");
	else
		text_format(t, "all %" PRIu32 " assertions are true in ",
		            checked);
}

void name_stop(struct text *t, const struct program *p, enum stop_reason why)
{
	struct position at;
	const char *bound =
		why == STOP_BOUND ? program_bound_met(p, &at) : NULL;
	if (!bound) {
		text_string(t, stop_text(why));
		return;
	}
	text_format(t, "%s, at ", bound);
	name_position(t, at);
	text_string(t, ", and is cut short there");
}

void name_changed_reads(struct text *t, uint64_t n)
{
	if (n)
		number_plural(t, n, "changed read", "changed reads");
	else
		text_string(t, "no changed read");
}

void name_bound(struct text *t, uint64_t stale_reads)
{
	if (!stale_reads) {
		text_string(t, "without stale reads");
		return;
	}
	text_string(t, "with at most ");
	number_plural(t, stale_reads, "stale read", "stale reads");
}
