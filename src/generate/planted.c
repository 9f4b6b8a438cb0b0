#include "generate/planted.h"

#include <assert.h>
#include <string.h>

/* The transactions of each anomaly: `;` stands between them. Each begins with
 * its session, a digit, and `!` if it aborts. wx1 writes the first value to x,
 * rx0 reads the initial one. */
static const char *pattern(enum planted kind)
{
	switch (kind) {
	case PLANTED_THIN_AIR: return "0 rx1";
	case PLANTED_G1A: return "0! wx1; 1 rx1";
	case PLANTED_G1B: return "0 wx1 wx2; 1 rx1";
	case PLANTED_INTERNAL: return "0 wx1 rx0";
	case PLANTED_G1C: return "0 wx1 ry2; 1 wy2 rx1";
	case PLANTED_OTV: return "0 wx1 wy2; 1 wx3 wy4; 2 rx3 ry2 ry4";
	case PLANTED_FRACTURED: return "0 wx1 wy2; 1 rx0 ry2";
	case PLANTED_CAUSAL: return "0 wx1; 1 rx1 wy2; 2 ry2 rx0";
	case PLANTED_LONG_FORK: return "0 wx1; 1 wy2; 2 rx1 ry0; 3 rx0 ry2";
	case PLANTED_LOST_UPDATE: return "0 rx0 wx1; 1 rx0 wx2";
	case PLANTED_WRITE_SKEW: return "0 rx0 ry0 wx1; 1 rx0 ry0 wy2";
	case PLANTED_COUNT: break;
	}
	return "";
}

struct planted_entry {
	const char *word;
	const char *forbidden_by; /* word of a level */
};

static const struct planted_entry entries[] = {
#define X(id, word, forbidden_by, description) { word, forbidden_by },
	PLANTED_TABLE(X)
#undef X
};

enum planted planted_from_word(const char *word)
{
	int p = 0;
	while (p < PLANTED_COUNT && strcmp(entries[p].word, word)) p++;
	return (enum planted)p;
}

const char *planted_word(enum planted p)
{
	assert(p < PLANTED_COUNT);
	return entries[p].word;
}

enum level planted_forbidden_by(enum planted p)
{
	assert(p < PLANTED_COUNT);
	return level_from_word(entries[p].forbidden_by);
}

uint32_t planted_sessions(enum planted p)
{
	uint32_t count = 0;
	for (const char *at = pattern(p); *at; at++) count += *at == ';';
	return p < PLANTED_COUNT ? count + 1 : 0;
}

/* Adds an operation, "wx1". */
static void add_op(const struct planting *p, uint32_t transaction,
                   const char *op)
{
	uint32_t digit = (uint32_t)(op[2] - '0');
	struct trace_value value =
		trace_value_number(digit ? p->value + digit - 1 : 0);
	uint32_t key =
		trace_key_number(p->builder, p->key + (uint32_t)(op[1] - 'x'));
	trace_op_add(p->builder, transaction,
	             op[0] == 'w' ? EVENT_WRITE : EVENT_READ, key, value, 0);
}

uint32_t planted_add(enum planted kind, const struct planting *p)
{
	uint32_t count = 0, transaction = 0;
	for (const char *at = pattern(kind); *at;) {
		if (*at >= '0' && *at <= '9') {
			bool aborts = at[1] == '!';
			transaction = trace_transaction_new(
				p->builder, p->sessions[*at - '0'],
				aborts ? TRACE_ABORTED : TRACE_COMMITTED, 0);
			trace_transaction_number(p->builder, transaction,
			                         p->transaction + count++);
			at += 1 + aborts;
		} else if (*at == 'r' || *at == 'w') {
			add_op(p, transaction, at);
			at += 3;
		} else {
			at++;
		}
	}
	return count;
}
