#include "api/problem.h"

#include <assert.h>
#include <stdarg.h>

void problem_free(struct problem *p)
{
	text_free(&p->words);
	diags_free(&p->diags);
	*p = (struct problem){ 0 };
}

bool problem_set(struct problem *p, enum problem_kind kind, const char *format,
                 ...)
{
	va_list arguments;
	assert(kind != PROBLEM_NONE);
	if (p->kind) return false;
	p->kind = kind;
	va_start(arguments, format);
	text_vformat(&p->words, format, arguments);
	va_end(arguments);
	return false;
}

bool problem_diagnosed(struct problem *p, enum problem_kind kind)
{
	assert(kind != PROBLEM_NONE);
	if (!p->kind) p->kind = kind;
	return false;
}
