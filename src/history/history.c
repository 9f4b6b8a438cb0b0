#include "history/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void history_free(struct history *h)
{
	if (!h) return;
	struct region owned = h->region;
	region_free(&owned);
	free(h);
}

static void print_name(struct text *t, const char *name)
{
	text_json_string(t, name, strlen(name));
}

static void print_source(struct text *t, const struct history *h, uint32_t from)
{
	if (from == HISTORY_SELF) {
		text_string(t, "\"self\"");
	} else if (from == HISTORY_INIT) {
		text_string(t, "\"init\"");
	} else {
		assert(from < h->transaction_count);
		const struct transaction *w = &h->transactions[from];
		text_char(t, '[');
		text_int(t, w->session);
		text_char(t, ',');
		text_int(t, w->index);
		text_char(t, ']');
	}
}

static void print_event(struct text *t, const struct history *h,
                        const struct event *e)
{
	assert(e->key < h->key_count);
	text_string(t, e->kind == EVENT_READ ? "[\"r\"," : "[\"w\",");
	print_name(t, h->keys[e->key].name);
	text_char(t, ',');
	value_print_json(t, e->value);
	if (e->kind == EVENT_READ) {
		text_char(t, ',');
		print_source(t, h, e->from);
	}
	event_print_strength(t, e->kind, e->strength);
	text_char(t, ']');
}

void event_print_strength(struct text *t, enum event_kind kind,
                          enum strength strength)
{
	bool usual = strength == STRENGTH_PLAIN ||
	             (kind == EVENT_WRITE && strength == STRENGTH_UPDATE);
	if (!usual) text_format(t, ",\"%s\"", strength_letter(strength));
}

void statement_print(struct text *t, uint32_t number)
{
	text_format(t, "[\"stmt\",%u]", number);
}

/* Has some statement several events? */
static bool has_statements(const struct transaction *t)
{
	for (uint32_t i = 1; i < t->event_count; i++)
		if (t->events[i].joined) return true;
	return false;
}

static void print_transaction(struct text *t, const struct history *h,
                              const struct transaction *transaction)
{
	text_string(t, "{\"name\":");
	print_name(t, transaction->name);
	text_string(t, ",\"status\":");
	text_string(t, transaction->aborted ? "\"aborted\"" : "\"committed\"");
	if (transaction->own)
		text_format(t, ",\"at\":\"%s\"",
		            own_level_word(transaction->own));
	text_string(t, ",\"events\":[");
	bool statements = has_statements(transaction);
	for (uint32_t i = 0, number = 0; i < transaction->event_count; i++) {
		if (i) text_char(t, ',');
		if (statements && (!i || !transaction->events[i].joined)) {
			statement_print(t, ++number);
			text_char(t, ',');
		}
		print_event(t, h, &transaction->events[i]);
	}
	text_string(t, "]}");
}

static void print_session(struct text *t, const struct history *h,
                          const struct history_session *s)
{
	text_string(t, "{\"name\":");
	print_name(t, s->name);
	if (s->after_all) text_string(t, ",\"after\":\"all\"");
	text_string(t, ",\"transactions\":[");
	for (uint32_t i = 0; i < s->count; i++) {
		if (i) text_char(t, ',');
		print_transaction(t, h, &h->transactions[s->first + i]);
	}
	text_string(t, "]}");
}

bool history_has_owns(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (h->transactions[t].own) return true;
	return false;
}

void history_print_members(struct text *t, const struct history *h)
{
	text_string(t, "\"init\":{");
	for (uint32_t k = 0; k < h->key_count; k++) {
		if (k) text_char(t, ',');
		print_name(t, h->keys[k].name);
		text_char(t, ':');
		value_print_json(t, h->keys[k].initial);
	}
	text_string(t, "},\"sessions\":[");
	for (uint32_t s = 0; s < h->session_count; s++) {
		if (s) text_char(t, ',');
		print_session(t, h, &h->sessions[s]);
	}
	text_char(t, ']');
}

void history_print_canonical(struct text *t, const struct history *h)
{
	text_string(t, "{\"history\":1,");
	history_print_members(t, h);
	text_char(t, '}');
}
