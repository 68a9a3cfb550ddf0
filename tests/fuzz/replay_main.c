/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target without the fuzzer: takes the files that are named, or that lie in the folders that are named, one after
 * the other, and says how many there were.  An input that breaks something ends it, as it would end the fuzzer.
 * usage: replay/fuzz_NAME FILE-OR-FOLDER... */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

/* What mutators ask the fuzzer for: nothing is changed here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    (void)data;
    return size < most ? size : most;
}

enum { SIZE_MOST = 1 << 20, PATH_BYTES = 4096 };

static unsigned long count;

static void take_file(const char *path)
{
    static uint8_t whole[SIZE_MOST];
    FILE *const file = fopen(path, "rb");
    uint8_t *exact; /* so that a step past its end is seen */
    size_t size;

    if (!file) {
        perror(path);
        exit(2);
    }
    size = fread(whole, 1, sizeof(whole), file);
    (void)fclose(file);
    exact = malloc(size ? size : 1);
    if (!exact)
        exit(2);
    memcpy(exact, whole, size);
    (void)fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    count++;
}

static void take(const char *path)
{
    char inside[PATH_BYTES];
    struct dirent **names;
    struct stat info;
    int n;

    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        take_file(path);
        return;
    }
    n = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        (void)snprintf(inside, sizeof(inside), "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            take(inside);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize)
        (void)LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        take(argv[i]);
    (void)printf("%lu inputs\n", count);
    return 0;
}
