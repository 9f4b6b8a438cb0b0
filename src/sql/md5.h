/* MD5 (RFC 1321), for md5(). */
#ifndef ISO_SQL_MD5_H
#define ISO_SQL_MD5_H

#include "base/region.h"
#include "vm/value.h"

/* 32 hexadecimal digits. */
struct value sql_md5(struct region *r, const char *s, size_t length);

#endif
