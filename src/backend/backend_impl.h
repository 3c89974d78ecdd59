/* What a backend fills in. The concrete struct begins with a `struct backend`. */
#ifndef NEEDLEGRID_BACKEND_IMPL_H
#define NEEDLEGRID_BACKEND_IMPL_H

#include "needlegrid/backend.h"

struct backend {
    enum status (*prepare)(struct backend *b, size_t max_context, struct error *e);
    enum status (*complete)(struct backend *b, const struct completion_request *r,
                            struct completion *out, struct error *e);
    void (*close)(struct backend *b);
    struct backend_info info;
};

#endif
