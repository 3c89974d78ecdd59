#include "needlegrid/hash.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hash {
    EVP_MD_CTX *context;
    bool failed; /* libcrypto refused; told at hash_hex() */
};

enum status hash_new(struct hash **out, struct error *e)
{
    struct hash *h = calloc(1, sizeof(*h));

    *out = NULL;
    if (!h)
        return error_set(e, ERR_NOMEM, "cannot allocate a hash");
    h->context = EVP_MD_CTX_new();
    if (!h->context || EVP_DigestInit_ex(h->context, EVP_sha256(), NULL) != 1) {
        hash_free(h);
        return error_set(e, ERR_UNSUPPORTED, "libcrypto offers no SHA-256");
    }
    *out = h;
    return OK;
}

void hash_free(struct hash *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->context);
    free(h);
}

void hash_bytes(struct hash *h, const void *data, size_t n)
{
    if (n && EVP_DigestUpdate(h->context, data, n) != 1)
        h->failed = true;
}

void hash_field(struct hash *h, const char *name, const void *value, size_t n)
{
    uint64_t lengths[2] = {strlen(name), n};
    unsigned char bytes[16];

    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)(lengths[i / 8] >> (8 * (i % 8)));
    hash_bytes(h, bytes, sizeof(bytes));
    hash_bytes(h, name, strlen(name));
    hash_bytes(h, value, n);
}

void hash_field_str(struct hash *h, const char *name, const char *value)
{
    hash_field(h, name, value, strlen(value));
}

void hash_field_u64(struct hash *h, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    hash_field_str(h, name, text);
}

void hash_field_f64(struct hash *h, const char *name, double value)
{
    char text[40];

    /* -0.0 equals 0.0 */
    snprintf(text, sizeof(text), "%.17g", value == 0 ? 0.0 : value);
    hash_field_str(h, name, text);
}

enum status hash_hex(struct hash *h, char hex[HASH_HEX_SIZE], struct error *e)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int n = 0;

    if (h->failed || EVP_DigestFinal_ex(h->context, digest, &n) != 1 || n != 32 ||
        EVP_DigestInit_ex(h->context, EVP_sha256(), NULL) != 1)
        return error_set(e, ERR_UNSUPPORTED, "libcrypto failed to hash");
    for (unsigned int i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return OK;
}

enum status hash_memory(const void *data, size_t n, char hex[HASH_HEX_SIZE], struct error *e)
{
    struct hash *h;
    enum status status = hash_new(&h, e);

    if (status != OK)
        return status;
    hash_bytes(h, data, n);
    status = hash_hex(h, hex, e);
    hash_free(h);
    return status;
}
