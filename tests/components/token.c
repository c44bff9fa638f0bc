/* A hardware token without hardware: as much of what OpenSSH asks of one (PROTOCOL.u2f, sk-api.h) as an Ed25519 key needs.
   What it gives out as the handle of a key is the key itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of OpenSSL, whose headers need not be there. */
void *EVP_PKEY_new_raw_private_key(int, void *, const unsigned char *, size_t);
int EVP_PKEY_get_raw_public_key(const void *, unsigned char *, size_t *);
void *EVP_MD_CTX_new(void);
int EVP_DigestSignInit(void *, void **, const void *, void *, void *);
int EVP_DigestSign(void *, unsigned char *, size_t *, const unsigned char *, size_t);
unsigned char *SHA256(const unsigned char *, size_t, unsigned char *);
int RAND_bytes(unsigned char *, int);

enum { SK_ED25519 = 1, NID_ED25519 = 1087, UNSUPPORTED = -2, TOUCHED = 1, KEY = 32, SIGNATURE = 64, COUNT = 7 };

struct enrolled {
    uint8_t flags;
    uint8_t *public_key;
    size_t public_key_len;
    uint8_t *key_handle;
    size_t key_handle_len;
    uint8_t *signature;
    size_t signature_len;
    uint8_t *certificate;
    size_t certificate_len;
    uint8_t *authdata;
    size_t authdata_len;
};

struct signed_by {
    uint8_t flags;
    uint32_t counter;
    uint8_t *r;
    size_t r_len;
    uint8_t *s;
    size_t s_len;
};

static uint8_t *copy(const uint8_t *bytes, size_t length) {
    return memcpy(malloc(length), bytes, length);
}

uint32_t sk_api_version(void) {
    return 0x000a0000;
}

int sk_enroll(uint32_t kind, const uint8_t *challenge, size_t length, const char *application, uint8_t flags,
              const char *pin, void **options, struct enrolled **out) {
    uint8_t key[KEY], public_key[KEY];
    size_t size = KEY;
    struct enrolled *made = calloc(1, sizeof *made);
    (void)challenge, (void)length, (void)application, (void)pin, (void)options;
    if (kind != SK_ED25519 || RAND_bytes(key, KEY) != 1)
        return UNSUPPORTED;
    EVP_PKEY_get_raw_public_key(EVP_PKEY_new_raw_private_key(NID_ED25519, 0, key, KEY), public_key, &size);
    made->flags = flags;
    made->public_key = copy(public_key, made->public_key_len = KEY);
    made->key_handle = copy(key, made->key_handle_len = KEY);
    /* It attests nothing. */
    made->signature = calloc(1, made->signature_len = 1);
    made->certificate = calloc(1, made->certificate_len = 1);
    made->authdata = calloc(1, made->authdata_len = 1);
    *out = made;
    return 0;
}

int sk_sign(uint32_t kind, const uint8_t *data, size_t length, const char *application, const uint8_t *key,
            size_t key_length, uint8_t flags, const char *pin, void **options, struct signed_by **out) {
    /* The digest of the application, the flags, the count, the digest of the data. */
    uint8_t message[32 + 1 + 4 + 32] = {0}, signature[SIGNATURE];
    size_t size = SIGNATURE;
    void *context = EVP_MD_CTX_new();
    struct signed_by *made = calloc(1, sizeof *made);
    (void)pin, (void)options;
    if (kind != SK_ED25519 || key_length != KEY)
        return UNSUPPORTED;
    if (getenv("TOKEN_UNTOUCHED"))
        flags &= ~TOUCHED;
    SHA256((const uint8_t *)application, strlen(application), message);
    message[32] = flags;
    message[36] = COUNT;
    SHA256(data, length, message + 37);
    EVP_DigestSignInit(context, 0, 0, 0, EVP_PKEY_new_raw_private_key(NID_ED25519, 0, key, KEY));
    EVP_DigestSign(context, signature, &size, message, sizeof message);
    made->flags = flags;
    made->counter = COUNT;
    made->r = copy(signature, made->r_len = SIGNATURE);
    *out = made;
    return 0;
}

int sk_load_resident_keys(const char *pin, void **options, void ***keys, size_t *count) {
    (void)pin, (void)options, (void)keys;
    *count = 0;
    return 0;
}
