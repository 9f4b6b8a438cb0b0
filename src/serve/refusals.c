/* What a client is refused, and by which SQLSTATE. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "postgres/wire.h"
#include "serve/serving.h"

enum { SQLSTATE = 5 }; /* letters */

/* A transaction of this name that has not begun; 0: the one that has. */
static void refuse(struct client *c, uint32_t transaction, const char *why)
{
	assert(strlen(why) > SQLSTATE);
	struct wire_head h = { .kind = WIRE_REFUSED,
		               .owner = transaction,
		               .length = (uint32_t)strlen(why) };
	text_bytes(&c->out, (const char *)&h, sizeof h);
	text_string(&c->out, why);
}

void serving_refuse_read(struct service *s, struct client *c,
                         const struct server_key *k)
{
	struct text t = { 0 };
	text_string(&t, "40001could not serialize access: ");
	serving_name_key(&t, k);
	text_string(&t, " was changed by a transaction that this one does not "
	                "see");
	refuse(c, 0, text_get(&t));
	s->run->counts.refused++;
	text_free(&t);
}

void serving_refuse_turn(struct client *c, const char *why)
{
	assert(c->waits && !c->open);
	c->waits = false;
	refuse(c, c->asking, why);
}

void serving_refuse_rest(struct client *c)
{
	refuse(c, 0, "40P01the transaction was refused its turn");
}

bool serving_injects(struct service *s, struct client *c, const char *words)
{
	struct injected_fault *f = &s->run->fault;
	if (!serving_happens(&s->luck, s->options->faults)) return false;
	refuse(c, 0, words);
	s->run->counts.faults++;
	text_clear(&f->transaction);
	text_clear(&f->statement);
	text_format(&f->transaction, "%s.%u", c->name, c->transactions);
	text_bytes(&f->statement, text_get(&c->statement), c->statement.length);
	snprintf(f->state, sizeof f->state, "%s", words);
	return true;
}
