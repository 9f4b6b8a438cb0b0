/* The texts that places of a result are in. */
#ifndef ISO_API_SOURCES_H
#define ISO_API_SOURCES_H

struct result;

/* Adds to the result, as "sources", the lines that its examples ran through,
 * with those around: [{"file":"a.tx","first":9,"lines":["txn t() {", ...]}]. A
 * file that cannot be read, or is not the one any more that was loaded, is left
 * out. */
void result_read_sources(struct result *r);

#endif
