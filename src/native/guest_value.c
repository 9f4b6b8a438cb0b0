/* Values between user code and the machine. */
#include <string.h>

#include "native/guest.h"
#include "vm/value_build.h"

/* The length of the character at `s`, of `left` bytes: RFC 3629. 0: none. */
static unsigned character_length(const unsigned char *s, size_t left)
{
	unsigned char first = s[0];
	unsigned length = first < 0x80 ? 1 : first < 0xc2 ? 0
	                : first < 0xe0 ? 2 : first < 0xf0 ? 3
	                : first < 0xf5 ? 4 : 0;
	if (!length || length > left) return 0;
	for (unsigned i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80) return 0;
	if ((first == 0xe0 && s[1] < 0xa0) || (first == 0xed && s[1] > 0x9f) ||
	    (first == 0xf0 && s[1] < 0x90) || (first == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

static bool is_text(const void *bytes, size_t length)
{
	const unsigned char *s = bytes;
	for (size_t i = 0; i < length;) {
		unsigned n = s[i] ? character_length(s + i, length - i) : 0;
		if (!n) return false;
		i += n;
	}
	return true;
}

static struct value hexadecimal(struct region *r, const unsigned char *bytes,
                                uint32_t length)
{
	struct value_object *o = object_bytes(r, 2 * length);
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
	for (uint32_t i = 0; i < hex->length / 2; i++)
		bytes[i] = (unsigned char)(digit(hex->bytes[2 * i]) << 4 |
		                           digit(hex->bytes[2 * i + 1]));
	return (struct iso_value){ .kind = ISO_BYTES, .bytes = bytes,
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
