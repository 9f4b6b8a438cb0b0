#include "history/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

void trace_free(struct trace *t)
{
	if (!t) return;
	struct region owned = t->region;
	free(t->sessions);
	free(t->transactions);
	free(t->keys);
	free(t->ops);
	free(t->texts);
	free(t->known);
	free(t->anomalies);
	region_free(&owned);
	free(t);
}

struct anomaly_row {
	const char *word, *name;
	bool always;
};

static const struct anomaly_row *anomaly_row(enum trace_anomaly_kind k)
{
	static const struct anomaly_row rows[] = {
#define X(id, word, name, always) { word, name, always },
		TRACE_ANOMALY_TABLE(X)
#undef X
	};
	assert((unsigned)k < ANOMALY_COUNT);
	return &rows[k];
}

bool trace_has_owns(const struct trace *t)
{
	uint32_t i = 1;
	while (i < t->transaction_count && !t->transactions[i].own) i++;
	return i < t->transaction_count;
}

const char *trace_anomaly_word(enum trace_anomaly_kind k)
{
	return anomaly_row(k)->word;
}

const char *trace_anomaly_name(enum trace_anomaly_kind k)
{
	return anomaly_row(k)->name;
}

bool trace_anomaly_forbidden_always(enum trace_anomaly_kind k)
{
	return anomaly_row(k)->always;
}

void trace_print_key(struct text *t, const struct trace *r, uint32_t key)
{
	assert(key < r->key_count);
	if (r->keys[key].name)
		text_string(t, r->keys[key].name);
	else
		text_int(t, r->keys[key].number);
}

void trace_print_value(struct text *t, const struct trace *r, int64_t value,
                       uint8_t flags)
{
	if (flags & TRACE_NULL)
		text_string(t, "null");
	else if (flags & TRACE_TEXT)
		text_string(t, r->texts[value]);
	else
		text_int(t, value);
}

void trace_print_transaction(struct text *t, const struct trace *r,
                             uint32_t transaction)
{
	assert(transaction < r->transaction_count);
	if (transaction == TRACE_INIT) {
		text_string(t, "init");
		return;
	}
	const struct trace_transaction *w = &r->transactions[transaction];
	const struct trace_session *s = &r->sessions[w->session];
	text_format(t, "%s.%" PRIu32, s->name, transaction - s->first + 1);
	if (w->name)
		text_format(t, " %s", w->name);
	else if (w->has_number)
		text_format(t, " t%" PRId64, w->number);
}
