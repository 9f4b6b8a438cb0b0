#include "result/witness_words.h"

#include <assert.h>

#include "axioms/witness.h"
#include "result/names.h"

/* The transaction that `reader` read `key` from first, or HISTORY_SELF. */
static uint32_t source_of(const struct history *h, uint32_t reader,
                          uint32_t key)
{
	const struct transaction *t = &h->transactions[reader];
	for (uint32_t i = 0; i < t->event_count; i++)
		if (t->events[i].kind == EVENT_READ && t->events[i].key == key)
			return t->events[i].from;
	return HISTORY_SELF;
}

static void say(struct text *t, const struct history *h, uint32_t who,
                const char *does)
{
	name_transaction(t, h, who);
	text_string(t, does);
}

/* Of one whose level is the reason. */
static void say_at(struct text *t, const struct history *h, uint32_t who,
                   const char *does)
{
	name_transaction_at(t, h, who);
	text_string(t, does);
}

static void explain_so(struct text *t, const struct history *h,
                       const struct witness_edge *e)
{
	if (e->from == HISTORY_INIT) {
		say(t, h, HISTORY_INIT, " precedes every transaction");
		return;
	}
	say(t, h, e->from, " runs before ");
	const struct transaction *to = &h->transactions[e->to];
	if (h->sessions[to->session].after_all)
		say(t, h, e->to, ", which follows all sessions");
	else
		say(t, h, e->to, " in the same session");
}

static void explain_rw(struct text *t, const struct history *h,
                       const struct witness_edge *e)
{
	uint32_t source = e->reader != e->from ? e->reader
	                                       : source_of(h, e->from, e->key);
	say_at(t, h, e->from, " reads ");
	name_key(t, h, e->key);
	if (source == HISTORY_INIT) {
		text_string(t, " as it was initially");
	} else if (source != HISTORY_SELF) {
		text_string(t, " as ");
		say(t, h, source, " left it");
	}
	text_string(t, ", before ");
	say(t, h, e->to, " writes it");
}

static void explain_forced(struct text *t, const struct history *h,
                           const struct witness_edge *e)
{
	say_at(t, h, e->reader, " knows of ");
	say(t, h, e->from, ", which wrote ");
	name_key(t, h, e->key);
	text_string(t, ", and yet reads ");
	name_key(t, h, e->key);
	text_string(t, " from ");
	say(t, h, e->to, ": so ");
	say(t, h, e->from, " comes before ");
	name_transaction(t, h, e->to);
}

static bool is_known(const struct history *h, const struct witness_edge *e)
{
	for (uint32_t i = 0; i < h->known_count; i++) {
		const struct history_known *k = &h->known[i];
		if (k->from == e->from && k->to == e->to && k->key == e->key)
			return true;
	}
	return false;
}

static void explain_ww(struct text *t, const struct history *h,
                       const struct witness_edge *e)
{
	say(t, h, e->from, " writes ");
	name_key(t, h, e->key);
	text_string(t, " before ");
	say(t, h, e->to, " does, ");
	if (e->reader != e->from) {
		text_string(t, "as ");
		say_at(t, h, e->reader, ", which comes after ");
		say(t, h, e->from, ", reads from ");
		name_transaction(t, h, e->to);
	} else if (is_known(h, e)) {
		text_string(t, "as the lists that were read tell");
	} else {
		text_string(t, "since the other order fails likewise");
	}
}

const char *edge_level(const struct history *h, const struct witness_edge *e)
{
	switch (e->reason) {
	case REASON_FORCED: return transaction_level(h, e->reader);
	case REASON_RW: return transaction_level(h, e->from);
	case REASON_WW:
		return e->reader == e->from ? NULL
		                            : transaction_level(h, e->reader);
	default: return NULL;
	}
}

void explain_edge(struct text *t, const struct history *h,
                  const struct witness_edge *e)
{
	assert(e->from < h->transaction_count && e->to < h->transaction_count);
	assert(e->from < h->transaction_count);
	assert(e->to < h->transaction_count);
	switch (e->reason) {
	case REASON_SO: explain_so(t, h, e); break;
	case REASON_WR:
		say(t, h, e->to, " reads ");
		name_key(t, h, e->key);
		text_string(t, " from ");
		name_transaction(t, h, e->from);
		break;
	case REASON_FORCED: explain_forced(t, h, e); break;
	case REASON_WW: explain_ww(t, h, e); break;
	case REASON_RW: explain_rw(t, h, e); break;
	case REASON_LOCK:
		say(t, h, e->from, " locks ");
		name_key(t, h, e->key);
		text_string(t, " to its end, before ");
		say(t, h, e->to, " can");
		break;
	case REASON_SSI:
		say(t, h, e->reader,
		    " misses what a serializable transaction "
		    "writes, and one misses what ");
		say(t, h, e->reader,
		    " writes: so the former must not commit "
		    "first");
		break;
	case REASON_COUNT: break;
	}
}

void explain_edge_label(struct text *t, const struct history *h,
                        const struct witness_edge *e)
{
	assert(e->reason < REASON_COUNT);
	text_string(t, reason_word(e->reason));
	if (e->reason == REASON_SO || e->reason == REASON_SSI) return;
	text_char(t, ' ');
	name_key(t, h, e->key);
}
