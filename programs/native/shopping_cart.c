/* The transactions of programs/apps/shopping_cart.tx in C: the same reads and
 * writes in the same order.
 *
 * The key "store" holds the list of ids, "store/ID" the item with that id as
 * text, "item 1, price 1, quantity 8".
 */
#include "shopping_cart.h"

#include <stdio.h>

#include <isoscope/client.h>

enum { TEXT = 80 }; /* bytes of a key or an item as text */

static void print_key(char key[TEXT], int id)
{
	snprintf(key, TEXT, "store/%d", id);
}

static void print_item(char text[TEXT], const struct item *item)
{
	snprintf(text, TEXT, "%s, price %d, quantity %d", item->name,
	         item->price, item->quantity);
}

void shopping_cart_initial(void)
{
	static const struct item items[] = {
		{"item 1", 1, 8},
		{"item 2", 1, 2},
		{"item 3", 1, 1005},
		{"item 4", 1, 1},
	};
	char key[TEXT], text[TEXT];

	iso_initial_string("store", "1,2,3,4");
	for (int i = 0; i < 4; i++) {
		print_key(key, i + 1);
		print_item(text, &items[i]);
		iso_initial_string(key, text);
	}
}

static bool is_listed(int id)
{
	struct ids store = ids_get("store");

	return ids_have(&store, id);
}

/* An item that is listed is there: who finds the id in the list reads an item
 * that somebody wrote, which weak levels do not promise by themselves. */
static struct item read_listed(int id)
{
	char key[TEXT];
	const char *text;
	struct item item = {0};

	print_key(key, id);
	text = iso_get_string(key);
	iso_assume(text != NULL);
	sscanf(text, "%31[^,], price %d, quantity %d", item.name,
	       &item.price, &item.quantity);
	return item;
}

static void write_item(int id, const struct item *item)
{
	char key[TEXT], text[TEXT];

	print_key(key, id);
	print_item(text, item);
	iso_put_string(key, text);
}

/* Appends blindly: an item added twice is listed twice. */
void add_item(int id, int quantity)
{
	struct item item = {"new item", 1, quantity};
	struct ids store;

	iso_begin("add_item");
	store = ids_get("store");
	ids_add(&store, id);
	ids_put("store", &store);
	write_item(id, &item);
	iso_commit();
}

/* Writes the list even when the item is not in it. */
void remove_item(int id)
{
	struct ids store;

	iso_begin("remove_item");
	store = ids_get("store");
	ids_remove(&store, id);
	ids_put("store", &store);
	iso_commit();
}

struct item get_item(int id)
{
	struct item item = {0};

	iso_begin("get_item");
	if (is_listed(id)) item = read_listed(id);
	iso_commit();
	return item;
}

struct items list_items(void)
{
	struct items items = {0};
	struct ids store;

	iso_begin("list_items");
	store = ids_get("store");
	for (int i = 0; i < store.count; i++)
		items.item[items.count++] = read_listed(store.id[i]);
	iso_commit();
	return items;
}

/* Looks twice whether the item is listed, as a database does for a SELECT and
 * the UPDATE that follows it. */
bool change_quantity(int id, int quantity)
{
	struct item item;

	iso_begin("change_quantity");
	if (!is_listed(id)) {
		iso_abort();
		return false;
	}
	item = read_listed(id);
	item.quantity = quantity;
	if (is_listed(id)) write_item(id, &item);
	iso_commit();
	return true;
}
