#!/bin/sh
# The compiler of this build (RUSTC_WRAPPER). qdrant-edge uses `debug_assert_matches`, which stable Rust doesn't have
# yet: allowed there, and in no other crate.
rustc=$1
shift
case " $* " in
*" --crate-name qdrant_edge "*) RUSTC_BOOTSTRAP=1 exec "$rustc" "$@" '-Zcrate-attr=feature(assert_matches)' ;;
esac
exec "$rustc" "$@"
