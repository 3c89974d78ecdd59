/* needlegrid info: what matters about a model for long contexts. */
#include "cli_impl.h"

#include "needlegrid/session.h"
#include "needlegrid/tokenizer.h"

#include <string.h>

static const struct option options[] = {
    {"attention", "RULE", "model", "show the model as run under this rule", false},
    {"isa", "NAME", NULL, "instruction set whose cache layout is counted", false},
    {NULL, NULL, NULL, NULL, false},
};

/* Read from the header alone: the weights are not touched, so a file of any type is described. */
struct facts {
    struct gguf *g;
    const struct kernels *kernels;
    struct model_config config;
    struct attention_rule rule;
    struct tokenizer *tokenizer; /* NULL if it is of a kind this version does not run */
    struct error tokenizer_error;
};

static enum status open_facts(struct facts *f, const struct args *a, struct error *e)
{
    struct attention_choice choice;

    if (kernels_select(&f->kernels, args_get(a, "isa"), e) != OK ||
        attention_choice_parse(&choice, args_get(a, "attention"), e) != OK ||
        gguf_open(&f->g, args_positional(a, 0), e) != OK ||
        model_read_config(&f->config, f->g, e) != OK ||
        attention_rule_load(&f->rule, f->g, &choice, f->config.n_layer, f->config.n_head,
                            f->config.training_length, e) != OK)
        return e->code;
    if (tokenizer_from_gguf(&f->tokenizer, f->g, &f->tokenizer_error) != OK)
        f->tokenizer = NULL;
    return OK;
}

/* Weights, the scales of the attention rule included. */
static unsigned long long count_parameters(const struct gguf *g)
{
    unsigned long long sum = 0;

    for (size_t i = 0; i < gguf_tensor_count(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        sum += t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];
    }
    return sum;
}

static void append_types(const struct facts *f, struct buf *out)
{
    size_t n = gguf_tensor_count(f->g);
    const char *separator = " (";
    char name[24];

    buf_printf(out, "tensors           %zu", n);
    for (uint32_t type = 0; type < 64; type++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            count += gguf_tensor_at(f->g, i)->type == type;
        if (count) {
            buf_printf(out, "%s%zu %s", separator, count, gguf_tensor_type_name(type, name));
            separator = ", ";
        }
    }
    buf_puts(out, ")\n");
}

static void append_scales(const struct attention_rule *r, struct buf *out)
{
    for (size_t layer = 0; r->scale && layer < r->n_layer; layer++) {
        buf_printf(out, "  layer %-3zu s     ", layer);
        for (size_t h = 0; h < r->n_head; h++)
            buf_printf(out, " %.4f", (double)r->scale[layer * r->n_head + h]);
        for (size_t h = 0; r->bias && h < r->n_head; h++)
            buf_printf(out, "%s %.4f", h ? "" : "   b", (double)r->bias[layer * r->n_head + h]);
        buf_putc(out, '\n');
    }
}

static void append_attention(const struct facts *f, struct buf *out)
{
    const struct attention_rule *r = &f->rule;

    buf_printf(out, "attention rule    %s", attention_kind_name(r->kind));
    if (*r->detail)
        buf_printf(out, " (%s)", r->detail);
    buf_putc(out, '\n');
    append_scales(r, out);
}

static void append_dimensions(const struct facts *f, struct buf *out)
{
    const struct model_config *c = &f->config;
    size_t cache = session_bytes_per_token(c, f->kernels);

    buf_printf(out, "parameters        %llu\n", count_parameters(f->g));
    append_types(f, out);
    buf_printf(out, "training length   %zu tokens\n", c->training_length);
    buf_printf(out, "layers            %zu, width %zu, feed-forward %zu\n", c->n_layer, c->dim,
               c->n_ff);
    buf_printf(out, "heads             %zu, key-value heads %zu, head dimension %zu\n", c->n_head,
               c->n_kv_head, c->head_dim);
    buf_printf(out, "rope              theta %g, %zu dimensions, positions divided by %g\n",
               c->rope_theta, c->n_rot, c->rope_scale);
    append_attention(f, out);
    buf_printf(out, "KV cache          %zu bytes per token, %.1f MiB at 32768 tokens\n", cache,
               (double)cache * 32768 / 0x1p20);
}

static void append_tokenizer(const struct facts *f, struct buf *out)
{
    if (!f->tokenizer) {
        buf_printf(out, "tokenizer         %s\n", f->tokenizer_error.message);
        return;
    }
    buf_printf(out, "tokenizer         %zu tokens, BOS %d%s, EOS %d\n",
               tokenizer_size(f->tokenizer), tokenizer_bos(f->tokenizer),
               tokenizer_wants_bos(f->tokenizer) ? " before each prompt" : "",
               tokenizer_eos(f->tokenizer));
}

static int run(const struct args *a, struct error *e)
{
    struct facts f = {.g = NULL};
    struct buf out = BUF_INIT(1 << 20);
    char name[MODEL_NAME_SIZE];
    int code = EXIT_USAGE;

    if (open_facts(&f, a, e) == OK && model_name(name, f.g, e) == OK) {
        buf_printf(&out, "model             %s\n", name);
        buf_printf(&out, "file              %s, GGUF version %u, %zu bytes\n", gguf_path(f.g),
                   gguf_version(f.g), gguf_file_size(f.g));
        append_dimensions(&f, &out);
        append_tokenizer(&f, &out);
        code = write_stdout(&out, e) == OK ? EXIT_PASSED : EXIT_INCOMPLETE;
    }
    buf_release(&out);
    attention_rule_release(&f.rule);
    tokenizer_free(f.tokenizer);
    gguf_close(f.g);
    return code;
}

const struct command command_info = {
    .name = "info",
    .positional = "MODEL",
    .min_positional = 1,
    .max_positional = 1,
    .summary = "what matters about a GGUF model for long contexts",
    .options = options,
    .examples = "  needlegrid info models/tiny-ssmax.gguf\n",
    .run = run,
};
