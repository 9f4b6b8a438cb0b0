#include "dpor/state.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

void state_init(struct state *s, struct context *c, enum level level)
{
	assert(c && level < LEVEL_COUNT);
	*s = (struct state){ .good_prefix = 1, .bad_prefix = UINT32_MAX };
	execution_init(&s->execution, c, level);
}

void state_free(struct state *s)
{
	execution_free(&s->execution);
	free(s->notes);
}

size_t state_bytes(const struct state *s)
{
	return execution_bytes(&s->execution) +
	       s->note_capacity * sizeof *s->notes;
}

void state_forget_verdicts(struct state *s, uint32_t count)
{
	assert(count && s->good_prefix);
	if (s->good_prefix > count) s->good_prefix = count;
	if (s->bad_prefix > count) s->bad_prefix = UINT32_MAX;
}

void state_keep(struct state *s, uint32_t count)
{
	state_forget_verdicts(s, count);
	execution_keep(&s->execution, count);
}

void state_rewind(struct state *s, const struct ledger_mark *m)
{
	assert(m->count > m->pending.active);
	state_forget_verdicts(s, m->count - m->pending.active);
	execution_rewind(&s->execution, m);
}
