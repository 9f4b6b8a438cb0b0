#include "litmus_rows.h"

static const struct litmus_row rows[LITMUS_ROWS] = {
	{ "G0-obs", "AA--A----", "T1: Wx Wy | T2: Wx Wy | T3: x<T1 y<T2" },
	{ "G0-pin", "A--------",
	  "T1: Wx Wy | T2: Wx Wy | R: x<T1 y<T2 | S: y<T2 x<T1" },
	{ "OTV", "A--------",
	  "T1: Wx Wy | T2: Wx Wy | T3: x<T2 y<T1 y<T2 x<T2" },
	{ "OTV-short", "AA--A----", "T1: Wx Wy | T2: Wx Wy | T3: x<T2 y<T1" },
	{ "OTV-so", "A--------", "T1: Wx Wy ; T2: Wx Wy | T3: x<T2 y<T1" },
	{ "OTV-so-rev", "AA--A----", "T1: Wx Wy ; T2: Wx Wy | T3: y<T1 x<T2" },
	{ "PMP", "AA--A----", "T1: e3<0 e3<T2 v3<T2 | T2: We3 Wv3" },
	{ "PMP-write", "AA--A----",
	  "T1: x<0 Wx y<0 Wy | T2: x<0 y<0 Wey ex<0 x<T1" },
	{ "P4", "AAAAAA---", "T1: x<0 Wx | T2: x<0 Wx" },
	{ "G-single", "AA--A----", "T1: x<0 y<T2 | T2: x<0 y<0 Wx Wy" },
	{ "G-single-dep", "AA--A----",
	  "T1: x<0 y<0 x<T2 y<0 | T2: x<0 y<0 Wx" },
	{ "G-single-write, both new", "AA--A----",
	  "T1: x<0 x<T2 y<T2 | T2: Wx Wy" },
	{ "G-single-write, one new", "AA--A----",
	  "T1: x<0 x<0 y<T2 | T2: Wx Wy" },
	{ "G-single-3", "AAA-A----", "T2: Wx | T3: x<T2 Wy | T1: x<0 y<T3" },
	{ "G2-item", "AAAAAAAA-", "T1: x<0 y<0 Wx | T2: x<0 y<0 Wy" },
	{ "G2", "AAAAAAAA-", "T1: e3<0 e4<0 We3 Wv3 | T2: e3<0 e4<0 We4 Wv4" },
	{ "G2-two-edges", "AAAAAAAA-",
	  "T1: x<0 y<0 Wx | T2: y<0 Wy | T3: x<0 y<T2" },
	{ "L-nonmono", "A--------", "T1: Wx | T2: x<T1 Wx Wy | T3: y<T2 x<T1" },
	{ "L-fracture", "AA--A----",
	  "T1: Wx | T2: x<T1 Wx Wy | T3: x<T1 y<T2" },
	{ "L-nonrep", "AA--A----", "T2: Wx | T1: x<0 x<T2" },
	{ "L-nonrep-back", "A--------", "T2: Wx | T1: x<T2 x<0" },
	{ "L-RYW", "AA-------", "T1: Wx ; T2: x<0" },
	{ "L-MR", "AAA------", "T0: Wx | T1: x<T0 ; T2: x<0" },
	{ "L-MW", "AAA------", "T1: Wx ; T2: Wy | T3: y<T2 x<0" },
	{ "L-WFR", "AAA------", "T1: Wx | T2: x<T1 ; T3: Wy | T4: y<T3 x<0" },
	{ "L-causal", "AAA------", "T1: Wx | T2: x<T1 Wy | T3: y<T2 x<0" },
	{ "L-opposite", "AAA------",
	  "T1: Wx | T2: Wx | T3: x<T1 ; T4: x<T2 | T5: x<T2 ; T6: x<T1" },
	{ "L-longfork", "AAAAA-A--",
	  "T1: Wx | T2: Wy | T3: x<T1 y<0 | T4: x<0 y<T2" },
	{ "L-SB", "AAAA--A--", "A1: Wx ; A2: y<0 | B1: Wy ; B2: x<0" },
	{ "L-LU", "AAAAAA---", "T1: x<0 Wx | T2: x<0 Wx" },
	{ "L-cart", "AAAAAA---", "A: c<0 Wc | D: c<0 Wc | R1: c<D ; R2: c<A" },
	{ "L-skew-ww", "AAAAAA---", "T1: x<0 y<0 Wx Wz | T2: x<0 y<0 Wy Wz" },
	{ "L-WS", "AAAAAAAA-", "T1: x<0 y<0 Wx | T2: x<0 y<0 Wy" },
	{ "L-receipt", "AAAAAAAA-", "T1: b<0 Wq | T2: Wb | T3: b<T2 q<0" },
	{ "L-blind", "AAAAAAAAA", "T1: y<0 Wx | T2: Wx Wy" },
	{ "L-RC-SO", "A--------", "X: Wx | A: x<X ; B: Wx Wy | C: y<B x<X" },
	/* An aborted transaction's reads count, its writes don't. */
	{ "aborted reader", "A--------", "T1: Wx | T2!: x<T1 x<0" },
	{ "aborted writer", "AAAAAAAAA", "T1!: x<0 Wx | T2: x<0 Wx" },
	/* finally comes after everybody. */
	{ "stale end", "AA-------", "T1: Wx | * F: x<0" },
	{ "own write", "AAAAAAAAA", "T1: Wx x<self | T2: Wx x<self" },
	/* A snapshot is older than the locks that come after it. */
	{ "late lock", "AAAA-AAA-", "T1: Wx y<0 | T2: Wy x<0/X" },
};

const struct litmus_row *litmus_row(int i)
{
	return &rows[i];
}
