# What the bare-metal stages need beside the user's Rust: a compiler with the source of its `core`, a linker, QEMU. Sourced.
#
# Debian's packages are unpacked into a folder of the target directory: nothing is installed, nothing that is installed is removed,
# no root is needed, and `rustc` stays the user's. Debian's rustc-web moves with the browsers, so no version is named here.
# A system without apt has to skip: a function returns 77 then, and its last line says why.
export RUSTDOCFLAGS= RUSTUP_DIST_SERVER=http://127.0.0.1:9
tools=${CARGO_TARGET_DIR:?}/tools
# What all bare-metal images are built into: with the same profile they share one build of `core` for each processor and level,
# which takes longer than all else.
bare=$CARGO_TARGET_DIR/bare

# Unpacks packages, and those of their dependencies that the system lacks, into $tools/NAME.
unpack() { # NAME PACKAGE…
    local home=$tools/$1 packages=("${@:2}")
    [ -e "$home/.done" ] && return
    command -v apt-get >/dev/null && command -v dpkg >/dev/null ||
        { echo "needs Debian's packages ${packages[*]}, and there is no apt-get"; return 77; }
    [ "$(id -u)" = 0 ] && [ -z "${updated:-}" ] && { apt-get update -qq || echo "apt-get update failed; going on with the old lists"; }
    updated=yes
    rm -rf "$home" && mkdir -p "$home/debs" || return
    local more
    more=$(apt-get -s install --no-install-recommends "${packages[@]}" | awk '/^Inst/ { print $2 }')
    (cd "$home/debs" && printf '%s\n' "${packages[@]}" $more | sort -u | xargs apt-get -qq -o APT::Sandbox::User=root download) ||
        { echo "apt-get can't download ${packages[*]}"; return 77; }
    local deb
    for deb in "$home"/debs/*.deb; do
        case ${deb##*/} in
        # All of rustc's source is 400 MB; 50 of them are the library.
        rust-web-src_*) dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$home" --wildcards './usr/src/rustc-*/library' './usr/lib/rustlib/src' ;;
        *) dpkg -x "$deb" "$home" ;;
        esac || return
    done
    rm -rf "$home/debs"
    touch "$home/.done"
}

# Where an unpacked program finds its libraries.
libraries() { # NAME
    local folders
    folders=$(printf '%s:' "$tools/$1"/usr/lib/*-linux-gnu "$tools/$1"/lib/*-linux-gnu)
    echo "${folders}${LD_LIBRARY_PATH:-}"
}

# A program of the folder that starts the unpacked one with its own libraries, so that no other program sees them.
wrap() { # NAME PROGRAM [ARGUMENT…]
    mkdir -p "$tools/bin"
    printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" %s "$@"\n' "$(libraries "$1")" "$tools/$1/usr/bin/$2" "${*:3}" >"$tools/bin/$2"
    chmod +x "$tools/bin/$2"
}

# A Rust compiler that can build `core` for any target: RUSTC and the linkers are set for cargo.
cross() {
    local std lld
    std=$(apt-cache depends libstd-rust-web-dev 2>/dev/null | awk '/Depends: libstd-rust-web-/ { print $2 }')
    lld=$(apt-cache search --names-only '^lld-[0-9]+$' 2>/dev/null | sed 's/ .*//' | sort -V | tail -n 1)
    unpack rust rustc-web rust-web-src libstd-rust-web-dev $std || return
    unpack lld "${lld:-lld}" || return
    wrap rust rustc
    local program
    for program in ld.lld wasm-ld; do
        local at
        at=$(cd "$tools/lld/usr/bin" && ls | grep -E "^$program(-[0-9]+)?$" | sort -V | tail -n 1)
        [ -n "$at" ] || { echo "no $program in ${lld:-lld}"; return 77; }
        wrap lld "$at" && mv "$tools/bin/$at" "$tools/bin/$program"
    done
    local least have
    least=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    have=$("$tools/bin/rustc" --version | awk '{ print $2 }')
    [ "$(printf '%s\n' "$least" "$have" | sort -V | head -n 1)" = "$least" ] ||
        { echo "Debian's rustc-web is $have here, and Rust $least is needed"; return 77; }
    export RUSTC=$tools/bin/rustc RUSTC_BOOTSTRAP=1
    local triple
    for triple in THUMBV6M_NONE_EABI THUMBV7M_NONE_EABI THUMBV7EM_NONE_EABIHF RISCV32IMC_UNKNOWN_NONE_ELF \
        RISCV32I_UNKNOWN_NONE_ELF X86_64_UNKNOWN_NONE; do
        export "CARGO_TARGET_${triple}_LINKER=$tools/bin/ld.lld"
    done
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$tools/bin/wasm-ld
    echo "rustc $have, ${lld:-lld}"
}

emulators() {
    unpack qemu qemu-system-arm qemu-system-misc || return
    wrap qemu qemu-system-arm -L "$tools/qemu/usr/share/qemu"
    wrap qemu qemu-system-riscv32 -L "$tools/qemu/usr/share/qemu"
    "$tools/bin/qemu-system-arm" --version | head -n 1
}
