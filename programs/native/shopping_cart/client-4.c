/* Shopping cart, client 4 of the benchmark; in the language of isoscope it
 * is programs/shopping_cart/client-4.tx.
 */
#include "../shopping_cart.h"

#include <isoscope/client.h>

static void session(void *quantity)
{
	add_item(6, 1);
	remove_item(6);
	change_quantity(6, *(int *)quantity);
}

void iso_client(void)
{
	static int quantities[] = {0, 100, 200};

	shopping_cart_initial();
	iso_session("s1", session, &quantities[0]);
	iso_session("s2", session, &quantities[1]);
	iso_session("s3", session, &quantities[2]);
}
