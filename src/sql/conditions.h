/* Names of errors. */
#ifndef ISO_SQL_CONDITIONS_H
#define ISO_SQL_CONDITIONS_H

/* The SQLSTATE of this name, or NULL. */
const char *sql_condition(const char *name);

#endif
