/* Sets of small numbers as rows of 64-bit words.
 *
 * Every function takes the number of words as its last argument and is always
 * inlined: called with the literal 1 it compiles to plain word operations. */
#ifndef ISO_BASE_BITS_H
#define ISO_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t word;

#define BITS_INLINE static inline __attribute__((always_inline))
#define BITS_WORDS(n) (((n) + 63u) / 64u)

BITS_INLINE bool bits_has(const word *a, unsigned i)
{
	return a[i >> 6] >> (i & 63) & 1;
}
BITS_INLINE void bits_add(word *a, unsigned i)
{
	a[i >> 6] |= (word)1 << (i & 63);
}
BITS_INLINE void bits_drop(word *a, unsigned i)
{
	a[i >> 6] &= ~((word)1 << (i & 63));
}
BITS_INLINE void bits_zero(word *a, unsigned words)
{
	for (unsigned w = 0; w < words; w++) a[w] = 0;
}
BITS_INLINE void bits_copy(word *a, const word *b, unsigned words)
{
	for (unsigned w = 0; w < words; w++) a[w] = b[w];
}
BITS_INLINE void bits_or(word *a, const word *b, unsigned words)
{
	for (unsigned w = 0; w < words; w++) a[w] |= b[w];
}
BITS_INLINE void bits_and(word *a, const word *b, unsigned words)
{
	for (unsigned w = 0; w < words; w++) a[w] &= b[w];
}
BITS_INLINE bool bits_meet(const word *a, const word *b, unsigned words)
{
	for (unsigned w = 0; w < words; w++)
		if (a[w] & b[w]) return true;
	return false;
}
BITS_INLINE bool bits_empty(const word *a, unsigned words)
{
	for (unsigned w = 0; w < words; w++)
		if (a[w]) return false;
	return true;
}
/* Without an instruction for it, the compiler's own is a call. */
BITS_INLINE unsigned word_count(word a)
{
#ifdef __POPCNT__
	return (unsigned)__builtin_popcountll(a);
#else
	a -= a >> 1 & 0x5555555555555555u;
	a = (a & 0x3333333333333333u) + (a >> 2 & 0x3333333333333333u);
	a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (unsigned)(a * 0x0101010101010101u >> 56);
#endif
}
BITS_INLINE unsigned bits_count(const word *a, unsigned words)
{
	unsigned n = 0;
	for (unsigned w = 0; w < words; w++) n += word_count(a[w]);
	return n;
}
/* The smallest member that is at least `from`, or 64 * words if none. */
BITS_INLINE unsigned bits_next(const word *a, unsigned from, unsigned words)
{
	unsigned w = from >> 6;
	if (w >= words) return 64 * words;
	word rest = a[w] & ~(word)0 << (from & 63);
	while (!rest) {
		if (++w == words) return 64 * words;
		rest = a[w];
	}
	return 64 * w + (unsigned)__builtin_ctzll(rest);
}
/* for every member i of the set a, in increasing order */
#define BITS_EACH(i, a, words)                                      \
	for (unsigned i = bits_next(a, 0, words); i < 64 * (words); \
	     i = bits_next(a, i + 1, words))

#endif
