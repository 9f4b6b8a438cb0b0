#include "formats/line_parser.h"

bool line_wrong(struct line_parser *p, const struct form *x, const char *format,
                ...)
{
	struct text t = { 0 };
	if (p->session != LINE_NONE)
		text_format(&t, "sessions[%u]", p->session);
	if (p->transaction != LINE_NONE)
		text_format(&t, ".transactions[%u]", p->transaction);
	if (p->event != LINE_NONE) text_format(&t, ".events[%u]", p->event);
	if (t.length) text_string(&t, ": ");
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	form_error(&p->f, x, "%s", text_get(&t));
	text_free(&t);
	return false;
}

bool line_expected(struct line_parser *p, const struct form *x,
                   const char *what)
{
	struct text shown = { 0 };
	form_show(&shown, x);
	line_wrong(p, x, "expected %s, found %s", what, text_get(&shown));
	text_free(&shown);
	return false;
}

bool line_opened(struct line_parser *p, struct form *x, char bracket,
                 const char *what)
{
	if (x->kind == FORM_OPEN && x->bracket == bracket) return true;
	return line_expected(p, x, what);
}

bool line_next_opened(struct line_parser *p, struct form *x, char bracket,
                      const char *what)
{
	return form_next(&p->f, x) && line_opened(p, x, bracket, what);
}
