/* The table of formats of recorded histories. */
#ifndef ISO_FORMATS_FORMAT_TABLE_H
#define ISO_FORMATS_FORMAT_TABLE_H

/* X(identifier, word, usual ending of file names, description) */
#define FORMAT_TABLE(X)                                                        \
	X(FORMAT_ISOSCOPE, "isoscope", "jsonl",                                \
	  "JSON Lines of isoscope, a history each line")                       \
	X(FORMAT_PLUME, "plume", "txt",                                        \
	  "r(key,value,session,transaction) each line: Plume, PolySI, AWDIT")  \
	X(FORMAT_AWDIT, "awdit", "txt",                                        \
	  "r key value each line, --- after transactions, === after sessions") \
	X(FORMAT_DBCOP_BINCODE, "dbcop-bincode", "bincode",                    \
	  "binary histories of dbcop (2019), PolySI, VeriStrong")              \
	X(FORMAT_DBCOP_JSON, "dbcop-json", "json", "JSON of dbcop")            \
	X(FORMAT_DBCOP_TEXT, "dbcop-text", "hist",                             \
	  "[x:=1 y==2] each transaction: dbcop")                               \
	X(FORMAT_COBRA, "cobra", "",                                           \
	  "a folder with a binary log T<n>.log for each session: Cobra")       \
	X(FORMAT_REGISTER_EDN, "rw-edn", "edn",                                \
	  "Jepsen and Elle, rw-register, EDN")                                 \
	X(FORMAT_REGISTER_JSON, "rw-json", "jsonl",                            \
	  "Jepsen and Elle, rw-register, JSON")                                \
	X(FORMAT_LIST_EDN, "list-edn", "edn",                                  \
	  "Jepsen and Elle, list-append, EDN")                                 \
	X(FORMAT_LIST_JSON, "list-json", "jsonl",                              \
	  "Jepsen and Elle, list-append, JSON")                                \
	X(FORMAT_ISOPREDICT, "isopredict", "txt",                              \
	  "READ KEY[k] Txn(1, 0) From(0, 0) each line: IsoPredict")

enum format {
#define X(id, word, ending, description) id,
	FORMAT_TABLE(X)
#undef X
		FORMAT_COUNT, /* as an argument: find out from the content */
};

const char *format_word(enum format f);
const char *format_description(enum format f);
enum format format_from_word(const char *word); /* FORMAT_COUNT: none */

#endif
