/* The plan's order is a walk over the prefix tree of its prompts: no token is evaluated twice. */
#include "needlegrid/os.h"
#include "needlegrid/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct fixture {
    struct gguf *g;
    struct tokenizer *tokenizer;
    struct prompt_template *tpl;
    struct sweep sweep;
};

static const size_t lengths[] = {256, 300, 512, 1024};
static const double depths[] = {0, 10, 25, 50, 75, 90, 100};

static void open_fixture(struct fixture *f)
{
    struct error e;

    if (gguf_open(&f->g, "models/tiny-ssmax.gguf", &e) != OK ||
        tokenizer_from_gguf(&f->tokenizer, f->g, &e) != OK ||
        template_open(&f->tpl, "tokyo", "prompts", &e) != OK)
        fail_msg("%s", e.message);
    f->sweep = (struct sweep){
        .tpl = f->tpl,
        .haystack = "essays",
        .haystack_folder = "haystacks",
        .lengths = lengths,
        .n_lengths = sizeof(lengths) / sizeof(lengths[0]),
        .depths = depths,
        .n_depths = sizeof(depths) / sizeof(depths[0]),
        .samples = 3,
        .seed = 5,
    };
}

static void close_fixture(struct fixture *f)
{
    template_free(f->tpl);
    tokenizer_free(f->tokenizer);
    gguf_close(f->g);
}

static void make(struct plan *p, const struct fixture *f)
{
    struct error e;

    if (plan_make(p, &f->sweep, f->tokenizer, &e) != OK)
        fail_msg("%s", e.message);
}

static int by_tokens(const void *a, const void *b)
{
    const struct tokens *x = a;
    const struct tokens *y = b;

    for (size_t i = 0; i < x->n && i < y->n; i++) {
        if (x->ids[i] != y->ids[i])
            return x->ids[i] < y->ids[i] ? -1 : 1;
    }
    return x->n < y->n ? -1 : x->n > y->n;
}

static size_t common(const struct tokens *a, const struct tokens *b)
{
    size_t n = 0;

    while (n < a->n && n < b->n && a->ids[n] == b->ids[n])
        n++;
    return n;
}

/* Nodes of the prefix tree: in sorted order each prompt adds what it does not share. */
static size_t tree_size(struct plan *p)
{
    struct tokens *prompts = calloc(p->n, sizeof(*prompts));
    size_t nodes = 0;
    struct error e;

    assert_non_null(prompts);
    for (size_t i = 0; i < p->n; i++) {
        struct trial t = {.needle_at = 0};
        assert_int_equal(plan_build(p, i, &t, &e), OK);
        assert_int_equal(tokens_append(&prompts[i], t.prompt.ids, t.prompt.n, &e), OK);
        trial_release(&t);
    }
    qsort(prompts, p->n, sizeof(*prompts), by_tokens);
    for (size_t i = 0; i < p->n; i++)
        nodes += prompts[i].n - (i ? common(&prompts[i - 1], &prompts[i]) : 0);
    for (size_t i = 0; i < p->n; i++)
        tokens_release(&prompts[i]);
    free(prompts);
    return nodes;
}

static void each_token_of_the_tree_is_evaluated_once(void **state)
{
    static const char *const haystacks[] = {"essays", "prose", "noise"};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    f.sweep.samples = 1;
    for (size_t i = 0; i < 3; i++) {
        for (f.sweep.seed = 0; f.sweep.seed < 10; f.sweep.seed++) {
            struct plan p;
            f.sweep.haystack = haystacks[i];
            make(&p, &f);
            assert_int_equal(p.n, 4 * 7);
            assert_int_equal(p.prompt_tokens - p.shared_tokens, tree_size(&p));
            assert_true(p.shared_tokens > p.prompt_tokens / 3);
            plan_release(&p);
        }
    }
    close_fixture(&f);
}

/* Each shipped task: with all its needles, with more, and packed, in haystacks that repeat or not.
 */
static void check_task(struct fixture *f, const char *name)
{
    static const char *const haystacks[] = {NULL, "noise", "prose"};
    static const size_t long_lengths[] = {2000, 2100, 3000};
    static const size_t distractors = 6;
    struct sweep *s = &f->sweep;
    struct error e;

    template_free(f->tpl);
    if (template_open(&f->tpl, name, "prompts", &e) != OK)
        fail_msg("%s", e.message);
    s->tpl = f->tpl;
    s->lengths = long_lengths;
    s->n_lengths = 3;
    s->samples = 1;
    for (s->seed = 0; s->seed < 6; s->seed++) {
        struct plan p;
        bool many = f->tpl->kind == TASK_NEEDLES && f->tpl->queries == 1;
        s->haystack = haystacks[s->seed % 3];
        s->distractors = many && s->seed % 2 ? &distractors : NULL;
        s->packed = many && s->seed >= 3;
        make(&p, f);
        assert_int_equal(p.n, 3 * sweep_depths(s));
        assert_int_equal(sweep_depths(s), f->tpl->kind == TASK_NEEDLES ? 7 : 1);
        if (p.prompt_tokens - p.shared_tokens != tree_size(&p))
            fail_msg("%s, seed %d: %zu tokens, and the tree has %zu", name, (int)s->seed,
                     (size_t)(p.prompt_tokens - p.shared_tokens), tree_size(&p));
        plan_release(&p);
    }
}

static void every_task_walks_its_tree(void **state)
{
    struct fixture f;
    char **names;
    size_t n;
    struct error e;

    (void)state;
    open_fixture(&f);
    assert_int_equal(os_list(&names, &n, "prompts", ".json", &e), OK);
    assert_true(n >= 20);
    for (size_t i = 0; i < n; i++) {
        names[i][strlen(names[i]) - strlen(".json")] = '\0';
        check_task(&f, names[i]);
    }
    os_names_free(names, n);
    close_fixture(&f);
}

/* One context, all its questions: everything but the question is evaluated once. */
static void packed_prompts_share_all_but_the_question(void **state)
{
    struct fixture f;
    struct plan p;

    (void)state;
    open_fixture(&f);
    f.sweep.packed = true;
    f.sweep.n_lengths = 4;
    make(&p, &f);
    for (size_t i = 0; i < p.n; i++) {
        const struct plan_item *item = &p.items[i];
        bool first = i == 0 || item[-1].spec.sample != item->spec.sample ||
                     item[-1].spec.context_length != item->spec.context_length;
        assert_true(first || item->prompt_tokens - item->shared < 30);
    }
    plan_release(&p);
    close_fixture(&f);
}

static void tasks_have_names(void **state)
{
    struct fixture f;
    struct buf name = BUF_INIT(100);

    (void)state;
    open_fixture(&f);
    sweep_task(&f.sweep, &name);
    assert_string_equal(buf_str(&name), "single");
    assert_string_equal(sweep_haystack(&f.sweep), "essays");
    f.sweep.packed = true;
    f.sweep.haystack = NULL;
    buf_clear(&name);
    sweep_task(&f.sweep, &name);
    assert_string_equal(buf_str(&name), "single-packed");
    assert_string_equal(sweep_haystack(&f.sweep), "essays");
    buf_release(&name);
    close_fixture(&f);
}

/* Samples follow one another; what they share by chance, a few first words, may be lost. */
static void samples_cost_little_more_than_the_tree(void **state)
{
    struct fixture f;
    struct plan p;

    (void)state;
    open_fixture(&f);
    make(&p, &f);
    assert_in_range(p.prompt_tokens - p.shared_tokens, tree_size(&p), tree_size(&p) + 3 * 8);
    plan_release(&p);
    close_fixture(&f);
}

static void every_combination_is_planned_once(void **state)
{
    bool seen[4][7][3] = {{{false}}};
    struct fixture f;
    struct plan p;

    (void)state;
    open_fixture(&f);
    make(&p, &f);
    for (size_t i = 0; i < p.n; i++) {
        const struct trial_spec *s = &p.items[i].spec;
        size_t l = 0, d = 0;
        while (lengths[l] != s->context_length)
            l++;
        while (depths[d] < s->depth)
            d++;
        assert_false(seen[l][d][s->sample]);
        seen[l][d][s->sample] = true;
        assert_int_equal(s->seed, 5);
    }
    plan_release(&p);
    close_fixture(&f);
}

static void too_short_a_length_names_the_minimum(void **state)
{
    static const size_t short_lengths[] = {20, 256};
    struct fixture f;
    struct plan p;
    struct error e;

    (void)state;
    open_fixture(&f);
    f.sweep.lengths = short_lengths;
    f.sweep.n_lengths = 2;
    assert_int_equal(plan_make(&p, &f.sweep, f.tokenizer, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "20"));
    assert_non_null(strstr(e.message, "minimum"));
    assert_null(p.items);
    close_fixture(&f);
}

/* Essays hold about 46k of this tokenizer's tokens: 16k is more than a quarter. */
static void a_short_text_gives_way_to_prose(void **state)
{
    static const size_t long_lengths[] = {1024, 16384};
    static const double two[] = {0, 50};
    struct fixture f;
    struct plan p;

    (void)state;
    open_fixture(&f);
    f.sweep.lengths = long_lengths;
    f.sweep.n_lengths = 2;
    f.sweep.depths = two;
    f.sweep.n_depths = 2;
    make(&p, &f);
    assert_int_equal(p.substitute_from, 16384);
    for (size_t i = 0; i < p.n; i++)
        assert_string_equal(plan_haystack_name(&p, i),
                            p.items[i].spec.context_length == 1024 ? "essays" : "prose");
    plan_release(&p);
    f.sweep.fill = FILL_REPEAT;
    make(&p, &f);
    assert_int_equal(p.substitute_from, 0);
    plan_release(&p);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_token_of_the_tree_is_evaluated_once),
        cmocka_unit_test(every_task_walks_its_tree),
        cmocka_unit_test(packed_prompts_share_all_but_the_question),
        cmocka_unit_test(tasks_have_names),
        cmocka_unit_test(samples_cost_little_more_than_the_tree),
        cmocka_unit_test(every_combination_is_planned_once),
        cmocka_unit_test(too_short_a_length_names_the_minimum),
        cmocka_unit_test(a_short_text_gives_way_to_prose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
