#include "result/numbers.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>

/* ---- exact ---- */

void number_count(struct text *t, uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0) text_char(t, ',');
		text_char(t, digits[i]);
	}
}

void number_plural(struct text *t, uint64_t n, const char *one,
                   const char *many)
{
	number_count(t, n);
	text_char(t, ' ');
	text_string(t, n == 1 ? one : many);
}

/* "3", words, "12 histories" */
static void number_among(struct text *t, uint64_t n, const char *words,
                         uint64_t of, const char *one, const char *many)
{
	assert(n <= of);
	number_count(t, n);
	text_string(t, words);
	number_plural(t, of, one, many);
}

void number_of(struct text *t, uint64_t n, uint64_t of, const char *one,
               const char *many)
{
	number_among(t, n, " of ", of, one, many);
}

void number_of_first(struct text *t, uint64_t n, uint64_t of, const char *one,
                     const char *many)
{
	number_among(t, n, " of the first ", of, one, many);
}

void number_of_all(struct text *t, uint64_t n, uint64_t all, const char *many)
{
	if (n < all) {
		number_of(t, n, all, many, many);
		return;
	}
	text_string(t, "all ");
	number_plural(t, all, many, many);
}

void number_seconds(struct text *t, double seconds)
{
	assert(seconds >= 0);
	if (seconds < 0.0005)
		text_format(t, "%.0f µs", seconds * 1e6);
	else if (seconds < 0.9995)
		text_format(t, "%.1f ms", seconds * 1e3);
	else if (seconds < 120)
		text_format(t, "%.2f s", seconds);
	else
		text_format(t, "%.0f min %02.0f s",
		            (double)(uint64_t)(seconds / 60),
		            (double)((uint64_t)seconds % 60));
}

void number_memory(struct text *t, uint64_t bytes)
{
	if (bytes < 10000)
		text_format(t, "%" PRIu64 " bytes", bytes);
	else if (bytes < 1000000)
		text_format(t, "%.0f kB", (double)bytes / 1e3);
	else if (bytes < 1000000000)
		text_format(t, "%.1f MB", (double)bytes / 1e6);
	else
		text_format(t, "%.2f GB", (double)bytes / 1e9);
}

void number_resident(struct text *t)
{
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage)) return;
	number_memory(t, (uint64_t)usage.ru_maxrss * 1024);
	text_string(t, " resident");
}

/* ---- about: counts ---- */

/* Three digits are left of it, the others are zeroes. */
static double three_digits(double n)
{
	assert(n >= 0);
	if (n < 1000) return round(n);
	double step = pow(10, floor(log10(n)) - 2);
	return round(n / step) * step;
}

struct unit {
	double size;
	const char *word;
};

static const struct unit units[] = { { 1e12, "trillion" },
	                             { 1e9, "billion" },
	                             { 1e6, "million" } };
enum { UNITS = sizeof units / sizeof *units };

/* NULL: in plain digits, or as a power of ten. */
static const struct unit *unit_of(double n)
{
	if (n >= 1e15) return NULL;
	for (size_t i = 0; i < UNITS; i++)
		if (n >= units[i].size) return &units[i];
	return NULL;
}

static void print_number(struct text *t, double n, const struct unit *unit)
{
	if (unit)
		text_format(t, "%g", n / unit->size);
	else if (n >= 1e15)
		text_format(t, "%.1e", n);
	else
		number_count(t, (uint64_t)n);
}

static void print_unit(struct text *t, const struct unit *unit)
{
	if (unit) text_format(t, " %s", unit->word);
}

void number_about(struct text *t, double n)
{
	double rounded = three_digits(n);
	const struct unit *unit = unit_of(rounded);
	print_number(t, rounded, unit);
	print_unit(t, unit);
}

void number_range(struct text *t, double low, double high)
{
	assert(low <= high);
	double from = three_digits(low), to = three_digits(high);
	const struct unit *of_from = unit_of(from), *of_to = unit_of(to);
	print_number(t, from, of_from);
	if (of_from != of_to) print_unit(t, of_from);
	text_string(t, " to ");
	print_number(t, to, of_to);
	print_unit(t, of_to);
}

/* ---- about: time ---- */

static void print_time(struct text *t, double n, const char *unit)
{
	text_format(t, n < 9.95 ? "%.2g %s" : "%.0f %s", n, unit);
}

void number_duration(struct text *t, double seconds)
{
	double minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
	if (seconds < 0.1)
		text_string(t, "less than 0.1 s");
	else if (seconds < 100)
		print_time(t, seconds, "s");
	else if (minutes < 100)
		print_time(t, minutes, "min");
	else if (hours < 48)
		print_time(t, hours, "hours");
	else if (days < 700)
		print_time(t, days, "days");
	else if (days < 365.25e6)
		print_time(t, days / 365.25, "years");
	else
		text_string(t, "more than a million years");
}

void number_share(struct text *t, uint64_t n, uint64_t of)
{
	assert(n <= of && of);
	double percent = 100 * (double)n / (double)of;
	if (n && percent < 0.1)
		text_string(t, "< 0.1 %");
	else if (n < of && percent > 99.9)
		text_string(t, "> 99.9 %");
	else
		text_format(t, n == of || !n ? "%.0f %%" : "%.1f %%", percent);
}
