/* Is a file one of Jepsen or Elle, and of which kind? */
#include <string.h>

#include "formats/elle.h"

enum { MAPS_MAX = 10000 }; /* so many are looked at */

enum workload { UNDECIDED, REGISTERS, LISTS };

struct detection {
	struct forms f;
	bool typed; /* the first map has a type */
	enum workload workload;
};

static bool is_collection(const struct form *x)
{
	return x->kind == FORM_OPEN && (x->bracket == '[' || x->bracket == '(');
}

/* [:r key value], whose bracket is read: the word tells, and the value does
 * if it is not nil. */
static bool look_at_micro_operation(struct detection *n)
{
	struct form x;
	struct forms *f = &n->f;
	if (!form_next(f, &x)) return false;
	if (form_is_name(&x) && form_is(&x, "append")) n->workload = LISTS;
	if (form_is_name(&x) && form_is(&x, "w")) n->workload = REGISTERS;
	bool read = form_is_name(&x) && form_is(&x, "r");
	for (int place = 0;; place++) {
		if (x.kind == FORM_CLOSE) return true;
		if (place == 2 && read && is_collection(&x))
			n->workload = LISTS;
		else if (place == 2 && read && x.kind != FORM_NULL)
			n->workload = REGISTERS;
		if (!form_skip(f, &x) || !form_next(f, &x)) return false;
	}
}

static bool look_at_value(struct detection *n, struct form *x)
{
	if (!is_collection(x)) return form_skip(&n->f, x);
	for (;;) {
		if (!form_next(&n->f, x)) return false;
		if (x->kind == FORM_CLOSE) return true;
		bool micro = is_collection(x) && n->workload == UNDECIDED;
		if (!(micro ? look_at_micro_operation(n) : form_skip(&n->f, x)))
			return false;
	}
	return true;
}

static bool look_at_map(struct detection *n)
{
	struct form x;
	while (n->workload == UNDECIDED || !n->typed) {
		if (!form_next(&n->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		bool name = form_is_name(&x);
		n->typed |= name && form_is(&x, "type");
		bool value = name && form_is(&x, "value") &&
		             n->workload == UNDECIDED;
		if (!form_skip(&n->f, &x) || !form_next(&n->f, &x))
			return false;
		if (x.kind == FORM_CLOSE) return false; /* a key alone */
		if (!(value ? look_at_value(n, &x) : form_skip(&n->f, &x)))
			return false;
	}
	return true;
}

static void look(struct detection *n)
{
	struct form x;
	for (unsigned maps = 0; maps < MAPS_MAX;) {
		if (!form_next(&n->f, &x) || x.kind == FORM_END) return;
		if (x.kind == FORM_CLOSE) continue;
		if (is_collection(&x) && n->f.depth == 1) continue;
		if (x.kind != FORM_OPEN || x.bracket != '{') return;
		if (!look_at_map(n) || !n->typed) return;
		if (n->workload != UNDECIDED) return;
		maps++;
	}
}

/* Is the first map one of JSON? There names stand in quotes. */
static bool is_json(const struct input *in)
{
	static const char blanks[] = " \t\r\n[(";
	size_t i = 0;
	while (i < in->length && in->bytes[i] && strchr(blanks, in->bytes[i]))
		i++;
	if (i == in->length || in->bytes[i] != '{') return false;
	for (i++; i < in->length && in->bytes[i]; i++)
		if (!strchr(blanks, in->bytes[i])) break;
	return i < in->length && in->bytes[i] == '"';
}

enum format elle_detect(const struct input *in)
{
	bool json = is_json(in);
	struct diags unheard = { 0 };
	struct detection n = { .workload = UNDECIDED };
	forms_init(&n.f, in, in->bytes, in->bytes + in->length, 1,
	           json ? FORM_JSON : FORM_EDN, &unheard);
	look(&n);
	forms_free(&n.f);
	diags_free(&unheard);
	if (!n.typed) return FORMAT_COUNT;
	if (n.workload == LISTS)
		return json ? FORMAT_LIST_JSON : FORMAT_LIST_EDN;
	return json ? FORMAT_REGISTER_JSON : FORMAT_REGISTER_EDN;
}
