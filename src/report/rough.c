#include "report/rough.h"

#include <math.h>
#include <stddef.h>

#include "report/style.h"

/* ---- counts ---- */

/* Three digits are left of it, the others are zeroes. */
static double three_digits(double n)
{
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
		style_count(t, (uint64_t)n);
}

static void print_unit(struct text *t, const struct unit *unit)
{
	if (unit) text_format(t, " %s", unit->word);
}

void rough_count(struct text *t, double n)
{
	double rounded = three_digits(n);
	const struct unit *unit = unit_of(rounded);
	print_number(t, rounded, unit);
	print_unit(t, unit);
}

void rough_range(struct text *t, double low, double high)
{
	double from = three_digits(low), to = three_digits(high);
	const struct unit *of_from = unit_of(from), *of_to = unit_of(to);
	print_number(t, from, of_from);
	if (of_from != of_to) print_unit(t, of_from);
	text_string(t, " to ");
	print_number(t, to, of_to);
	print_unit(t, of_to);
}

/* ---- time ---- */

static void print_time(struct text *t, double n, const char *unit)
{
	text_format(t, n < 9.95 ? "%.2g %s" : "%.0f %s", n, unit);
}

void rough_seconds(struct text *t, double seconds)
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
