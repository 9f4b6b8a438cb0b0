/* From a specification to a program that a private PostgreSQL carries out. */
#ifndef ISO_POSTGRES_LOAD_H
#define ISO_POSTGRES_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "sql/arguments.h"

struct address;
struct program;

/* As sql_load(). */
struct program *server_load(const char *path, const char *text, size_t length,
                            const struct sql_arguments *given, struct diags *d);
/* A private PostgreSQL for clients to be served: set up by a file of SQL,
 * unless it is NULL, and then by what the shell runs, unless that is NULL; it
 * listens at this address, too, unless it is NULL (cluster.h). A
 * program without sessions, of which only the library is of interest. */
struct program *server_load_to_serve(const char *schema, const char *command,
                                     const struct address *address,
                                     const struct sql_arguments *given,
                                     struct diags *d);
enum { SERVER_VARIABLES = 8 };
/* How its clients connect, "PGHOST=value" and others, DATABASE_URL last, which
 * the caller frees; returns how many. */
size_t server_variables(char **out, const struct program *p);
/* Rows that sessions wrote are looked at by conditions from now on. False:
 * there were none. */
bool server_take_growth(struct program *p);

#endif
