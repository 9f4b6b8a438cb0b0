#include "sql/failure.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

bool sql_fail(struct region *r, struct sql_failure *f, const char *state,
              const char *format, ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	assert(strlen(state) == 5);
	strcpy(f->state, state);
	f->message = region_copy_string(r, text_get(&t), t.length);
	text_free(&t);
	return false;
}
