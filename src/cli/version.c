#include "cli_impl.h"

#ifndef NEEDLEGRID_VERSION
#define NEEDLEGRID_VERSION "unknown"
#endif

const char needlegrid_version[] = NEEDLEGRID_VERSION;
