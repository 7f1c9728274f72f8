# make                 the libraries and the poseidon command
# make demo            a first look: an old net with a mistake, corrected and upgraded
# make unit            every *_test.c beside the sources, one program each
# make test            all of that and the whole-system tests
# make SAN=thread unit the same under a sanitizer (address,undefined or thread)
# make check           format, layers, headers, exports, clang-tidy
# make fuzz            every fuzz target for SECONDS=20 each
# make bench           the tables of bench/
# make install         into PREFIX=/usr/local (DESTDIR is respected)
# make clean           removes build/
#
# Sources, tests, fuzz targets and examples are found by their place and name; adding one needs no
# edit here. Each target first installs the Debian packages it lacks (tools/packages).

PREFIX  ?= /usr/local
SECONDS ?= 20
ifeq ($(origin CC),default)
CC := gcc
endif
AR := ar
comma := ,
BUILD := build/$(notdir $(firstword $(CC)))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
GEN   := $(BUILD)/gen

VERSION := $(shell sed -n 's/^.define PSD_VERSION  *"\(.*\)"/\1/p' include/poseidon/status.h)
SOVERSION := $(basename $(VERSION)) # before 1.0 every minor release changes the soname

WARN := -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow \
        -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wformat=2 -Wcast-qual \
        -Wwrite-strings -Werror
OPT  ?= -O2 -g
BASE := -std=c17 $(OPT) -ffp-contract=off -D_GNU_SOURCE -fvisibility=hidden -fPIC -pthread \
        -fstack-protector-strong -Iinclude -Isrc -Itests -isystem $(GEN) -MMD -MP \
        $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all)
LINK := -pthread $(if $(SAN),-fsanitize=$(SAN)) -Wl,-z,relro,-z,now
LIBS := -lprotobuf-c -lm

COMM_ROOMS := base math device net comm
SOURCES   := $(filter-out %_test.c %_fuzz.c %_bench.c,$(wildcard src/*/*.c src/*/*/*.c))
SCHEMAS   := $(wildcard src/*/*.proto)
GENERATED := $(SCHEMAS:src/%.proto=$(GEN)/%.pb-c.c)
OBJECTS   := $(SOURCES:%.c=$(BUILD)/%.o) $(GENERATED:.c=.o)
LIBRARY   := $(filter-out $(BUILD)/src/cli/%,$(OBJECTS))
COMM      := $(filter $(COMM_ROOMS:%=$(BUILD)/src/%/%),$(LIBRARY))
UNITS     := $(patsubst %.c,$(BUILD)/%,$(wildcard src/*/*_test.c src/*/*/*_test.c))
SYSTEMS   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/*_test.c))
BENCHES   := $(patsubst %.c,$(BUILD)/%,$(wildcard bench/*.c))
EXAMPLES  := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
FUZZERS   := $(patsubst %.c,$(BUILD)/%,$(wildcard src/*/*_fuzz.c src/*/*/*_fuzz.c))

.DEFAULT_GOAL := all
.PHONY: all demo unit test check fuzz bench install clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:

all: $(BUILD)/poseidon $(BUILD)/libposeidon.so $(BUILD)/libposeidon-comm.so $(EXAMPLES)

# --- set-up: the packages of a group are installed when one is missing -----------------------
ready-%:
	@tools/setup $*
.PHONY: ready-build ready-test ready-check ready-fuzz ready-docs ready-bench
$(BUILD)/ready: tools/packages
	@tools/setup build
	@mkdir -p $(@D) && touch $@

# --- what is compiled --------------------------------------------------------------------------
$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h: src/%.proto | $(BUILD)/ready
	@mkdir -p $(GEN)
	protoc-c --proto_path=src --c_out=$(GEN) $<

$(GEN)/%.o: $(GEN)/%.c
	$(CC) $(BASE) -w -c -o $@ $<

$(BUILD)/%.o: %.c $(GENERATED:.c=.h) | $(BUILD)/ready
	@mkdir -p $(@D)
	$(CC) $(BASE) $(WARN) $(CFLAGS) -c -o $@ $<

# The version as it is printed changes with every commit; the file only when the text does.
$(GEN)/commit.h: FORCE
	@mkdir -p $(@D)
	@printf '#define PSD_COMMIT "%s"\n' "$$(git describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)" >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(BUILD)/src/cli/version.o: $(GEN)/commit.h

$(BUILD)/libposeidon.a: $(LIBRARY)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libposeidon.so: $(LIBRARY) tools/exports.map
	$(CC) -shared $(LINK) -Wl,-soname,libposeidon.so.$(SOVERSION) \
	    -Wl,--version-script=tools/exports.map -o $@ $(LIBRARY) $(LIBS)
$(BUILD)/libposeidon-comm.so: $(COMM) tools/exports.map
	$(CC) -shared $(LINK) -Wl,-soname,libposeidon-comm.so.$(SOVERSION) \
	    -Wl,--version-script=tools/exports.map -o $@ $(COMM) -lm

$(BUILD)/poseidon: $(filter $(BUILD)/src/cli/%,$(OBJECTS)) $(BUILD)/libposeidon.a
	$(CC) $(LINK) -o $@ $^ $(LIBS)

# --- tests ---------------------------------------------------------------------------------------
$(UNITS) $(SYSTEMS) $(BENCHES): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libposeidon.a
	$(CC) $(LINK) -o $@ $^ $(LIBS)

unit: $(UNITS)
	@BUILD=$(BUILD) tools/run-tests $(UNITS)

-include $(OBJECTS:.o=.d) $(UNITS:=.d) $(SYSTEMS:=.d) $(BENCHES:=.d)

clean:
	rm -rf build
