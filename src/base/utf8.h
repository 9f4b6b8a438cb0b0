/* UTF-8 (RFC 3629). */
#ifndef ISO_BASE_UTF8_H
#define ISO_BASE_UTF8_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

/* The bytes of the character at `s`, of `left` > 0 bytes; 0 if there is none:
 * broken, overlong, a surrogate, too large. */
static inline size_t utf8_length(const char *s, size_t left)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = *p < 0x80   ? 1
	           : *p < 0xc2 ? 0
	           : *p < 0xe0 ? 2
	           : *p < 0xf0 ? 3
	           : *p < 0xf5 ? 4
	                       : 0;
	assert(left > 0);
	if (!n || n > left) return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80) return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

static inline bool utf8_is_valid(const char *s, size_t length)
{
	for (size_t i = 0, n; i < length; i += n)
		if (!(n = utf8_length(s + i, length - i))) return false;
	return true;
}

#endif
