#include "prove/summary.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "prove/finals.h"

void application_init(struct application *a, const char *path)
{
	*a = (struct application){ .path = path };
	region_init(&a->region);
}

void application_free(struct application *a)
{
	uint32_t summaries = a->summary_count + a->stale_count;
	for (uint32_t i = 0; i < summaries; i++) summary_free(&a->summaries[i]);
	free(a->summaries);
	free(a->families);
	free(a->constants);
	free(a->fields);
	free(a->uncovered);
	free(a->keys);
	free(a->names);
	finals_free(a->finals);
	free(a->firsts);
	if (a->begun) application_free(a->begun);
	free(a->begun);
	free(a->transactions);
	text_free(&a->declarations);
	text_free(&a->asserted);
	region_free(&a->region);
}

uint32_t application_constant(struct application *a, struct value v)
{
	for (uint32_t i = 0; i < a->constant_count; i++)
		if (value_equal(a->constants[i], v)) return i;
	VEC_RESERVE(a->constants, a->constant_count, a->constant_capacity);
	a->constants[a->constant_count] = value_copy(&a->region, v);
	return a->constant_count++;
}

uint32_t application_field(struct application *a, const char *name,
                           size_t length)
{
	uint32_t k =
		application_constant(a, value_string(&a->region, name, length));
	for (uint32_t i = 0; i < a->field_count; i++)
		if (a->fields[i] == k) return k;
	VEC_RESERVE(a->fields, a->field_count, a->field_capacity);
	a->fields[a->field_count++] = k;
	return k;
}

uint32_t application_family(struct application *a, const char *name,
                            uint32_t index_count, uint32_t value_count)
{
	assert(value_count);
	for (uint32_t i = 0; i < a->family_count; i++)
		if (!strcmp(a->families[i].name, name)) return i;
	VEC_RESERVE(a->families, a->family_count, a->family_capacity);
	a->families[a->family_count] =
		(struct family){ .name = region_copy_string(&a->region, name,
		                                            strlen(name)),
		                 .index_count = index_count,
		                 .value_count = value_count,
		                 .initial = UINT32_MAX };
	return a->family_count++;
}

void application_leave_out(struct application *a, struct position at,
                           const char *what)
{
	for (uint32_t i = 0; i < a->uncovered_count; i++)
		if (a->uncovered[i].at.line == at.line &&
		    !strcmp(a->uncovered[i].at.file, at.file))
			return;
	VEC_RESERVE(a->uncovered, a->uncovered_count, a->uncovered_capacity);
	at.file = region_copy_string(&a->region, at.file, strlen(at.file));
	at.source_line = NULL;
	a->uncovered[a->uncovered_count++] = (struct uncovered){ at, what };
}

void summary_init(struct summary *s)
{
	*s = (struct summary){ .name = NULL };
	for (enum node_op op = NODE_FALSE; op <= NODE_TRUE; op++) {
		VEC_RESERVE(s->nodes, s->node_count, s->node_capacity);
		s->nodes[s->node_count++] = (struct node){ .op = op };
	}
	assert(s->nodes[TRUE_NODE].op == NODE_TRUE);
	s->commits = s->errs = s->untold = FALSE_NODE;
	s->assumed = TRUE_NODE;
}

void summary_free(struct summary *s)
{
	free(s->nodes);
	free(s->accesses);
	free(s->totals);
}

uint32_t node_parts(const struct node *n, uint32_t *parts)
{
	static const char *const names[] = {
#define X(id, parts) [id] = (parts),
		NODE_TABLE(X)
#undef X
	};
	uint32_t count = 0;
	assert(n->op < sizeof names / sizeof *names);
	for (const char *name = names[n->op]; *name; name++)
		parts[count++] = *name == 'a'   ? n->a
		                 : *name == 'b' ? n->b
		                                : n->c;
	return count;
}

uint32_t node_add(struct summary *s, enum node_op op, uint32_t a, uint32_t b,
                  uint32_t c)
{
	struct node n = { op, a, b, c };
	bool fresh = op == NODE_GUESS || op == NODE_UNKNOWN;
	assert(op > NODE_TRUE && s->node_count > TRUE_NODE);
	for (uint32_t i = TRUE_NODE + 1; i < s->node_count && !fresh; i++) {
		struct node *m = &s->nodes[i];
		if (m->op == op && m->a == a && m->b == b && m->c == c)
			return i;
	}
	VEC_RESERVE(s->nodes, s->node_count, s->node_capacity);
	s->nodes[s->node_count] = n;
	return s->node_count++;
}

uint32_t node_not(struct summary *s, uint32_t a)
{
	assert(!node_is_value(&s->nodes[a]));
	if (a <= TRUE_NODE) return a == FALSE_NODE ? TRUE_NODE : FALSE_NODE;
	if (s->nodes[a].op == NODE_NOT) return s->nodes[a].a;
	return node_add(s, NODE_NOT, a, 0, 0);
}

uint32_t node_and(struct summary *s, uint32_t a, uint32_t b)
{
	assert(!node_is_value(&s->nodes[a]) && !node_is_value(&s->nodes[b]));
	if (a == FALSE_NODE || b == FALSE_NODE) return FALSE_NODE;
	if (a == TRUE_NODE || a == b) return b;
	if (b == TRUE_NODE) return a;
	return node_add(s, NODE_AND, a, b, 0);
}

uint32_t node_or(struct summary *s, uint32_t a, uint32_t b)
{
	assert(!node_is_value(&s->nodes[a]) && !node_is_value(&s->nodes[b]));
	if (a == TRUE_NODE || b == TRUE_NODE) return TRUE_NODE;
	if (a == FALSE_NODE || a == b) return b;
	if (b == FALSE_NODE) return a;
	return node_add(s, NODE_OR, a, b, 0);
}

uint32_t node_equal(struct summary *s, uint32_t a, uint32_t b)
{
	assert(node_is_value(&s->nodes[a]) && node_is_value(&s->nodes[b]));
	if (a == b) return TRUE_NODE;
	if (s->nodes[a].op == NODE_CONSTANT && s->nodes[b].op == NODE_CONSTANT)
		return FALSE_NODE; /* constants are all different */
	return a < b ? node_add(s, NODE_EQUAL, a, b, 0)
	             : node_add(s, NODE_EQUAL, b, a, 0);
}

uint32_t node_choose(struct summary *s, uint32_t condition, uint32_t b,
                     uint32_t c)
{
	assert(node_is_value(&s->nodes[b]) && node_is_value(&s->nodes[c]));
	if (condition == TRUE_NODE || b == c) return b;
	if (condition == FALSE_NODE) return c;
	return node_add(s, NODE_CHOOSE, condition, b, c);
}
