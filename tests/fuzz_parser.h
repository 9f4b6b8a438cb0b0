/* The entry that libFuzzer calls; its name is given. */
#ifndef ISO_TESTS_FUZZ_PARSER_H
#define ISO_TESTS_FUZZ_PARSER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
