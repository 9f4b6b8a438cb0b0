/* What an audit found, in words: places, statements, what an anomaly is called
 * and what to change. */
#ifndef ISO_RESULT_AUDITED_WORDS_H
#define ISO_RESULT_AUDITED_WORDS_H

#include "audit/audit.h"

struct text;

/* The path of a log. */
const char *audited_file(const struct audit *a, uint32_t file);
/* "shop.log:17" */
void name_audited_place(struct text *t, const struct audit *a, uint32_t file,
                        uint32_t line);
const struct class_statement *audited_statement(const struct audit *a,
                                                const struct audit_node *n);
/* Its text, as of the first instance. */
const char *audited_text(const struct audit *a, const struct audit_node *n);
/* On one line, of at most so many characters. */
void name_audited_statement(struct text *t, const char *words, size_t most);
/* Edge number i of an anomaly's cycle. */
const struct audit_edge *
audited_edge(const struct audit *a, const struct audit_anomaly *x, uint32_t i);
const struct audit_node *audited_node(const struct audit *a, uint32_t n);
/* The column that the edge is told by: the one that is to be protected, if it
 * is one of it. */
uint32_t audited_column(const struct audit *a, const struct audit_anomaly *x,
                        const struct audit_edge *e);
/* What such a cycle is usually called, or NULL. */
const char *audited_name(const struct audit *a, const struct audit_anomaly *x);
/* What to change: "add FOR UPDATE". */
void name_audited_change(struct text *t, const struct audit *a,
                         const struct audit_anomaly *x);
/* "lost update", or "cycle of 3" */
void name_audited_kind(struct text *t, const struct audit *a,
                       const struct audit_anomaly *x);

#endif
