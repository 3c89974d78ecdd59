#include "cli_impl.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {
    &command_run,    &command_heatmap,     &command_summary,   &command_show,
    &command_export, &command_reconstruct, &command_attention, &command_score,
    &command_plan,   &command_info,        &command_list,
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_overview(FILE *f)
{
    fprintf(f, "needlegrid: needle-in-a-haystack evaluation of long-context language models\n\n"
               "usage: needlegrid COMMAND [options]\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(f, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(f,
            "\n`needlegrid COMMAND --help` describes a command; `needlegrid --version` says which "
            "version this is.\n"
            "Exit status: 0 done, 2 usage or configuration, 3 run incomplete.\n");
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static int fail(int code, const struct error *e)
{
    fprintf(stderr, "needlegrid: %s\n", e->message);
    return code;
}

/* `code`, unless stdout could not take what was printed. */
static int finish(int code)
{
    struct error e;

    return flush_stdout(&e) == OK ? code : fail(EXIT_INCOMPLETE, &e);
}

static int run_command(const struct command *c, int argc, char **argv)
{
    struct error e = {.code = OK};
    struct args *a;
    int code;

    if (args_parse(&a, c, argc, argv, &e) != OK)
        return fail(EXIT_USAGE, &e);
    if (args_wants_help(a)) {
        print_help(c);
        code = EXIT_PASSED;
    } else {
        code = c->run(a, &e);
    }
    args_free(a);
    if (code != EXIT_PASSED && e.code != OK)
        return fail(code, &e);
    return finish(code);
}

int main(int argc, char **argv)
{
    const struct command *c;

    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is then an error like a full disk */
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_overview(stdout);
        return finish(EXIT_PASSED);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("needlegrid %s\n", needlegrid_version);
        return finish(EXIT_PASSED);
    }
    c = find_command(argv[1]);
    if (!c) {
        fprintf(stderr, "needlegrid: unknown command \"%s\"; `needlegrid --help` lists them\n",
                argv[1]);
        return EXIT_USAGE;
    }
    return run_command(c, argc - 2, argv + 2);
}
