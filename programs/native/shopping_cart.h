/* Shopping cart: the items in the cart of one user.
 */
#ifndef SHOPPING_CART_H
#define SHOPPING_CART_H

#include "ids.h"

struct item {
	char name[32]; /* empty: there is no such item */
	int price, quantity;
};

struct items {
	int count;
	struct item item[IDS_MAX];
};

/* What is in the cart when the client starts; from iso_client() only. */
void shopping_cart_initial(void);

/* Transactions. */
void add_item(int id, int quantity);
void remove_item(int id);
struct item get_item(int id);
struct items list_items(void);
/* False when the item is not in the cart. */
bool change_quantity(int id, int quantity);

#endif
