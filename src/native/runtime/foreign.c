#include "native/runtime/foreign.h"

#include <assert.h>
#include <avcall.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* avcall.h casts to functions without a prototype. */
#pragma GCC diagnostic ignored "-Wstrict-prototypes"

/* Libraries stay loaded as long as the worker lives. */
void *foreign_find(const struct foreign_function *f, const char **why)
{
	static char message[1024];
	assert(f->library && f->name);
	*why = message;
	void *library = dlopen(f->library, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(message, sizeof message, "cannot load the library: %s",
		         dlerror());
		return NULL;
	}
	void *address = dlsym(library, f->name);
	if (!address)
		snprintf(message, sizeof message,
		         "the library '%s' has no function '%s'", f->library,
		         f->name);
	assert(address || *message);
	return address;
}

static void push(av_alist *list, enum foreign_type type, struct iso_value v)
{
	if (type == FOREIGN_STRING)
		av_ptr(*list, char *, (char *)v.bytes);
	else
		av_longlong(*list, v.integer);
}

struct iso_value foreign_call(const struct foreign_function *f, void *address,
                              const struct iso_value *arguments)
{
	assert(address);
	av_alist list;
	long long number = 0;
	const char *string = NULL;
	bool gives_string = f->result == FOREIGN_STRING;
	if (gives_string)
		av_start_ptr(list, address, const char *, &string);
	else
		av_start_longlong(list, address, &number);
	for (uint32_t i = 0; i < f->parameter_count; i++)
		push(&list, f->parameters[i], arguments[i]);
	/* The list has room for more than a program can declare. */
	assert(!av_overflown(list));
	av_call(list);
	if (!gives_string)
		return (struct iso_value){ .kind = ISO_INT, .integer = number };
	if (!string) return (struct iso_value){ .kind = ISO_NULL };
	return (struct iso_value){ .kind = ISO_BYTES,
		                   .bytes = string,
		                   .length = strlen(string) };
}
