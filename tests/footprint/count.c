/* A QEMU plugin (API 1) that watches an image from outside: how many instructions it executes between its reads of two
   input bytes, and the lowest address of its stack that it writes. Prototypes by hand: not every QEMU comes with its header.
   arguments: from=ADDRESS,to=ADDRESS (of the first byte of the message to count, and of the one after it), stack=LOW,top=HIGH */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int, int, void *);
extern int qemu_plugin_mem_is_store(uint32_t);
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
int qemu_plugin_version = 1;

static uint64_t from, to, stack, top, lowest = ~0ull, executed, started;
static int counting;

static void on_instruction(unsigned cpu, void *unused) { executed++; }

static void on_access(unsigned cpu, uint32_t info, uint64_t address, void *unused) {
    if (qemu_plugin_mem_is_store(info)) {
        if (address >= stack && address < top && address < lowest) lowest = address;
    } else if (address == from && !counting) {
        counting = 1;
        started = executed;
    } else if (address == to && counting == 1) {
        counting = 2;
        started = executed - started;
    }
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *block) {
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, 0, 0);
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access, 0, 3, 0);
    }
}

static void at_exit(plugin_id id, void *unused) {
    fprintf(stderr, "instructions %llu stack %llu\n", (unsigned long long)(counting == 2 ? started : 0),
            (unsigned long long)(lowest == ~0ull ? 0 : top - lowest));
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) continue;
        uint64_t n = strtoull(value + 1, 0, 0);
        if (!strncmp(argv[i], "from=", 5)) from = n;
        if (!strncmp(argv[i], "to=", 3)) to = n;
        if (!strncmp(argv[i], "stack=", 6)) stack = n;
        if (!strncmp(argv[i], "top=", 4)) top = n;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, at_exit, 0);
    return 0;
}
