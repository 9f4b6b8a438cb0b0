/* Results as one page of HTML, from their JSON form alone: so a result that was
 * saved looks the same as one that has just been found.
 *
 * The page is a file by itself. It loads nothing, and says so in a content
 * security policy, which allows the one script that is in it by its hash.
 * Whatever comes from a result is escaped, and control characters and those
 * that change the direction of text are shown as what they are (page_words).
 */
#ifndef ISO_REPORT_PAGE_H
#define ISO_REPORT_PAGE_H

#include "base/text.h"
#include "report/documents.h"

void report_page(struct text *t, const struct documents *d);

#endif
