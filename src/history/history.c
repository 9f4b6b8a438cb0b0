#include "history/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

void history_free(struct history *h)
{
	if (!h) return;
	struct region owned = h->region;
	region_free(&owned);
	free(h);
}

static void print_source(struct json *j, const struct history *h, uint32_t from)
{
	if (from == HISTORY_SELF || from == HISTORY_INIT) {
		json_text(j, NULL, from == HISTORY_SELF ? "self" : "init");
		return;
	}
	assert(from < h->transaction_count);
	json_open(j, NULL, '[');
	json_int(j, NULL, h->transactions[from].session);
	json_int(j, NULL, h->transactions[from].index);
	json_close(j);
}

static void print_event(struct json *j, const struct history *h,
                        const struct event *e)
{
	assert(e->key < h->key_count);
	if (event_gives_up(e)) {
		given_up_print(j, h->keys[e->key].name);
		return;
	}
	json_open(j, NULL, '[');
	json_text(j, NULL, e->kind == EVENT_READ ? "r" : "w");
	json_text(j, NULL, h->keys[e->key].name);
	value_print_json(json_value(j, NULL), e->value);
	if (e->kind == EVENT_READ) print_source(j, h, e->from);
	event_print_strength(j, e->kind, e->strength);
	json_close(j);
}

void event_print_strength(struct json *j, enum event_kind kind,
                          enum strength strength)
{
	bool usual = strength == STRENGTH_PLAIN ||
	             (kind == EVENT_WRITE && strength == STRENGTH_UPDATE);
	if (!usual) json_text(j, NULL, strength_letter(strength));
}

void given_up_print(struct json *j, const char *key)
{
	json_open(j, NULL, '[');
	json_text(j, NULL, "u");
	json_text(j, NULL, key);
	json_close(j);
}

void statement_print(struct json *j, uint32_t number)
{
	json_open(j, NULL, '[');
	json_text(j, NULL, "stmt");
	json_count(j, NULL, number);
	json_close(j);
}

/* Has some statement several events? */
static bool has_statements(const struct transaction *t)
{
	for (uint32_t i = 1; i < t->event_count; i++)
		if (t->events[i].joined) return true;
	return false;
}

static void print_transaction(struct json *j, const struct history *h,
                              const struct transaction *transaction)
{
	json_open(j, NULL, '{');
	json_text(j, "name", transaction->name);
	json_text(j, "status", transaction->aborted ? "aborted" : "committed");
	if (transaction->own)
		json_text(j, "at", own_level_word(transaction->own));
	json_open(j, "events", '[');
	bool statements = has_statements(transaction);
	for (uint32_t i = 0, number = 0; i < transaction->event_count; i++) {
		if (statements && (!i || !transaction->events[i].joined))
			statement_print(j, ++number);
		print_event(j, h, &transaction->events[i]);
	}
	json_close(j);
	json_close(j);
}

static void print_session(struct json *j, const struct history *h,
                          const struct history_session *s)
{
	json_open(j, NULL, '{');
	json_text(j, "name", s->name);
	if (s->after_all) json_text(j, "after", "all");
	json_open(j, "transactions", '[');
	for (uint32_t i = 0; i < s->count; i++)
		print_transaction(j, h, &h->transactions[s->first + i]);
	json_close(j);
	json_close(j);
}

bool history_has_owns(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (h->transactions[t].own) return true;
	return false;
}

void history_print_members(struct json *j, const struct history *h)
{
	json_open(j, "init", '{');
	for (uint32_t k = 0; k < h->key_count; k++)
		value_print_json(json_value(j, h->keys[k].name),
		                 h->keys[k].initial);
	json_close(j);
	json_open(j, "sessions", '[');
	for (uint32_t s = 0; s < h->session_count; s++)
		print_session(j, h, &h->sessions[s]);
	json_close(j);
}

void history_print_canonical(struct text *t, const struct history *h)
{
	struct json j = json_to(t);
	json_open(&j, NULL, '{');
	json_int(&j, "history", 1);
	history_print_members(&j, h);
	json_close(&j);
}
