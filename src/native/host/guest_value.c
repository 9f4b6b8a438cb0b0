#include "native/host/guest_value.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "vm/value_build.h"

static bool is_text(const char *bytes, size_t length)
{
	return !memchr(bytes, 0, length) && utf8_is_valid(bytes, length);
}

const char *text_of_guest(struct region *r, const char *s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t length = strlen(s), n;
	if (utf8_is_valid(s, length)) return region_copy_string(r, s, length);
	struct text t = { 0 };
	for (size_t i = 0; i < length; i += n ? n : 1) {
		n = utf8_length(s + i, length - i);
		if (n)
			text_bytes(&t, s + i, n);
		else
			text_string(&t, replacement);
	}
	const char *copy = region_copy_string(r, text_get(&t), t.length);
	text_free(&t);
	return copy;
}

static struct value hexadecimal(struct region *r, const unsigned char *bytes,
                                uint32_t length)
{
	struct value_object *o = object_bytes(r, 2 * length);
	assert(length <= UINT32_MAX / 2);
	for (uint32_t i = 0; i < length; i++) {
		o->bytes[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		o->bytes[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	o->length = 2 * length;
	struct value pair[] = { value_string(r, "bytes", 5),
		                object_seal(o, VALUE_STRING) };
	return value_record(r, pair, 1);
}

struct value value_of_wire(struct region *r, struct iso_value v)
{
	if (v.kind == ISO_INT) return value_int(v.integer);
	if (v.kind != ISO_BYTES) return value_null();
	if (is_text(v.bytes, v.length))
		return value_string(r, v.bytes, v.length);
	return hexadecimal(r, v.bytes, (uint32_t)v.length);
}

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

static struct iso_value plain_bytes(struct region *r,
                                    const struct value_object *hex)
{
	unsigned char *bytes = region_take(r, hex->length / 2 + 1);
	assert(hex->length % 2 == 0);
	for (uint32_t i = 0; i < hex->length / 2; i++)
		bytes[i] = (unsigned char)(digit(hex->bytes[2 * i]) << 4 |
		                           digit(hex->bytes[2 * i + 1]));
	return (struct iso_value){ .kind = ISO_BYTES,
		                   .bytes = bytes,
		                   .length = hex->length / 2 };
}

struct iso_value wire_of_value(struct region *r, struct value v)
{
	if (v.tag == VALUE_INT || v.tag == VALUE_BOOL)
		return (struct iso_value){ .kind = ISO_INT, .integer = v.i };
	if (v.tag == VALUE_STRING)
		return (struct iso_value){ .kind = ISO_BYTES,
			                   .bytes = v.o->bytes,
			                   .length = v.o->length };
	if (v.tag == VALUE_RECORD) return plain_bytes(r, v.o->items[1].o);
	return (struct iso_value){ .kind = ISO_NULL };
}
