/*
 * The floor for many small artifacts: openat, fstat, read, SHA-256, compare. No grammar, no
 * authorization, no UTF-8 check, no guard against links, mounts or changes during the read.
 *
 *     floor ROOT MANIFEST
 *
 * A manifest line is "FOLDER NAME HEX", FOLDER relative to ROOT, one blank between. Consecutive
 * lines with one folder share its handle. Prints {"seconds": ..., "check": "MATCHES/LINES"}; the
 * manifest is read before the clock starts. Prototypes are declared here so that the library alone
 * is needed, without its headers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct evp_md_st EVP_MD;
EVP_MD_CTX *EVP_MD_CTX_new(void);
const EVP_MD *EVP_sha256(void);
int EVP_DigestInit_ex(EVP_MD_CTX *context, const EVP_MD *type, void *engine);
int EVP_DigestUpdate(EVP_MD_CTX *context, const void *data, size_t size);
int EVP_DigestFinal_ex(EVP_MD_CTX *context, unsigned char *digest, unsigned int *size);

struct item {
    char *folder;
    char *name;
    unsigned char digest[32];
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static size_t load(const char *path, struct item **items)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, count = 0, capacity = 0;
    if (file == NULL)
        fail("manifest");
    *items = NULL;
    while (getline(&line, &room, file) > 0) {
        char folder[512], name[256], hex[65];
        if (sscanf(line, "%511s %255s %64s", folder, name, hex) != 3 || strlen(hex) != 64) {
            fprintf(stderr, "manifest: expected FOLDER NAME HEX\n");
            exit(1);
        }
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            *items = realloc(*items, capacity * sizeof **items);
            if (*items == NULL)
                fail("memory");
        }
        struct item *item = *items + count++;
        item->folder = strdup(folder);
        item->name = strdup(name);
        if (item->folder == NULL || item->name == NULL)
            fail("memory");
        for (int i = 0; i < 32; i++)
            item->digest[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    }
    free(line);
    fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: floor ROOT MANIFEST\n");
        return 2;
    }
    struct item *items;
    size_t count = load(argv[2], &items), matches = 0, room = 1 << 16;
    unsigned char *buffer = malloc(room);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (buffer == NULL || context == NULL)
        fail("memory");
    /* Fetches the algorithm once; a later init without a type takes it over. */
    if (!EVP_DigestInit_ex(context, EVP_sha256(), NULL))
        fail("digest");

    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    int root = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder = -1;
    if (root < 0)
        fail("root");
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(items[i].folder, items[i - 1].folder) != 0) {
            if (folder >= 0)
                close(folder);
            folder = openat(root, items[i].folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (folder < 0)
                fail("folder");
        }
        int file = openat(folder, items[i].name, O_RDONLY | O_CLOEXEC);
        struct stat facts;
        if (file < 0 || fstat(file, &facts) != 0)
            fail("open");
        if ((size_t)facts.st_size > room) {
            room = (size_t)facts.st_size;
            buffer = realloc(buffer, room);
            if (buffer == NULL)
                fail("memory");
        }
        ssize_t size = read(file, buffer, (size_t)facts.st_size);
        if (size != facts.st_size)
            fail("read");
        unsigned char digest[32];
        if (!EVP_DigestInit_ex(context, NULL, NULL) ||
            !EVP_DigestUpdate(context, buffer, (size_t)size) ||
            !EVP_DigestFinal_ex(context, digest, NULL))
            fail("digest");
        matches += memcmp(digest, items[i].digest, sizeof digest) == 0;
        close(file);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec)
                   + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("{\"seconds\": %.9f, \"check\": \"%zu/%zu\"}\n", seconds, matches, count);
    return matches == count ? 0 : 1;
}
