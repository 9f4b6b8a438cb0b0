/* Lists of ids. In the database they are text, "1,2,3".
 */
#ifndef IDS_H
#define IDS_H

#include <stdbool.h>

enum { IDS_MAX = 16 };

struct ids {
	int count;
	int id[IDS_MAX];
};

/* In a transaction: reads the list under this key, or writes it. */
struct ids ids_get(const char *key);
void ids_put(const char *key, const struct ids *list);

bool ids_have(const struct ids *list, int id);
/* At the end, also when it is in the list already. */
void ids_add(struct ids *list, int id);
/* The first one, if there is any. */
void ids_remove(struct ids *list, int id);

#endif
