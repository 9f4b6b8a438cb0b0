/* Numbers and levels on the command line. Each function leaves `out` alone if
 * the option was not given, unless it says what holds then, and returns false,
 * after saying why, if it is wrong. */
#ifndef ISO_CLI_SETTINGS_H
#define ISO_CLI_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/programs.h"
#include "cli/options.h"

struct predict_options;
struct program;

/* A positive whole number. */
bool setting_count(const struct command_line *c, enum option_id option,
                   uint64_t *out);
/* Threads: --jobs. Without it one for each core, but one with --max-histories,
 * where it would be up to the threads which histories are met. */
bool setting_jobs(const struct command_line *c, unsigned *out);
/* Any whole number of 64 bits, 0 too. */
bool setting_seed(const struct command_line *c, enum option_id option,
                  uint64_t *out);
/* A number from 0 to 1: 0.25. */
bool setting_share(const struct command_line *c, enum option_id option,
                   double *out);
/* A positive number of bytes: 500M, 2G. */
bool setting_memory(const struct command_line *c, enum option_id option,
                    uint64_t *out);
/* A positive number of seconds: 2.5, 10s. */
bool setting_seconds(const struct command_line *c, enum option_id option,
                     double *out);
/* The same for --step-timeout, where 0 is no limit: then a number that is never
 * reached. */
bool setting_step_timeout(const struct command_line *c, double *out);
/* That, --max-transactions, --max-accesses, and the limits that hold for code
 * in C too: how it is run. */
bool setting_code_in_c(const struct command_line *c, struct code_in_c *out);
/* The isolation level: the option's, else the one that the program states,
 * else cc. */
bool setting_level(const struct command_line *c, enum option_id option,
                   const struct program *p, enum level *out);
/* --boundary and --encoding, whose words are known to be right. */
void setting_encoding(const struct command_line *c, struct predict_options *o);

#endif
