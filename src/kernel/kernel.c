/* Choosing a table of kernels by CPU or by name. */
#include "kernel_impl.h"

#include "needlegrid/buf.h"

#include <string.h>

static bool cpu_has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool cpu_has_avx512(void)
{
#if defined(__x86_64__)
    return cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

size_t kernels_available(const struct kernels *out[4])
{
    size_t n = 0;

    out[n++] = &kernels_generic;
    if (kernels_avx2 && cpu_has_avx2())
        out[n++] = kernels_avx2;
    if (kernels_avx512 && cpu_has_avx512())
        out[n++] = kernels_avx512;
    out[n] = NULL;
    return n;
}

enum status kernels_select(const struct kernels **out, const char *isa, struct error *e)
{
    const struct kernels *available[4];
    size_t n = kernels_available(available);
    struct buf names = BUF_INIT(256);

    *out = available[n - 1];
    if (!isa)
        return OK;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(available[i]->name, isa) == 0) {
            *out = available[i];
            buf_release(&names);
            return OK;
        }
        buf_printf(&names, "%s%s", i ? ", " : "", available[i]->name);
    }
    error_set(e, ERR_USAGE, "no kernels for instruction set \"%s\" on this CPU; it runs: %s", isa,
              buf_str(&names));
    buf_release(&names);
    return e->code;
}
