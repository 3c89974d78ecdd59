# needlegrid. `make help` lists the targets.
#
#   make deps demo     install what is needed, build, run the first sweep, print two heatmaps
#   make deps test     install what is needed, run the tests
#
# Variables: CC, CFLAGS, WERROR=1, SANITIZE=address,undefined, FUZZ=1 (clang), V=1, PREFIX, DESTDIR.

PREFIX ?= /usr/local
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

# ---- configurations: objects of each lie apart ----

comma := ,
CONFIG := $(notdir $(CC))$(if $(WERROR),-werror)$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))$(if $(FUZZ),-fuzz)
BUILD := build/$(CONFIG)

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
ALL_CFLAGS := -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude -ffp-contract=off \
	$(WARNINGS) $(if $(WERROR),-Werror) $(CFLAGS)
LDLIBS := -lm -lpthread
ifneq ($(SANITIZE),)
ALL_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=$(SANITIZE)
endif
ifneq ($(FUZZ),)
ALL_CFLAGS += -fsanitize=fuzzer-no-link
endif

# ---- packages ----

PACKAGES := libcjson libpcre2-8 sqlite3 libcrypto
TEST_PACKAGES := cmocka
DEBIAN := gcc make pkg-config git libcjson-dev libpcre2-dev libsqlite3-dev libssl-dev \
	libcmocka-dev sqlite3
DEBIAN_libcjson := libcjson-dev
DEBIAN_libpcre2-8 := libpcre2-dev
DEBIAN_sqlite3 := libsqlite3-dev
DEBIAN_libcrypto := libssl-dev
DEBIAN_cmocka := libcmocka-dev

NO_PACKAGES_NEEDED := deps help clean lint format
ifneq ($(filter-out $(NO_PACKAGES_NEEDED),$(or $(MAKECMDGOALS),all)),)
# Recipes run in the order of the goals, so `make deps demo` must not look before deps has run:
# the second half is a make of its own.
ifeq ($(filter deps,$(MAKECMDGOALS)),)
missing := $(strip $(if $(shell command -v pkg-config),$(foreach p,$(PACKAGES) $(TEST_PACKAGES),\
	$(shell pkg-config --exists $p || echo $(DEBIAN_$p))),pkg-config))
ifneq ($(missing),)
$(error missing $(missing): run `make deps`, or `apt-get install $(missing)`)
endif
ALL_CFLAGS += $(shell pkg-config --cflags $(PACKAGES))
LDLIBS += $(shell pkg-config --libs $(PACKAGES))
TEST_LDLIBS := $(shell pkg-config --libs $(TEST_PACKAGES))
endif
endif

# ---- files ----

SOURCES := $(wildcard src/*/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY := $(BUILD)/libneedlegrid.a
PROGRAM := $(BUILD)/needlegrid
UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
CONFORMANCE := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/conformance/conform_*.c))
TEST_SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))

Q := $(if $(V),,@)

.SECONDARY: # keep the tests' objects
.PHONY: all deps demo test test-programs unit-test cli-test conformance fuzz lint format bench install help clean

all: $(PROGRAM) needlegrid

# ---- deps first: the other goals then run in a make that sees the new packages ----

ifneq ($(filter deps,$(MAKECMDGOALS)),)
OTHER_GOALS := $(filter-out deps,$(MAKECMDGOALS))
$(OTHER_GOALS): deps
	@:
endif

deps:
	$(Q)./bench/deps.sh $(DEBIAN)
	$(if $(OTHER_GOALS),+$(Q)$(MAKE) --no-print-directory $(OTHER_GOALS))

ifeq ($(filter deps,$(MAKECMDGOALS)),)

# ---- build ----

$(BUILD)/src/kernel/%.o: OPT := -O3
# Each instruction set compiles in its own file with its own flags.
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
$(BUILD)/src/kernel/kernel_avx2.o: OPT := -O3 -mavx2 -mfma -mf16c
$(BUILD)/src/kernel/kernel_avx512.o: OPT := -O3 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c
endif

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(ALL_CFLAGS) $(OPT) -MMD -MP -c $< -o $@

# The version changes with each commit; only the file that holds it is compiled anew.
$(BUILD)/version.txt: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@
$(BUILD)/src/cli/version.o: $(BUILD)/version.txt
$(BUILD)/src/cli/version.o: ALL_CFLAGS += -DNEEDLEGRID_VERSION='"$(VERSION)"'
.PHONY: FORCE

$(LIBRARY): $(filter-out $(BUILD)/src/cli/main.o,$(OBJECTS))
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(PROGRAM): $(BUILD)/src/cli/main.o $(LIBRARY)
	$(if $(V),,@echo "  LD    $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

# The program of the last build, where README and scripts expect it.
needlegrid: $(PROGRAM)
	$(Q)ln -sf $< $@

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_SUPPORT) $(LIBRARY)
	$(if $(V),,@echo "  LD    $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) $(TEST_LDLIBS) -o $@

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(LIBRARY)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(if $(FUZZ),-fsanitize=fuzzer) $^ $(LDLIBS) -o $@

$(BUILD)/bench/%: $(BUILD)/bench/%.o $(LIBRARY)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# ---- run ----

demo: all
	$(Q)./bench/demo.sh ./needlegrid

test: all $(UNIT_TESTS)
	$(Q)./tests/run.sh $(PROGRAM) $(UNIT_TESTS)

test-programs: $(UNIT_TESTS)

unit-test: $(UNIT_TESTS)
	$(Q)./tests/run.sh "" $(UNIT_TESTS)

cli-test: all
	$(Q)./tests/run.sh $(PROGRAM)

# Against reference data: make conformance DATA=folder
conformance: all $(CONFORMANCE)
	$(Q)test -n "$(DATA)" || { echo "say where the data lies: make conformance DATA=folder"; exit 2; }
	$(Q)set -e; for t in $(CONFORMANCE); do $$t "$(DATA)"; done

# Fuzzers need clang: make fuzz CC=clang FUZZ=1 SANITIZE=address,undefined SECONDS_EACH=600
SECONDS_EACH ?= 60
fuzz: $(FUZZERS)
	$(Q)test -n "$(FUZZ)" || { echo "run: make fuzz CC=clang FUZZ=1 SANITIZE=address,undefined"; exit 2; }
	$(Q)set -e; for f in $(FUZZERS); do ./tests/fuzz/run.sh $$f $(SECONDS_EACH); done

bench: $(BUILD)/bench/speed
	$(Q)set -e; for m in models/*.gguf; do $< $$m; done

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/needlegrid
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/needlegrid
	cp -R models prompts haystacks $(DESTDIR)$(PREFIX)/share/needlegrid/

endif

lint:
	$(Q)./tests/lint/lint.sh

format:
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build needlegrid

help:
	@echo "make deps         install the packages it needs (apt; elsewhere says which)"
	@echo "make              build ./needlegrid"
	@echo "make demo         sweep the shipped Softmax and SSMax models, print two heatmaps"
	@echo "make test         unit tests and command-line tests"
	@echo "make conformance DATA=folder   logits and token ids against reference data"
	@echo "make fuzz CC=clang FUZZ=1 SANITIZE=address,undefined"
	@echo "make lint         format, static analysis, include laws, size limits"
	@echo "make bench        prefill and decode speed of the shipped models"
	@echo "make install      into PREFIX (default /usr/local), under DESTDIR"
	@echo "SANITIZE=address,undefined builds any of these with sanitizers, apart from the rest"
