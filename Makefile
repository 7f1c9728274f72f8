# make                 the libraries, the poseidon command and the examples
# make demo            a first look: LeNet learns Fashion-MNIST
# make unit            every *_test.c beside the sources, one program each
# make test            all of that, the whole-system tests, old fuzz finds, examples, installation
# make SAN=thread unit the same under a sanitizer (address,undefined or thread)
# make check           format, layers, headers, exports, manual pages, nets, clang-tidy
# make fuzz            every fuzz target for SECONDS=20
# make bench           the tables of bench/
# make install         into PREFIX=/usr/local (DESTDIR is respected)
# make uninstall       takes it away again
# make clean           removes build/
#
# Sources, tests, fuzz targets, benchmarks and examples are found by their place and name; adding
# one needs no edit here. Each target first installs the Debian packages it lacks (tools/packages;
# SETUP=no leaves the machine as it is). CC, OPT, CFLAGS, CPPFLAGS and LDFLAGS are respected, V=1
# shows whole commands, WERROR= lets warnings pass. Builds with another CC, SAN or OPT live side by
# side in build/.

# --- choices -------------------------------------------------------------------------------------
PREFIX     ?= /usr/local
override PREFIX := $(abspath $(PREFIX))
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
SECONDS    ?= 20
OPT        ?= $(OPT_USUAL)
WERROR     ?= -Werror
OPT_USUAL  := $(if $(SAN),-O1 -g1,-O2 -g)
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG_FORMAT ?= clang-format
CLANG_TIDY   ?= clang-tidy
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc) # a -j on the command line wins
endif

comma := ,
space := $(subst ,, )
BUILD := $(notdir $(CC)) $(subst $(comma), ,$(SAN)) \
         $(patsubst -%,%,$(filter-out $(OPT_USUAL),$(OPT)))
BUILD := build/$(subst $(space),-,$(strip $(BUILD)))
GEN   := $(BUILD)/gen

VERSION   := $(shell sed -n 's/^.define PSD_VERSION  *"\(.*\)"/\1/p' include/poseidon/status.h)
SOVERSION := $(basename $(VERSION))
# Before 1.0 every minor release changes the soname.

# --- flags ---------------------------------------------------------------------------------------
# Results are part of the contract, to the bit: -ffp-contract=off is in, -ffast-math stays out.
# -fno-math-errno changes none: a root of a negative number sets no errno, so that roots vectorize.
WARN := -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow \
        -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wformat=2 -Wcast-qual \
        -Wwrite-strings $(WERROR)
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
FORTIFY  := $(if $(SAN)$(findstring FORTIFY,$(CFLAGS) $(CPPFLAGS)),,\
            $(if $(filter -O1 -O2 -O3 -Os,$(OPT)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
BASE := -std=c17 $(OPT) -ffp-contract=off -fno-math-errno -D_GNU_SOURCE -fvisibility=hidden -fPIC \
        -pthread -fstack-protector-strong $(FORTIFY) $(SANITIZE)
ROOMS  := -Iinclude -Isrc -Itests -isystem $(GEN)
LINK   := -pthread $(SANITIZE) -Wl,--as-needed,-z,relro,-z,now
SHARED := -shared $(if $(SAN),,-Wl,-z,defs) -Wl,--version-script=$(GEN)/exports.map
LIBS   := -ldl -lprotobuf-c -llmdb -ljpeg -lpng -lz -ldnnl -lgomp -lssl -lcrypto -lm

# --- optional parts: NAME:MODULE, such as ucx:ucx ------------------------------------------------
# Where pkg-config finds MODULE, the folders src/*/NAME are built and linked, PSD_HAVE_NAME is 1 and
# `poseidon --version` lists NAME; where not, they are left out and PSD_HAVE_NAME is 0.
OPTIONAL :=
name      = $(firstword $(subst :, ,$1))
module    = $(lastword $(subst :, ,$1))
PARTS    := $(foreach part,$(OPTIONAL),$(if \
            $(shell pkg-config --exists $(call module,$(part)) 2>/dev/null && echo yes),$(part)))
ABSENT   := $(filter-out $(PARTS),$(OPTIONAL))
upper     = $(shell echo $1 | tr a-z A-Z)
ifneq ($(PARTS),)
BASE     += $(shell pkg-config --cflags $(foreach part,$(PARTS),$(call module,$(part))))
LIBS     += $(shell pkg-config --libs $(foreach part,$(PARTS),$(call module,$(part))))
endif

# --- what there is -------------------------------------------------------------------------------
COMM_ROOMS := comm $(shell sed -n 's/^comm://p' src/LAYERS)
X86_ONLY  := $(wildcard src/ops/simd/*.c src/math/product/avx*.c src/base/*_sse42.c \
             src/base/*_avx2.c)
WITHOUT   := $(foreach part,$(ABSENT),$(wildcard src/*/$(call name,$(part))/*.c)) \
             $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null || echo x86_64)),,$(X86_ONLY))
INSIDE    := $(filter-out $(WITHOUT),$(wildcard src/*/*.c src/*/*/*.c))
SOURCES   := $(filter-out %_test.c %_fuzz.c,$(INSIDE))
GENERATED := $(patsubst src/%.proto,$(GEN)/%.pb-c.c,$(wildcard src/*/*.proto))
OBJECTS   := $(SOURCES:%.c=$(BUILD)/%.o) $(GENERATED:.c=.o)
CLI       := $(filter $(BUILD)/src/cli/%,$(OBJECTS))
LIBRARY   := $(filter-out $(CLI),$(OBJECTS))
COMM      := $(filter $(COMM_ROOMS:%=$(BUILD)/src/%/%),$(LIBRARY))
UNITS     := $(patsubst %.c,$(BUILD)/%,$(filter %_test.c,$(INSIDE)))
SYSTEMS   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/*_test.c))
FUZZERS   := $(patsubst %.c,$(BUILD)/%,$(filter %_fuzz.c,$(INSIDE)))
REPLAYS   := $(FUZZERS:_fuzz=_replay)
BENCHES   := $(patsubst %.c,$(BUILD)/%,$(wildcard bench/*.c))
EXAMPLES  := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
PLUGINS   := $(patsubst %.c,$(BUILD)/%.so,$(wildcard examples/plugins/*.c))
PROGRAMS  := $(UNITS) $(SYSTEMS) $(FUZZERS) $(BENCHES) $(EXAMPLES) $(BUILD)/tests/replay
EVERY_C   := $(SOURCES) $(PROGRAMS:$(BUILD)/%=%.c) $(PLUGINS:$(BUILD)/%.so=%.c)
EVERY_H   := $(wildcard include/*/*.h src/*/*.h src/*/*/*.h tests/*.h bench/*.h examples/*.h)
LIBRARIES := $(BUILD)/libposeidon.so $(BUILD)/libposeidon.a \
             $(BUILD)/libposeidon-comm.so $(BUILD)/libposeidon-comm.a

.DEFAULT_GOAL := all
.PHONY: all demo unit test check fuzz bench install uninstall stage clean ready FORCE
.SECONDARY:
.DELETE_ON_ERROR:
.SHELLFLAGS := -ec

all: $(BUILD)/poseidon $(LIBRARIES) $(EXAMPLES) $(PLUGINS)

demo: $(BUILD)/poseidon
	@tools/demo $(BUILD)

clean:
	rm -rf build

# The packages of the targets asked for, in one go.
ready:
	@tools/setup build $(filter demo test check fuzz bench install,$(MAKECMDGOALS)) \
	    $(if $(findstring clang,$(CC)),llvm)

# $(call say,WORD,THING) announces a command in a short line; V=1 shows the command instead.
say = $(if $(V),,@printf '  %-5s %s\n' $1 $(2:$(BUILD)/%=%);)

# --- compiling -----------------------------------------------------------------------------------
COMPILE = $(CC) $(BASE) $(WARN) $(ROOMS) $(OWN) $(CPPFLAGS) $(CFLAGS)
$(BUILD)/%.o: %.c $(BUILD)/flags | ready $(GENERATED:.c=.h) $(GEN)/config.h
	@mkdir -p $(@D)
	$(call say,CC,$<)$(COMPILE) -MD -MP -c -o $@ $<

$(GEN)/%.o: $(GEN)/%.c $(BUILD)/flags
	$(call say,CC,$<)$(CC) $(BASE) -w -I$(GEN) $(CPPFLAGS) $(CFLAGS) -MD -MP -c -o $@ $<

# protobuf-c calls the first member of each structure base; a field of that name becomes base_.
$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h: src/%.proto | ready
	@mkdir -p $(GEN)
	$(call say,GEN,$<)protoc-c --proto_path=src --c_out=$(GEN) $<
	@sed -i 's/^  float base;/  float base_;/' $(GEN)/$*.pb-c.h
	@sed -i 's/, base),/, base_),/' $(GEN)/$*.pb-c.c

# In stack frames that gcc before 13.3 keeps, to find uses after return, vectors of 64 bytes may stand at
# places for 32, which the processor refuses.
ifneq ($(and $(findstring address,$(SAN)),$(findstring gcc,$(CC))),)
$(BUILD)/src/math/product/avx512.o: private OWN := --param asan-use-after-return=0
endif

# Examples see what users see.
$(BUILD)/examples/%: private ROOMS := -Iinclude

# All is compiled again when the flags change, and linked again when the list of objects does.
$(BUILD)/flags: export TEXT = $(COMPILE) $(LINK) $(LDFLAGS)
$(BUILD)/list: export TEXT = $(OBJECTS) $(LIBS)
$(BUILD)/flags $(BUILD)/list: FORCE
	@echo "$$TEXT" | tools/update $@

$(GEN)/config.h: FORCE
	@{ $(foreach part,$(OPTIONAL),echo '#define PSD_HAVE_$(call upper,$(call name,$(part))) \
	    $(if $(filter $(part),$(PARTS)),1,0)';) \
	    echo '#define PSD_FEATURES "$(foreach part,$(PARTS),$(call name,$(part)))"'; } | \
	    tools/update $@

$(GEN)/commit.h: FORCE
	@commit=$$(git describe --always --dirty --exclude '*' 2>/dev/null || echo unknown); \
	    echo "#define PSD_COMMIT \"$$commit\"" | tools/update $@
$(BUILD)/src/cli/version.o: $(GEN)/commit.h

# --- linking -------------------------------------------------------------------------------------
$(BUILD)/libposeidon.a: $(LIBRARY) $(BUILD)/list
$(BUILD)/libposeidon-comm.a: $(COMM) $(BUILD)/list
$(BUILD)/%.a:
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/libposeidon.so: $(LIBRARY) $(BUILD)/list $(GEN)/exports.map
$(BUILD)/libposeidon-comm.so: $(COMM) $(BUILD)/list $(GEN)/exports.map
$(BUILD)/%.so:
	$(call say,LD,$@)$(CC) $(SHARED) $(LINK) $(LDFLAGS) -Wl,-soname,$*.so.$(SOVERSION) -o $@ \
	    $(filter %.o,$^) $(LIBS)
	@ln -sf $*.so $@.$(SOVERSION)

# The visibility flags hide what is not PSD_API; this also hides what is not ours.
$(GEN)/exports.map: FORCE
	@echo 'POSEIDON_$(SOVERSION) { global: psd_*; local: *; };' | tools/update $@

LINK_PROGRAM = $(call say,LD,$@)$(CC) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
    $(LIBS)
$(BUILD)/poseidon: $(CLI) $(BUILD)/libposeidon.a
	$(LINK_PROGRAM)
$(UNITS) $(SYSTEMS) $(BENCHES): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libposeidon.a
	$(LINK_PROGRAM)
$(filter $(BUILD)/src/cli/%,$(UNITS)): $(filter-out %/main.o,$(CLI))
# Examples of poseidon/comm.h need the communication library alone.
JOINING := $(patsubst %.c,$(BUILD)/%,$(shell grep -l 'poseidon/comm\.h' examples/*.c))
$(EXAMPLES): private ITS_LIBRARY := poseidon
$(JOINING): private ITS_LIBRARY := poseidon-comm
$(EXAMPLES): %: %.o $(BUILD)/libposeidon.so $(BUILD)/libposeidon-comm.so
	$(call say,LD,$@)$(CC) $(LINK) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/..' -o $@ $< -L$(BUILD) \
	    -l$(ITS_LIBRARY)

# A plugin needs nothing of ours, not even a library.
$(PLUGINS): %.so: %.o
	$(call say,LD,$@)$(CC) -shared $(LINK) $(LDFLAGS) -o $@ $< -lm

# --- tests ---------------------------------------------------------------------------------------
export BUILD CC SAN OPT
# The thread sanitizer has nothing to say of a program in which nothing starts a thread.
unit: $(UNITS) | $(BUILD)/poseidon
	@tools/run-tests $(if $(findstring thread,$(SAN)),$$(grep -l pthread_create $(UNITS)),$(UNITS))

# What takes longest comes first.
test: $(UNITS) $(REPLAYS) $(SYSTEMS) | all
	@tools/run-tests $(SYSTEMS) $(UNITS) $(REPLAYS) $(EXAMPLES)

bench: $(BENCHES) | $(BUILD)/poseidon
	@for bench in $(BENCHES) $(wildcard bench/*.sh); do echo "== $$bench"; $$bench || exit 1; done

# A fuzz target is built by clang for libFuzzer and, for make test, into a program that only replays
# the inputs collected in tests/corpus.
$(REPLAYS): %_replay: %_fuzz.o $(BUILD)/tests/replay.o $(BUILD)/libposeidon.a
	$(LINK_PROGRAM)
fuzz: ready
	@$(MAKE) --no-print-directory fuzzing \
	    CC=clang SAN=fuzzer-no-link,address,undefined BUILD=build/fuzz
fuzzing: $(FUZZERS:=.run)
$(FUZZERS): %: %.o $(BUILD)/libposeidon.a
	$(call say,LD,$@)$(CC) -fsanitize=fuzzer $(LINK) $(LDFLAGS) -o $@ $^ $(LIBS)
$(FUZZERS:=.run): %.run: %
	@tools/run-fuzz $(SECONDS) $<
.PHONY: fuzzing $(FUZZERS:=.run)

# --- what reviewers need not look for ------------------------------------------------------------
CHECKS := format layers headers exports man catalogue nets tidy
check: $(CHECKS:%=check-%)
	@tools/shape
check-format: ready
	$(call say,CHECK,$(@:check-%=%))$(CLANG_FORMAT) --dry-run -Werror $(EVERY_C) $(EVERY_H)
check-layers:
	$(call say,CHECK,$(@:check-%=%))tools/check-layers
check-headers: ready | $(GENERATED) $(GEN)/config.h
	$(call say,CHECK,$(@:check-%=%))CC='$(CC)' tools/check-headers -isystem $(GEN)
check-exports: $(LIBRARIES)
	$(call say,CHECK,$(@:check-%=%))tools/check-exports $(BUILD)
check-man:
	$(call say,CHECK,$(@:check-%=%))tools/check-man
check-catalogue: $(BUILD)/poseidon
	$(call say,CHECK,$(@:check-%=%))$(BUILD)/poseidon layers --markdown | tools/check-catalogue
check-nets:
	$(call say,CHECK,$(@:check-%=%))tools/check-nets
check-tidy: $(EVERY_C:%.c=$(BUILD)/%.tidy)
.PHONY: $(CHECKS:%=check-%)

# The object stands for the headers: it is newer when one of them changed. Tests run under sanitizers,
# and the analyzer takes most of its time for them, so they do without it.
$(BUILD)/%.tidy: %.c $(BUILD)/%.o .clang-tidy | ready
	$(call say,TIDY,$<)$(CLANG_TIDY) --quiet $(if $(filter %_test.c,$<),--checks='-clang-analyzer-*') \
	    $< -- $(BASE) $(WARN) $(ROOMS) $(CPPFLAGS) \
	    >$@.log 2>&1 || { grep -v 'warnings* generated' $@.log; exit 1; }
	@mv $@.log $@

# --- installing: all is laid out in a stage; its list of files goes along, for uninstall ----------
STAGE    := $(BUILD)/stage
STAGELIB := $(STAGE)$(LIBDIR)
SHARE    := $(STAGE)$(DATADIR)
MANIFEST := $(DATADIR)/poseidon/installed
PAGES    := $(patsubst docs/man/%.md,$(BUILD)/man/%,$(wildcard docs/man/*.md))
NETS     := $(patsubst models/%/train_val.prototxt,%,$(wildcard models/*/train_val.prototxt))
FILL      = sed -e 's|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR)|g' \
            -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' \
            -e 's|@VERSION@|$(VERSION)|g; s|@SOVERSION@|$(SOVERSION)|g' \
            -e "s|@HEADERS@|$$(realpath -m --relative-to=$(LIBDIR)/cmake/Poseidon $(INCLUDEDIR))|g"

$(BUILD)/man/%: docs/man/%.md $(BUILD)/poseidon tools/manpage | ready
	@mkdir -p $(@D)
	$(call say,MAN,$<)tools/manpage $(BUILD)/poseidon $< $(VERSION) >$@

stage: all $(PAGES)
	@rm -rf $(STAGE)
	@mkdir -p $(STAGELIB)/pkgconfig $(STAGELIB)/cmake/Poseidon $(SHARE)/poseidon \
	    $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions \
	    $(SHARE)/fish/vendor_completions.d
	@install -D -t $(STAGE)$(BINDIR) $(BUILD)/poseidon
	@names=$$($(BUILD)/poseidon help --names); \
	    for name in $$names; do ln -s poseidon $(STAGE)$(BINDIR)/$$name; done
	@install -D -m 644 -t $(STAGE)$(INCLUDEDIR)/poseidon include/poseidon/*.h
	@install -m 644 -t $(STAGELIB) $(filter %.a,$(LIBRARIES))
	@for library in $(notdir $(filter %.so,$(LIBRARIES))); do \
	    install $(BUILD)/$$library $(STAGELIB)/$$library.$(VERSION); \
	    ln -s $$library.$(VERSION) $(STAGELIB)/$$library.$(SOVERSION); \
	    ln -s $$library.$(SOVERSION) $(STAGELIB)/$$library; \
	done
	@for file in pkgconfig/poseidon.pc pkgconfig/poseidon-comm.pc \
	    cmake/Poseidon/PoseidonConfig.cmake cmake/Poseidon/PoseidonConfigVersion.cmake; do \
	    $(FILL) tools/install/$${file##*/}.in >$(STAGELIB)/$$file; \
	done
	@for page in $(PAGES); do install -D -m 644 -t $(SHARE)/man/man$${page##*.} $$page; done
	@for folder in descriptions profiles; do \
	    install -D -m 644 -t $(SHARE)/poseidon/$$folder models/$$folder/*.txt; \
	done
	@for net in $(NETS); do \
	    install -D -m 644 -t $(SHARE)/poseidon/models/$$net models/$$net/*; \
	done
	@$(BUILD)/poseidon completion bash >$(SHARE)/bash-completion/completions/poseidon
	@$(BUILD)/poseidon completion zsh >$(SHARE)/zsh/site-functions/_poseidon
	@$(BUILD)/poseidon completion fish >$(SHARE)/fish/vendor_completions.d/poseidon.fish
	@touch $(STAGE)$(MANIFEST)
	@cd $(STAGE) && find . ! -type d | sed 's/^\.//' | sort >.$(MANIFEST)
	@chmod -R go=u-w $(STAGE)

# Only root can refresh the linker's cache, and only for root's places is there one.
install: stage
	@umask 022; mkdir -p '$(DESTDIR)/'; cp -RP --remove-destination $(STAGE)/. '$(DESTDIR)/'
	@[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || true
	@echo 'installed below $(DESTDIR)$(PREFIX)'

uninstall:
	@[ -f '$(DESTDIR)$(MANIFEST)' ] || \
	    { echo 'there is no installation below $(DESTDIR)$(PREFIX)'; exit 1; }
	@sed 's|^|$(DESTDIR)|' '$(DESTDIR)$(MANIFEST)' | xargs -d '\n' rm -f
	@for folder in $(NETS:%=$(DATADIR)/poseidon/models/%) $(DATADIR)/poseidon/models \
	    $(DATADIR)/poseidon/descriptions $(DATADIR)/poseidon/profiles \
	    $(DATADIR)/poseidon $(INCLUDEDIR)/poseidon $(LIBDIR)/cmake/Poseidon; do \
	    rmdir --ignore-fail-on-non-empty "$(DESTDIR)$$folder"; \
	done
	@[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || true
	@echo 'removed from $(DESTDIR)$(PREFIX)'

-include $(OBJECTS:.o=.d) $(PROGRAMS:=.d)
