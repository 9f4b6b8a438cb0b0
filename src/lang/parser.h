/* From tokens to the syntax tree. */
#ifndef ISO_LANG_PARSER_H
#define ISO_LANG_PARSER_H

#include <stdbool.h>

#include "lang/ast.h"
#include "lang/source.h"

/* Parses one source and appends its items to the tree. False when there was
 * an error; what could be understood is in the tree all the same. */
bool parse(struct syntax *syntax, struct sources *all, uint32_t source);
/* The words that an item and a statement can begin with; each list ends with
 * NULL. For suggestions. */
const char *const *parser_item_words(void);
const char *const *parser_statement_words(void);

#endif
