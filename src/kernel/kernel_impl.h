/* The tables of the single instruction sets; each is NULL where the build has none. */
#ifndef NEEDLEGRID_KERNEL_IMPL_H
#define NEEDLEGRID_KERNEL_IMPL_H

#include "needlegrid/kernel.h"

extern const struct kernels *const kernels_avx2;
extern const struct kernels *const kernels_avx512;

/*
 * 2^f on [-1/2, 1/2] as 1 + c1 f + ... + c6 f^6: minimax in relative error (Remez exchange in
 * double with c0 fixed at 1), 2.6e-9 before rounding to float.
 */
#define EXP2_C0 1.0f
#define EXP2_C1 0.6931472149680388f
#define EXP2_C2 0.24022652782875986f
#define EXP2_C3 0.05550310550996972f
#define EXP2_C4 0.00961769297491022f
#define EXP2_C5 0.0013406643904668742f
#define EXP2_C6 0.00015594677542570923f

/* 2^x is flushed below this exponent: smaller than any normal float's share of a sum. */
#define EXP2_MIN (-126.0f)
#define EXP2_MAX (126.0f)

#define LOG2_E 1.44269504088896340736f

#endif
